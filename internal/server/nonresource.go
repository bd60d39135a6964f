package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/encoding"
)

// serveNonResource serves paths that are not resources: additional handlers, the list of paths, health checks, metrics,
// discovery, OpenAPI and the version. It returns a 404 for unknown paths.
func (q *request) serveNonResource() error {
	if q.extra != nil {
		return q.serveExtra()
	}
	switch path := q.target.path; { // as in Kubernetes, any method is accepted; the catalog of discovery documents checks it itself
	case path == "/":
		return q.listPaths()
	case isHealth(path):
		return q.health()
	case path == "/metrics" && q.r.Method != http.MethodDelete: // kube-apiserver resets metrics on DELETE; this server does not
		q.h.Metrics.Handler().ServeHTTP(&q.w, q.r)
		return nil
	case path == backupPath:
		return q.backup()
	case q.h.Catalog.Serve(&q.w, q.r), q.h.Flow.ServeDebug(&q.w, q.r), q.serveProfile():
		return nil
	}
	return q.pathNotFound()
}

// listPaths responds to GET / with the list of all paths, as Kubernetes does.
func (q *request) listPaths() error {
	paths := []string{"/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", backupPath, "/version"}
	for _, kind := range q.h.Kinds.All() {
		for _, version := range kind.Versions {
			if kind.Group == "" {
				paths = append(paths, "/api/"+version)
			} else {
				paths = append(paths, "/apis/"+kind.Group, "/apis/"+kind.Group+"/"+version)
			}
		}
	}
	for _, c := range checks {
		paths = append(paths, "/readyz/"+c.name)
		if !c.readinessOnly {
			paths = append(paths, "/healthz/"+c.name, "/livez/"+c.name)
		}
	}
	if q.h.Profiling {
		paths = append(paths, profilingPath)
	}
	paths = slices.AppendSeq(paths, maps.Keys(q.h.Handlers))
	slices.Sort(paths)
	text, err := json.MarshalIndent(metav1.RootPaths{Paths: slices.Compact(paths)}, "", "  ")
	if err != nil {
		return err
	}
	return q.respond(http.StatusOK, encoding.JSON.MediaType, text)
}

// pathNotFound returns the 404 for an unknown path.
func (q *request) pathNotFound() error {
	return resourceNotFound(fmt.Sprintf("%s %s is not served; the server has /api, /apis, /openapi/v2, /openapi/v3, /version, /healthz, /livez, /readyz and /metrics",
		strings.ToUpper(q.r.Method), q.target.path))
}
