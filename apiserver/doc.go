// Package apiserver is a Kubernetes API server to embed in a program: the API of a cluster (custom resources, watches,
// Server-Side Apply, admission, RBAC) without one.
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
// example_test.go runs complete programs; docs/embedding.md explains them, with measurements.
//
// [Options] selects the storage (memory or a directory), how clients connect (a listener, or only in process), limits and
// features. Without options, the server is in memory and listens on a free loopback port.
//
// # Extensions
//
// A program extends the server with the interfaces that the server's own parts implement: admission plugins
// (apiserver/admission), Kubernetes' authenticator.Request, authenticator.Token and authorizer.Authorizer, and http.Handler for
// further paths. A panic in an extension is answered with 500 and logged.
//
// # The embedding program
//
// The package has no global state: it registers no flags, handles no signals, does not exit, and changes neither the default
// logger nor, unless Options.TuneGC is set, the garbage collector. Servers in one process share nothing.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/apiserver.txt. The served API follows the
// Kubernetes version in docs/conformance.md and may change with every minor release.
//
// Concurrency: all methods are safe for concurrent use, and client configs may be shared.
package apiserver
