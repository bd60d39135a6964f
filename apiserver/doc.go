// Package apiserver embeds a Kubernetes API server in a program. It provides the API of a cluster (custom resources, watches,
// Server-Side Apply, admission, RBAC) without a cluster.
//
//	server, err := apiserver.New(apiserver.Options{InProcess: true})
//	if err != nil {
//		return err
//	}
//	go server.Run(ctx) // until ctx ends
//	if err := server.WaitReady(ctx); err != nil {
//		return err
//	}
//	client, err := kubernetes.NewForConfig(server.RESTConfig())
//
// example_test.go contains complete programs; docs/embedding.md explains them and has measurements.
//
// [Options] selects the storage (in memory or in a directory), how clients connect (over a listener, or only within the
// process), limits and features. With zero Options, the server stores objects in memory and listens on a free loopback port.
//
// # Extensions
//
// A program extends the server with implementations of the interfaces that the server uses itself: admission plugins
// (apiserver/admission), Kubernetes' authenticator.Request, authenticator.Token and authorizer.Authorizer, and http.Handler for
// additional paths. If an extension panics, the server logs the panic and responds with a 500.
//
// # The embedding program
//
// The package has no global state: it registers no flags, handles no signals, does not exit, and changes neither the default
// logger nor, unless Options.TuneGC is set, the garbage collector. Several servers in one process share no state.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/apiserver.txt. The served API follows the
// Kubernetes version in docs/conformance.md and may change with every minor release.
//
// Concurrency: all methods are safe for concurrent use, and client configs may be shared.
package apiserver
