// Package server serves the API over HTTP. It handles paths, headers, encodings and limits; the semantics of objects
// are in package registry.
//
// # A request
//
// Every request passes the filters that filters.go lists, then the handler of its verb: it decodes parameters and body, calls
// the registry or the watch cache, and encodes the response in the format that the client accepts. Handlers return errors;
// one filter turns them into a Status.
//
// # Invariants
//
//   - Only health, version and the like are served without authentication.
//   - A request is authorized before its resource is looked up: a client learns whether a resource exists only if it may see
//     it.
//   - A response that has begun is complete, or its connection is closed.
//
// # Where to look
//
//	handler.go         Handler, its options, dispatch to the verbs
//	filters.go         the filters, in order
//	  auth.go            authentication and authorization
//	  limits.go          limits of concurrency, time and size
//	target.go          paths and verbs; resource.go, the resource of a path
//	reads.go           get and list; continuetoken.go, pages; fieldselector.go, field selectors of custom resources
//	watch.go           watch
//	writes.go          create, update, patch, apply; writeoptions.go, their query parameters; body.go, their bodies
//	deletions.go       delete and deletecollection
//	reviews.go         access reviews and token reviews
//	nonresource.go     paths that are not resources; health.go, health checks
//	representation.go  objects and lists as responses
//	response.go        responses, statuses, gzip; warnings.go, Warning headers
//	listener.go        TLS and HTTP/2
//	coalescingconn.go  write coalescing: several small writes to a connection become one system call
package server
