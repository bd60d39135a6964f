// Package cluster is a Kubernetes API server as the command line sees it: any server, whoever made it.
//
// It speaks plain HTTP with JSON. client-go's discovery and cli-runtime's builders would make every process
// of the binary, the server included, start with all kinds of Kubernetes registered: 12 to 29 MiB more
// resident memory, where an empty server may have 60. Credentials, proxies and kubeconfigs are client-go's.
//
// # Where to look
//
//	cluster.go    a server, and requests to it
//	kinds.go      kinds, and what people call them
//	discovery.go  which kinds a server has, in one answer or, before Kubernetes 1.27, in many
//	objects.go    objects by kind and name: get, list, patch, apply
//	topology.go   how a kind merges, from the server's OpenAPI
//	errors.go     what a server refuses, in one line
package cluster
