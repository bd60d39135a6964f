package app

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkAuthorizedRequest measures the HTTP handler for requests of a user that is authorized by RBAC: a get, and a no-op
// apply.
func BenchmarkAuthorizedRequest(b *testing.B) {
	c := start(b, Config{Drop: true}, `secret,admin,1,"system:masters"`, `editor,ci,2,"editors"`)
	c.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",
		"metadata":{"name":"editors"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"},
		"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"Group","name":"editors"}]}`, "Content-Type: application/json").want(201)
	configuration := deployment("web", "a:1")
	c.call("PATCH", deployments+"/web?fieldManager=me", configuration, "Content-Type: "+applyType).want(201)
	for _, request := range []struct{ name, method, query, body string }{
		{"get", http.MethodGet, "", ""}, {"no-op apply", http.MethodPatch, "?fieldManager=me", configuration},
	} {
		b.Run(request.name, func(b *testing.B) {
			r, err := http.NewRequestWithContext(b.Context(), request.method, c.url+deployments+"/web"+request.query, nil)
			if err != nil {
				b.Fatal(err)
			}
			r.Header = http.Header{"Accept": {"application/json"}, "Content-Type": {applyType}}
			text := strings.NewReader("")
			body := io.NopCloser(text)
			if r.ContentLength = int64(len(request.body)); request.body == "" {
				body = nil
			}
			credentials := []string{"Bearer editor"}
			b.ReportAllocs()
			for b.Loop() {
				text.Reset(request.body)
				r.Body = body                           // the handler replaces the body by one that reserves memory
				r.Header["Authorization"] = credentials // the handler removes the header
				w := discardWriter{header: http.Header{}}
				if c.server.handler.ServeHTTP(&w, r); w.code != http.StatusOK {
					b.Fatalf("response status = %d, want 200", w.code)
				}
			}
		})
	}
}
