package pebble

import (
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/storagetest"
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
			storagetest.Run(t, storagetest.Backend{Open: func(t *testing.T) storage.Store {
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

// TestCaughtUp: who watches from the past hears when it is over, without waiting for a mark.
func TestCaughtUp(t *testing.T) {
	s := open(t, Options{ProgressInterval: time.Hour})
	defer s.Close()
	for i := range 3 * largestBatch {
		if _, err := s.Commit(t.Context(), storage.Write{Key: "a/x", Expected: storage.Revision(i), Value: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	w, err := s.Watch(t.Context(), "b/", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	batch, err := w.Next(t.Context())
	if err != nil || len(batch.Events) > 0 || batch.Revision != 3*largestBatch {
		t.Errorf("%+v, %v", batch, err)
	}
}
