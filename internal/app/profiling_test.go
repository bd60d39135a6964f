package app

import "testing"

// TestProfiling: profiles are served to users with a role for their paths, and to the administrator; without the option the paths do not exist.
func TestProfiling(t *testing.T) {
	c := start(t, Config{Profiling: true}, "reader-token,reader,1", "other-token,other,2")
	c.call("GET", "/debug/pprof/", "").want(200, "goroutine")
	c.call("GET", "/debug/pprof", "").want(200, "goroutine") // after a redirect
	c.call("GET", "/debug/pprof/heap?debug=1", "").want(200, "heap profile")
	c.call("GET", "/debug/pprof/cmdline", "").want(200)
	c.call("GET", "/debug/pprof/symbol", "").want(200, "num_symbols")
	c.call("GET", "/debug/pprof/profile?seconds=1", "").want(200)
	c.call("GET", "/debug/pprof/none", "").want(404)
	c.call("GET", "/debug/pprofother", "").want(404)
	c.call("GET", "/", "").want(200, `"/debug/pprof"`)

	c.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":{"name":"profiles"},"rules":[{"nonResourceURLs":["/debug/pprof/*"],"verbs":["get"]}]}`).want(201)
	c.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{"metadata":{"name":"profiles"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"reader"}],
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"profiles"}}`).want(201)
	c.withToken("reader-token").call("GET", "/debug/pprof/heap", "").want(200)
	c.withToken("other-token").call("GET", "/debug/pprof/heap", "").want(403)
	c.withToken("").call("GET", "/debug/pprof/heap", "").want(403)

	start(t, Config{}).call("GET", "/debug/pprof/", "").want(404)
}
