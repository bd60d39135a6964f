package app

import (
	"net/http"
	"testing"
)

// discardWriter is an http.ResponseWriter that discards the response.
type discardWriter struct {
	header http.Header
	code   int
}

func (n *discardWriter) Header() http.Header         { return n.header }
func (n *discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (n *discardWriter) WriteHeader(code int)        { n.code = code }

// newGet returns a function that calls the HTTP handler directly, without a connection, with a get of a Deployment.
func newGet(t testing.TB, c *client, accept string) func() {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+deployments+"/web", nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := []string{"Bearer secret"}
	r.Header = http.Header{"Accept": {accept}}
	return func() {
		r.Header["Authorization"] = secret // the handler removes the header
		w := discardWriter{header: http.Header{}}
		if c.server.handler.ServeHTTP(&w, r); w.code != http.StatusOK {
			t.Fatalf("response status = %d, want 200", w.code)
		}
	}
}

// startWithDeployment starts a server that stores one Deployment and accepts the token "secret" of an administrator.
func startWithDeployment(t testing.TB) *client {
	t.Helper()
	c := start(t, Config{Drop: true}, `secret,admin,1,"system:masters"`)
	c.call("PATCH", deployments+"/web?fieldManager=me", deployment("web", "a:1"), "Content-Type: "+applyType).want(201)
	return c
}

// BenchmarkGet measures the HTTP handler for a get, in every encoding, with and without managedFields.
func BenchmarkGet(b *testing.B) {
	c := startWithDeployment(b)
	for _, media := range allMedia {
		for _, drop := range []string{"", ";drop=metadata.managedFields"} {
			b.Run(media[len("application/"):]+drop, func(b *testing.B) {
				get := newGet(b, c, media+drop)
				b.ReportAllocs()
				for b.Loop() {
					get()
				}
			})
		}
	}
}
