package server

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	"github.com/cadastre/cadastre/internal/discovery"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/server/flowcontrol"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// newTestHandler returns a handler with an empty store in memory and the given admission plugins. The bearer token "secret"
// authenticates an administrator.
func newTestHandler(t testing.TB, plugins ...admission.Plugin) *Handler {
	t.Helper()
	tokens := &authn.Tokens{}
	if err := tokens.Reload("tokens.csv", []byte(`secret,admin,1,"system:masters"`+"\n")); err != nil {
		t.Fatal(err)
	}
	resources, err := api.NewRegister(api.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	cache, log, counted := watchcachetest.Open(t), slog.New(slog.DiscardHandler), metrics.New()
	authorizer, err := rbac.New(t.Context(), cache, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(authorizer.Close)
	return NewHandler(Options{
		Kinds: resources, Cache: cache, Objects: registry.New(registry.Options{
			Cache: cache, Kinds: resources, Admission: admission.NewChain(plugins...), Metrics: counted, Log: log,
		}),
		Catalog: discovery.New(resources, discovery.Options{}), Authenticator: authn.NewAuthenticator(authn.AuthenticatorOptions{Tokens: tokens}),
		Authorizer: authorizer, RBAC: authorizer,
		Flow:    flowcontrol.New(flowcontrol.Options{Seats: 600, Metrics: counted.FlowControl, Log: log}),
		Metrics: counted, Log: log,
	})
}

// BenchmarkStackPregrowth measures requests with and without growStack. Each request runs in a goroutine of its own, as in
// net/http for HTTP/2.
func BenchmarkStackPregrowth(b *testing.B) {
	h := newTestHandler(b)
	body := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{"matchLabels":{"app":"web"}},` +
		`"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"a:1"}]}}}}`
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	for _, request := range []struct{ name, method, path, contentType, body string }{
		{"apply", http.MethodPatch, deployments + "/web?fieldManager=me", "application/apply-patch+yaml", body},
		{"get", http.MethodGet, deployments + "/web", "", ""},
	} {
		for name, serve := range map[string]http.HandlerFunc{"pregrown": h.ServeHTTP, "doubled": h.handle} {
			b.Run(request.name+"/"+name, func(b *testing.B) {
				before := processTime(b)
				for b.Loop() {
					r := httptest.NewRequestWithContext(b.Context(), request.method, request.path, strings.NewReader(request.body))
					r.Header = http.Header{"Authorization": {"Bearer secret"}, "Content-Type": {request.contentType}}
					w := httptest.NewRecorder()
					done := make(chan struct{})
					go func() {
						defer close(done)
						serve(w, r)
					}()
					if <-done; w.Code >= 300 {
						b.Fatalf("%s %s: status code %d, want a success", request.method, request.path, w.Code)
					}
				}
				b.ReportMetric(float64(processTime(b)-before)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
