package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// check is a health check. Paths, responses and codes are those of Kubernetes.
type check struct {
	name string
	// readinessOnly reports whether the check is part of readyz only.
	readinessOnly bool
	run           func(*request) error
}

// checks lists the health checks in their order.
var checks = []check{
	{name: "ping", run: func(*request) error { return nil }},
	{name: "store", run: func(q *request) error {
		_, err := q.h.Cache.Revision(q.r.Context())
		return err
	}},
	{name: "commits", run: (*request).checkCommits},
	{name: "shutdown", readinessOnly: true, run: func(q *request) error {
		if q.h.draining.Err() != nil {
			return errors.New("the server is being stopped")
		}
		return nil
	}},
}

// checkCommits fails if the store rejects commits. After a disk failure the server serves reads until a restart: it is not ready.
// It remains live while a restart would not clear the failure, and stops being live when it would, so that a supervisor
// restarts it then.
func (q *request) checkCommits() error {
	if q.h.Failure == nil {
		return nil
	}
	clearedByRestart, failure := q.h.Failure()
	if failure == nil || !clearedByRestart && q.healthName() != "readyz" {
		return nil
	}
	return failure
}

// healthName returns livez, readyz, or healthz, the deprecated name of livez.
func (q *request) healthName() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(q.target.path, "/"), "/")
	return name
}

// isHealth reports whether a path is that of all health checks or of one.
func isHealth(path string) bool {
	for _, name := range []string{"/healthz", "/livez", "/readyz"} {
		if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// health runs health checks. The response lists them if one fails or the query has verbose.
func (q *request) health() error {
	name := q.healthName()
	selected := slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return c.readinessOnly && name != "readyz" })
	if _, only, ok := strings.Cut(strings.Trim(q.target.path, "/"), "/"); ok {
		i := slices.IndexFunc(selected, func(c check) bool { return c.name == only })
		if i < 0 {
			return q.pathNotFound()
		}
		if err := selected[i].run(q); err != nil {
			return q.respondText(http.StatusInternalServerError, fmt.Sprintf("internal server error: %v\n", err))
		}
		return q.respondText(http.StatusOK, "ok")
	}
	excluded := q.query()["exclude"]
	var text strings.Builder
	healthy := true
	for _, c := range selected {
		if slices.Contains(excluded, c.name) {
			fmt.Fprintf(&text, "[+]%s excluded: ok\n", c.name)
		} else if err := c.run(q); err != nil {
			healthy = false
			fmt.Fprintf(&text, "[-]%s failed: %v\n", c.name, err)
		} else {
			fmt.Fprintf(&text, "[+]%s ok\n", c.name)
		}
	}
	for _, e := range excluded {
		if !slices.ContainsFunc(selected, func(c check) bool { return c.name == e }) {
			fmt.Fprintf(&text, "warn: some health checks cannot be excluded: no matches for %q\n", e)
		}
	}
	switch _, verbose := q.query()["verbose"]; {
	case !healthy:
		return q.respondText(http.StatusInternalServerError, text.String()+name+" check failed\n")
	case verbose:
		return q.respondText(http.StatusOK, text.String()+name+" check passed\n")
	}
	return q.respondText(http.StatusOK, "ok")
}

func (q *request) respondText(code int, text string) error {
	return q.respond(code, "text/plain; charset=utf-8", []byte(text))
}
