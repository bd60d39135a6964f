package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkWriteCoalescing measures requests of eight clients over HTTP/2 with and without write coalescing. It reports the
// CPU time of clients and server per request.
func BenchmarkWriteCoalescing(b *testing.B) {
	body := []byte(`{"filler":"` + strings.Repeat("x", 3000) + `"}`)
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	for _, name := range []string{"coalesced", "direct"} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewUnstartedServer(handler)
			if name == "coalesced" {
				server.Listener = coalescingListener{server.Listener}
			}
			server.EnableHTTP2 = true
			server.StartTLS()
			defer server.Close()
			const clients = 8
			var wait sync.WaitGroup
			before := processTime(b)
			for range clients {
				transport := server.Client().Transport.(*http.Transport).Clone()
				defer transport.CloseIdleConnections()
				wait.Go(func() {
					for range b.N/clients + 1 {
						if err := fetch(transport, server.URL); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wait.Wait()
			b.ReportMetric(float64(processTime(b)-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// fetch sends a GET request and reads the whole response.
func fetch(transport http.RoundTripper, url string) error {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// processTime returns the CPU time that the process has used.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
