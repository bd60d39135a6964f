package server

import (
	"net/http"
	"strings"

	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// ReservedPaths lists the first segments of the paths that the server itself serves. Options.Handlers must not use them.
var ReservedPaths = []string{"api", "apis", "openapi", "version", "healthz", "livez", "readyz", "metrics", "storage"}

// findExtra sets q.extra to the handler in Options.Handlers whose key is the longest prefix of the path, if there is one.
func (q *request) findExtra() {
	if len(q.h.Handlers) == 0 || q.target.isResource() {
		return
	}
	for prefix := strings.TrimRight(q.target.path, "/"); prefix != ""; prefix = prefix[:strings.LastIndexByte(prefix, '/')] {
		if h := q.h.Handlers[prefix]; h != nil {
			q.extra = h
			return
		}
		if !strings.Contains(prefix, "/") {
			return
		}
	}
}

// serveExtra calls the handler in q.extra with the user in the context of the request.
func (q *request) serveExtra() error {
	r := q.r.WithContext(apirequest.WithUser(q.r.Context(), q.user))
	r.Body = http.MaxBytesReader(&q.w, q.newGuardedBody(), q.h.Limits.MaxBodyBytes)
	q.extra.ServeHTTP(extraWriter{&q.w}, r)
	return nil
}

// extraWriter is the http.ResponseWriter of handlers in Options.Handlers. It implements http.Flusher, which such handlers may
// expect.
type extraWriter struct{ *responseWriter }

// Flush implements http.Flusher.
func (w extraWriter) Flush() { _ = http.NewResponseController(w.responseWriter).Flush() }
