package pebble

import (
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/storagetest"
)

func TestConformance(t *testing.T) {
	for name, openEmpty := range map[string]func(t *testing.T) *Store{
		"memory": func(t *testing.T) *Store { return open(t, Options{ProgressInterval: progressInterval}) },
		"folder": func(t *testing.T) *Store {
			return open(t, Options{Folder: t.TempDir(), ProgressInterval: progressInterval})
		},
		"later revision": openAtLaterRevision,
	} {
		t.Run(name, func(t *testing.T) {
			storagetest.Run(t, storagetest.Backend{Open: func(t *testing.T) storage.Store { return openEmpty(t) }})
		})
	}
}

const progressInterval = 50 * time.Millisecond

// openAtLaterRevision returns an empty store whose next commit does not have revision 1. The revisions of etcd do not start
// at 1 either.
func openAtLaterRevision(t *testing.T) *Store {
	s := open(t, Options{ProgressInterval: progressInterval})
	created, err := s.Commit(t.Context(), storage.Write{Key: "a", Value: []byte("1")})
	if err != nil {
		t.Fatal(err)
	}
	deleted, err := s.Commit(t.Context(), storage.Write{Key: "a", Expected: created})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Compact(t.Context(), deleted); err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestProgressAtEndOfHistory: a watch that starts at a past revision reports progress as soon as it has read the history,
// without waiting for the progress interval.
func TestProgressAtEndOfHistory(t *testing.T) {
	s := open(t, Options{ProgressInterval: time.Hour})
	defer s.Close()
	for i := range 3 * maxBatchCommits {
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
	if err != nil || len(batch.Events) > 0 || batch.Revision != 3*maxBatchCommits {
		t.Errorf("Next() = %+v, %v, want progress up to revision %d", batch, err, 3*maxBatchCommits)
	}
}
