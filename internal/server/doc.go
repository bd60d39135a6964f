// Package server serves the API over HTTP. It knows paths, headers, encodings and limits, and nothing of the semantics of
// objects: package registry has those.
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
//	server.go      Handler, its options, dispatch to the verbs
//	filters.go     the filters, in order
//	  access.go      authentication and authorization
//	  limits.go      limits of concurrency, time and size; deadline.go, deadlines of writes
//	target.go      paths; resource.go, the resource of a path
//	read.go        get and list; continue.go, continue tokens; select.go, field selectors of custom resources
//	watch.go       watch
//	write.go       create, update, patch, apply; options.go, their parameters; body.go, their bodies
//	delete.go      delete and deletecollection
//	review.go      access reviews and token reviews
//	other.go       paths that are not resources; health.go, health checks
//	respond.go     objects and lists as responses; answer.go, statuses; compress.go, gzip; warnings.go, Warning headers
//	listen.go      TLS and HTTP/2; log.go, the log of package http
//	coalesce.go    write coalescing: several small writes of a connection become one system call
package server
