// Package cluster is a small client for any Kubernetes API server: discovery, get, list, patch and apply of objects as
// documents, and merge topologies from OpenAPI.
//
// It sends plain HTTP requests with JSON bodies. client-go's discovery and cli-runtime's builders would register all kinds
// of Kubernetes in every process of the binary, including the server, which would use 12 to 29 MiB more resident memory; an
// empty server uses 60 MiB. client-go handles credentials, proxies and kubeconfigs.
//
// # Where to look
//
//	cluster.go    the client; requests, retries after 429, warnings
//	kinds.go      kinds, and lookup by resource name, short name or category
//	discovery.go  aggregated discovery, and unaggregated discovery for servers before Kubernetes 1.27
//	objects.go    get, list, patch, apply
//	topology.go   merge topologies and server features from OpenAPI v3
//	errors.go     API errors in one line; requests without a response
package cluster
