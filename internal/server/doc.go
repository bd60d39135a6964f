// Package server serves the Kubernetes API over HTTP. It handles paths, headers, encodings and limits; package registry
// implements the semantics of objects.
//
// # A request
//
// Every request passes the filters that filters.go lists, and then the handler of its verb. The handler decodes query
// parameters and body, calls the registry or the watch cache, and encodes the response in the format that the client accepts.
// Handlers return errors, which one of the filters converts to a Status.
//
// # Invariants
//
//   - Only the health checks /healthz, /livez and /readyz, and /version, are served without authentication.
//   - A request is authorized before its resource is looked up, so that the response does not reveal to an unauthorized client
//     whether the resource exists.
//   - If the server has sent the start of a response, it sends the whole response or closes the connection (HTTP/2: resets the
//     stream).
//
// # Where to look
//
//	handler.go         Handler, its options, and the state of a request
//	filters.go         the filters, in the order in which they run, and the dispatch to the handlers of verbs
//	  auth.go            authentication and authorization
//	  limits.go          limits of duration and size
//	  fairness.go        priority and fairness: the seats of a request
//	  progress.go        reads and writes that wait for the client
//	  audit.go           audit events
//	target.go          parsing of paths and verbs
//	resource.go        lookup of the resource of a path, and the metrics of the request
//	reads.go           get and list
//	continuetoken.go   continue tokens of lists
//	fieldselector.go   field selectors of custom resources
//	watch.go           watch
//	writes.go          create, update, patch, apply
//	writeoptions.go    query parameters and conditional headers of writes
//	body.go            request bodies
//	deletions.go       delete and deletecollection
//	reviews.go         access reviews and token reviews
//	nonresource.go     paths that are not resources
//	backup.go          backups of the store
//	health.go          health checks
//	extra.go           handlers of the program that embeds the server
//	representation.go  objects and lists as responses
//	response.go        responses, Status, gzip
//	warnings.go        Warning headers
//	listener.go        TLS and HTTP/2
//	inprocess.go       requests of the same process, without a socket
//	coalescingconn.go  write coalescing: several small writes to a connection become one system call
package server
