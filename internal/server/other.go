package server

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/objects"
)

// serveOther answers what is not about objects.
func (q *request) serveOther() error {
	if q.r.Method != http.MethodGet && q.r.Method != http.MethodHead {
		return q.noSuchPath()
	}
	switch path := q.target.path; {
	case path == "/healthz", path == "/livez", path == "/readyz":
		return q.health()
	case path == "/metrics":
		q.h.Metrics.Handler().ServeHTTP(&q.w, q.r)
		return nil
	case q.h.Catalog.Serve(&q.w, q.r):
		return nil
	}
	return q.noSuchPath()
}

// health tells whether the server is well, and with verbose what was looked at. A server that is
// being stopped, or can read its store and not write it, lives, but is not ready.
func (q *request) health() error {
	name := strings.TrimPrefix(q.target.path, "/")
	if name == "readyz" && q.h.draining.Err() != nil {
		return apierrors.NewServiceUnavailable("the server is being stopped")
	}
	if name == "readyz" && q.h.Failure != nil {
		if err := q.h.Failure(); err != nil {
			return apierrors.NewServiceUnavailable(err.Error())
		}
	}
	if _, err := q.h.Cache.Revision(q.r.Context()); err != nil {
		return objects.ReadError(err)
	}
	if _, verbose := q.query()["verbose"]; !verbose {
		return q.sendText("ok")
	}
	return q.sendText("[+]ping ok\n[+]store ok\n" + name + " check passed\n")
}

func (q *request) sendText(text string) error {
	return q.send(http.StatusOK, "text/plain; charset=utf-8", []byte(text))
}

// noSuchPath is for paths that mean nothing.
func (q *request) noSuchPath() error {
	return noSuchResource(fmt.Sprintf("%s %s is nothing that this server knows; it has /api, /apis, /openapi/v2, /openapi/v3, /version, /healthz, /livez, /readyz and /metrics",
		strings.ToUpper(q.r.Method), q.target.path))
}
