package server

import (
	"log/slog"
	"path/filepath"
	"testing"
)

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
