package server

import (
	"fmt"
	"net/http"
	"strings"
)

// serveOther answers what is not about objects.
func (q *request) serveOther() error {
	if q.r.Method != http.MethodGet && q.r.Method != http.MethodHead {
		return q.noSuchPath()
	}
	switch path := q.target.path; {
	case isHealth(path):
		return q.health()
	case path == "/metrics":
		q.h.Metrics.Handler().ServeHTTP(&q.w, q.r)
		return nil
	case q.h.Catalog.Serve(&q.w, q.r):
		return nil
	}
	return q.noSuchPath()
}

// noSuchPath is for paths that mean nothing.
func (q *request) noSuchPath() error {
	return noSuchResource(fmt.Sprintf("%s %s is nothing that this server knows; it has /api, /apis, /openapi/v2, /openapi/v3, /version, /healthz, /livez, /readyz and /metrics",
		strings.ToUpper(q.r.Method), q.target.path))
}
