// Package cachetest has caches for the tests of what stands on them: in memory, silent, and gone with the
// test.
package cachetest

import (
	"log/slog"
	"testing"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/internal/store/local"
)

// Open returns a cache of an empty store.
func Open(t testing.TB) *cache.Cache {
	t.Helper()
	return Over(t, OpenStore(t))
}

// OpenStore returns an empty store.
func OpenStore(t testing.TB) store.Store {
	t.Helper()
	s, err := local.Open(local.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Over returns a cache of a store.
func Over(t testing.TB, s store.Store) *cache.Cache {
	t.Helper()
	c, err := cache.Open(t.Context(), s, cache.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
