package server

import (
	"net/http"
	"net/http/pprof"
	"strings"
)

// profilingPath is the prefix of the paths of profiles. Users need the verb get on them, which only administrators have by default.
const profilingPath = "/debug/pprof"

// serveProfile serves /debug/pprof and reports whether the path is one of its paths. Without Options.Profiling there are none, as with
// --profiling=false of kube-apiserver.
func (q *request) serveProfile() bool {
	rest, ok := strings.CutPrefix(q.target.path, profilingPath)
	if !ok || rest != "" && rest[0] != '/' || !q.h.Profiling {
		return false
	}
	serve := pprof.Index
	switch rest {
	case "":
		http.Redirect(&q.w, q.r, profilingPath+"/", http.StatusMovedPermanently)
		return true
	case "/cmdline":
		serve = pprof.Cmdline
	case "/profile":
		serve = pprof.Profile
	case "/symbol":
		serve = pprof.Symbol
	case "/trace":
		serve = pprof.Trace
	}
	serve(&q.w, q.r)
	return true
}
