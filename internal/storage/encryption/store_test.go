package encryption

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/internal/storage/storagetest"
)

// TestConformance: a store that encrypts everything has the guarantees of a store.
func TestConformance(t *testing.T) {
	storagetest.Run(t, storagetest.Backend{Open: func(t *testing.T) storage.Store {
		disk, err := pebble.Open(pebble.Options{ProgressInterval: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		return NewStore(disk, open(t, configOf("'*.*'", keyOf("aesgcm", "k1", "s", 32))), Items)
	}})
}

// TestMissingKey: values whose key is missing are returned with an error. When the key is configured again, watches end, so that the
// values are listed again.
func TestMissingKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.yaml")
	write := func(config string) {
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, second := configOf("secrets", keyOf("aesgcm", "k1", "s", 32)), configOf("secrets", keyOf("aesgcm", "k2", "t", 32))
	write(first)
	values, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	disk, err := pebble.Open(pebble.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := NewStore(disk, values, Items)
	defer s.Close()
	const key = "core/secrets/default/s"
	if _, err := s.Commit(t.Context(), storage.Write{Key: key, Value: []byte("{}")}, storage.Write{Key: "core/configmaps/default/c", Value: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	reload := func(config string) {
		t.Helper()
		write(config)
		if changed, err := values.Reload(); !changed || err != nil {
			t.Fatalf("Reload = %t, %v", changed, err)
		}
	}
	w, err := s.Watch(t.Context(), "", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	reload(second)
	page, err := s.List(t.Context(), storage.Range{})
	if err != nil || len(page.Items) != 2 || page.Items[0].Err != nil || page.Items[1].Err == nil {
		t.Fatalf("List = %v, %v, want the error of %s", page, err, key)
	}
	if _, err := s.Get(t.Context(), key); err == nil {
		t.Error("Get returned no error")
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := w.Next(t.Context())
		waiting <- err
	}()
	reload(first)
	if err := <-waiting; err != storage.ErrCompacted {
		t.Errorf("Next = %v, want ErrCompacted", err)
	}
	if item, err := s.Get(t.Context(), key); string(item.Value) != "{}" || err != nil {
		t.Errorf("Get = %q, %v, want the value", item.Value, err)
	}

	// An invalid file changes nothing.
	write("{")
	if changed, err := values.Reload(); changed || err == nil {
		t.Errorf("Reload of an invalid file = %t, %v, want an error", changed, err)
	}
	if _, err := s.Get(t.Context(), key); err != nil {
		t.Error(err)
	}
	if stale, err := s.IsStale(t.Context(), key); stale || err != nil {
		t.Errorf("IsStale = %t, %v, want false", stale, err)
	}
	reload(configOf("secrets", keyOf("aesgcm", "k2", "t", 32)+", "+keyOf("aesgcm", "k1", "s", 32)))
	if stale, err := s.IsStale(t.Context(), key); !stale || err != nil {
		t.Errorf("IsStale after a rotation = %t, %v, want true", stale, err)
	}
}
