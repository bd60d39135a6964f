package app

import (
	"log/slog"
	"path/filepath"
	"testing"
)

// TestURL checks that clients can connect to Server.URL even if the server listens on all addresses.
func TestURL(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "0.0.0.0:0", ":0", "[::]:0"} {
		s, err := Start(t.Context(), Config{Address: address, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		clientOf(t, s).call("GET", "/readyz", "").want(200, "ok")
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	for name, folder := range map[string]func(b *testing.B) string{
		"memory": func(*testing.B) string { return "" },
		"folder": func(b *testing.B) string { return filepath.Join(b.TempDir(), "data") },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := Start(b.Context(), Config{Folder: folder(b), Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := s.Stop(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
