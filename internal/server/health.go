package server

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// A check is something that health is made of. Forms and codes are those of Kubernetes.
type check struct {
	name string
	// ready says that it is for readiness only.
	ready bool
	run   func(*request) error
}

// checks are what is looked at, in this order.
var checks = []check{
	{name: "ping", run: func(*request) error { return nil }},
	{name: "store", run: func(q *request) error {
		_, err := q.h.Cache.Revision(q.r.Context())
		return err
	}},
	{name: "commits", run: (*request).checkCommits},
	{name: "shutdown", ready: true, run: func(q *request) error {
		if q.h.draining.Err() != nil {
			return errors.New("the server is being stopped")
		}
		return nil
	}},
}

// checkCommits tells whether something can be written. After an error of the disk nothing can until a
// restart, and reads go on: the server is not ready for who would write. It lives for as long as a restart
// would not help, and does not when the disk is well again, so that whoever watches over it restarts it then.
func (q *request) checkCommits() error {
	if q.h.Failure == nil {
		return nil
	}
	isCured, failure := q.h.Failure()
	if failure == nil || !isCured && q.healthName() != "readyz" {
		return nil
	}
	return failure
}

// healthName is the question: livez, readyz, or healthz, which is the old name of livez.
func (q *request) healthName() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(q.target.path, "/"), "/")
	return name
}

// isHealth reports whether a path is about health: all of it, or one check.
func isHealth(path string) bool {
	for _, name := range []string{"/healthz", "/livez", "/readyz"} {
		if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// health tells whether the server is well, and with verbose, or if it is not, what was looked at.
func (q *request) health() error {
	name := q.healthName()
	mine := slices.DeleteFunc(slices.Clone(checks), func(c check) bool { return c.ready && name != "readyz" })
	if _, only, ok := strings.Cut(strings.Trim(q.target.path, "/"), "/"); ok {
		i := slices.IndexFunc(mine, func(c check) bool { return c.name == only })
		if i < 0 {
			return q.noSuchPath()
		}
		if err := mine[i].run(q); err != nil {
			return q.sendText(http.StatusInternalServerError, fmt.Sprintf("internal server error: %v\n", err))
		}
		return q.sendText(http.StatusOK, "ok")
	}
	excluded := q.query()["exclude"]
	var text strings.Builder
	isWell := true
	for _, c := range mine {
		if slices.Contains(excluded, c.name) {
			fmt.Fprintf(&text, "[+]%s excluded: ok\n", c.name)
		} else if err := c.run(q); err != nil {
			isWell = false
			fmt.Fprintf(&text, "[-]%s failed: %v\n", c.name, err)
		} else {
			fmt.Fprintf(&text, "[+]%s ok\n", c.name)
		}
	}
	for _, e := range excluded {
		if !slices.ContainsFunc(mine, func(c check) bool { return c.name == e }) {
			fmt.Fprintf(&text, "warn: some health checks cannot be excluded: no matches for %q\n", e)
		}
	}
	switch _, verbose := q.query()["verbose"]; {
	case !isWell:
		return q.sendText(http.StatusInternalServerError, text.String()+name+" check failed\n")
	case verbose:
		return q.sendText(http.StatusOK, text.String()+name+" check passed\n")
	}
	return q.sendText(http.StatusOK, "ok")
}

func (q *request) sendText(code int, text string) error {
	return q.send(code, "text/plain; charset=utf-8", []byte(text))
}
