package app

import "testing"

// TestUnusualPaths checks that paths with empty segments, trailing slashes and escaped slashes are served as by kube-apiserver 1.37,
// whose codes for the administrator the test contains.
func TestUnusualPaths(t *testing.T) {
	c := start(t, Config{})
	for path, code := range map[string]int{
		"//api": 404, "//api/v1/namespaces": 404, "//apis/apps/v1/deployments": 404, "///api/v1": 404, "/api//v1": 404, "/api/v1//namespaces": 404,
		"/api/v1/namespaces/": 200, "/api/v1/namespaces//": 200, "/api/v1/namespaces/default/": 200, "/api/v1/namespaces/default//configmaps": 404,
		"/api/v1/namespaces/default/configmaps/": 200, "/api/v1/namespaces//configmaps": 200, "/api/v1/nodes/": 200,
		"/api/v1/namespaces/default%2fconfigmaps": 200, "/api%2fv1": 200, "/%2fapi": 404, "/api/v1/namespaces/default/configmaps/a%2fb": 404,
		"/api/v1/namespaces/default/configmaps/%00": 404, "/./api": 404, "/api/v1/../v1/namespaces": 404, "/API": 404,
		"/api/": 200, "/apis/": 200, "/apis/apps/": 200, "/apis/apps/v1/": 200, "/version/": 200, "//version": 404,
		"/healthz/": 404, "/livez/ping/": 404, "/readyz//": 404, "//healthz": 404, "/livez/ping": 200, "/openapi/v2/": 404, "/openapi/v3/": 404, "/openapi/v3/api/v1/": 404, "/metrics/": 404,
	} {
		if answer := c.call("GET", path, ""); answer.code != code {
			t.Errorf("GET %s: got %d %.200s, want %d", path, answer.code, answer.text, code)
		}
	}
	c.withToken("").call("GET", "/version/", "").want(200)
}
