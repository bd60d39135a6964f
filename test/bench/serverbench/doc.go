// Package serverbench runs the same load on Cadastre, on kube-apiserver with etcd, and on a lower bound: a minimal Go
// HTTPS server that transfers the same bytes. All run in separate processes; clients use HTTP/2 over TLS with one
// connection each, and JSON unless a Format selects another media type.
//
//	server.go          a running server: address, credentials, process ids, usage
//	cadastre.go        builds and starts Cadastre
//	kubeapiserver.go   starts kube-apiserver and etcd
//	implementation.go  the selected servers, and running servers
//	lowerbound.go      the process of the lower bound; lowerboundhandler.go, its handler; certificate.go, its certificate
//	client.go          a client with one connection
//	object.go          the Deployment of all cases, and requests for it
//	options.go         command-line flags
//	load.go            concurrent clients and the measured window
//	case.go            cases: get, list, apply, create, update
//	watch.go           cost of watchers; initialevents.go, of starting a watch; frame.go, framing of events
//	policies.go        MutatingAdmissionPolicies
//	custom.go          custom resources; definitions.go, many CRDs
//	underload.go       a watch on one kind during load on another
//	managed.go         objects with several field managers; format.go, media type and managedFields of responses
//	share.go           the size of managedFields in a response
//	allocations.go     heap allocations of a server
//	clientcost.go      heap allocations of client-go
//	fleet.go           start, memory, and many objects
//
// A binary that starts the lower bound must call ServeIfLowerBound first, because the lower bound is a child process of
// the same binary.
//
// Package proc reads CPU times and memory: the package builds on all platforms and runs on Linux.
package serverbench
