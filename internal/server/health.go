package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/internal/storage"
)

// check is a health check. The paths, responses and status codes of health checks are those of Kubernetes.
type check struct {
	name string
	// readinessOnly reports whether the check is part of /readyz, but not of /livez and /healthz.
	readinessOnly bool
	// run returns an error if the check fails.
	run func(*request) error
}

// checks lists the health checks in the order in which they run.
var checks = []check{
	{name: "ping", run: func(*request) error { return nil }},
	{name: "store", run: (*request).checkStore},
	{name: "commits", run: (*request).checkCommits},
	{name: "shutdown", readinessOnly: true, run: func(q *request) error {
		if q.h.isStopping.Load() {
			return errors.New("the server is being stopped")
		}
		return nil
	}},
}

// checkStore fails if the store cannot be read. The liveness check does not fail if the store is a cluster that does not respond, because
// a restart would not repair it.
func (q *request) checkStore() error {
	_, err := q.h.Cache.Revision(q.r.Context())
	if away := (*storage.UnavailableError)(nil); errors.As(err, &away) && q.healthName() != "readyz" {
		return nil
	}
	return err
}

// checkCommits fails if the store rejects commits, which it does from a disk failure until a restart. Then the readiness
// check fails, although the server still serves reads. The liveness check fails only if a restart would clear the failure, so
// that a supervisor does not restart the server otherwise.
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

// healthName returns the first segment of the path of a health check: livez, readyz, or healthz, the deprecated name of livez.
func (q *request) healthName() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(q.target.path, "/"), "/")
	return name
}

// isHealth reports whether a path is the path of all health checks, such as /livez, or of one health check, such as
// /livez/ping.
func isHealth(path string) bool {
	for _, name := range []string{"/healthz", "/livez", "/readyz"} {
		if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || rest[0] == '/' && !strings.HasSuffix(path, "/")) {
			return true
		}
	}
	return false
}

// health runs all health checks of the path, or the single health check that the path names. The response lists the checks if one
// fails, or if the query contains verbose.
func (q *request) health() error {
	name := q.healthName()
	selected := slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return c.readinessOnly && name != "readyz" })
	if _, only, ok := strings.Cut(strings.Trim(q.target.path, "/"), "/"); ok {
		i := slices.IndexFunc(selected, func(c check) bool { return c.name == only })
		if i < 0 {
			return q.pathNotFound()
		}
		if err := selected[i].run(q); err != nil {
			q.logFailedCheck(only, err)
			return q.respondText(http.StatusInternalServerError, "internal server error: reason withheld\n")
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
			q.logFailedCheck(c.name, err)
			fmt.Fprintf(&text, "[-]%s failed: reason withheld\n", c.name)
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

// logFailedCheck logs the reason of a failed check. As in Kubernetes, the response does not contain the reason, which may name files
// of the server, because it is sent to clients without authentication.
func (q *request) logFailedCheck(name string, err error) {
	q.h.Log.Warn("health check failed", "check", name, "error", err)
}

// respondText responds with a status code and a body of the media type text/plain.
func (q *request) respondText(code int, text string) error {
	return q.respond(code, "text/plain; charset=utf-8", []byte(text))
}
