package app

import (
	"net/http"
	"testing"
)

// nowhere is where answers go that nobody reads.
type nowhere struct {
	header http.Header
	code   int
}

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n *nowhere) WriteHeader(code int)        { n.code = code }

// getting returns a get of a Deployment as the handler sees it, without the connection.
func getting(t testing.TB, c *client, accept string) func() {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+deployments+"/web", nil)
	if err != nil {
		t.Fatal(err)
	}
	secret := []string{"Bearer secret"}
	r.Header = http.Header{"Accept": {accept}}
	return func() {
		r.Header["Authorization"] = secret // which the handler takes away
		w := nowhere{header: http.Header{}}
		if c.server.handler.ServeHTTP(&w, r); w.code != http.StatusOK {
			t.Fatalf("answered %d", w.code)
		}
	}
}

// startWithOne starts a server that has a Deployment, and knows the secret.
func startWithOne(t testing.TB) *client {
	t.Helper()
	c := start(t, Config{Drop: true}, `secret,admin,1,"system:masters"`)
	c.call("PATCH", deployments+"/web?fieldManager=me", deployment("web", "a:1"), "Content-Type: "+applyType).want(201)
	return c
}

// BenchmarkGet is what the handler does for a get: in every media, whole and without managedFields.
func BenchmarkGet(b *testing.B) {
	c := startWithOne(b)
	for _, media := range allMedia {
		for _, drop := range []string{"", ";drop=metadata.managedFields"} {
			b.Run(media[len("application/"):]+drop, func(b *testing.B) {
				get := getting(b, c, media+drop)
				b.ReportAllocs()
				for b.Loop() {
					get()
				}
			})
		}
	}
}
