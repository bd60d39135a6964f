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

// serveOther answers what is not about objects.
func (q *request) serveOther() error {
	if q.extra != nil {
		return q.serveExtra()
	}
	switch path := q.target.path; { // whatever the method, as in Kubernetes; the catalog minds
	case path == "/":
		return q.listPaths()
	case isHealth(path):
		return q.health()
	case path == "/metrics" && q.r.Method != http.MethodDelete: // which would set all back
		q.h.Metrics.Handler().ServeHTTP(&q.w, q.r)
		return nil
	case q.h.Catalog.Serve(&q.w, q.r):
		return nil
	}
	return q.noSuchPath()
}

// listPaths answers with the paths that there are.
func (q *request) listPaths() error {
	paths := []string{"/api", "/apis", "/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}
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
		if !c.ready {
			paths = append(paths, "/healthz/"+c.name, "/livez/"+c.name)
		}
	}
	paths = slices.AppendSeq(paths, maps.Keys(q.h.Handlers))
	slices.Sort(paths)
	text, err := json.MarshalIndent(metav1.RootPaths{Paths: slices.Compact(paths)}, "", "  ")
	if err != nil {
		return err
	}
	return q.send(http.StatusOK, encoding.JSON.MediaType, text)
}

// noSuchPath is for paths that mean nothing.
func (q *request) noSuchPath() error {
	return noSuchResource(fmt.Sprintf("%s %s is nothing that this server knows; it has /api, /apis, /openapi/v2, /openapi/v3, /version, /healthz, /livez, /readyz and /metrics",
		strings.ToUpper(q.r.Method), q.target.path))
}
