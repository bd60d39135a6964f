// Package watchcachetest provides watch caches for tests: they have a store in memory, log nothing, and are closed at the end
// of the test.
package watchcachetest

import (
	"log/slog"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Open returns a watch cache of a new, empty store.
func Open(t testing.TB) *watchcache.Cache {
	t.Helper()
	return OpenOn(t, OpenStore(t))
}

// OpenStore returns a new, empty store in memory that is closed at the end of the test.
func OpenStore(t testing.TB) storage.Store {
	t.Helper()
	s, err := pebble.Open(pebble.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// OpenOn returns a watch cache of the store s, which is closed at the end of the test. The caller closes s.
func OpenOn(t testing.TB, s storage.Store) *watchcache.Cache {
	t.Helper()
	c, err := watchcache.Open(t.Context(), s, watchcache.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
