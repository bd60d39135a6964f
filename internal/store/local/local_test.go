package local

import (
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	for _, where := range []struct {
		name   string
		folder func(t *testing.T) string
	}{
		{"memory", func(*testing.T) string { return "" }},
		{"folder", func(t *testing.T) string { return t.TempDir() }},
	} {
		t.Run(where.name, func(t *testing.T) {
			storetest.Run(t, storetest.Backend{Open: func(t *testing.T) store.Store {
				return open(t, Options{Folder: where.folder(t), ProgressInterval: 50 * time.Millisecond})
			}})
		})
	}
}

func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
