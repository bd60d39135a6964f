package server

import (
	"fmt"
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

// BenchmarkGet is what the handler does for a get, without the connection: in every media, whole and without managedFields.
func BenchmarkGet(b *testing.B) {
	c := start(b, Config{Drop: true}, `secret,admin,1,"system:masters"`)
	c.call("PATCH", deployments+"/web?fieldManager=me", deployment("web", "a:1"), "Content-Type: "+applyType).want(201)
	for _, media := range allMedia {
		for _, drop := range []bool{false, true} {
			accept := media
			if drop {
				accept += ";drop=metadata.managedFields"
			}
			b.Run(fmt.Sprintf("%s/drop=%v", media[len("application/"):], drop), func(b *testing.B) {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, c.url+deployments+"/web", nil)
				if err != nil {
					b.Fatal(err)
				}
				secret := []string{"Bearer secret"}
				r.Header = http.Header{"Accept": {accept}}
				b.ReportAllocs()
				for b.Loop() {
					r.Header["Authorization"] = secret // which the handler takes away
					w := nowhere{header: http.Header{}}
					if c.server.listener.handler.ServeHTTP(&w, r); w.code != http.StatusOK {
						b.Fatalf("answered %d", w.code)
					}
				}
			})
		}
	}
}
