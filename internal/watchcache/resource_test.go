package watchcache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestUnknownResourcesAreNotRetained: reads of resources without objects and invalid requests do not add resources to the
// cache.
func TestUnknownResourcesAreNotRetained(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	for i := range 10 {
		kind := fmt.Sprintf("core/thing%d", i)
		if _, err := c.Get(t.Context(), Key{Kind: kind, Name: "x"}, Any); !errors.Is(err, storage.ErrNotFound) {
			t.Error(err)
		}
		if l, err := c.List(t.Context(), Query{Selection: Selection{Kind: kind}}); err != nil || len(l.Objects) > 0 {
			t.Error(l, err)
		}
	}
	if _, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: "nonsense"}}); err == nil {
		t.Error("Watch(nonsense) = nil error, want an error")
	}
	if _, _, err := c.Commit(t.Context(), storage.Write{Key: "core/nothing/x", Value: []byte("{}")}); err == nil {
		t.Error("Commit({}) = nil error, want an error")
	}
	if len(c.resources) > 0 {
		t.Errorf("%d resources are cached, want none", len(c.resources))
	}
}

// TestInvalidResourceNames: List, Watch and Get reject a resource name that is not GROUP/RESOURCE, because it could be a
// prefix of other keys.
func TestInvalidResourceNames(t *testing.T) {
	s := openStore(t)
	c := openCache(t, s, Options{WindowBytes: -1})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	for _, kind := range []string{"", "core", "core/", "/pods", "core/pods/default", "core/pods/"} {
		for _, f := range []Freshness{Latest, Exactly(1)} {
			if l, err := c.List(t.Context(), Query{Selection: Selection{Kind: kind}, Freshness: f}); err == nil {
				t.Errorf("List(%q) = %s, want an error", kind, names(l))
			}
		}
		if _, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: kind}}); err == nil {
			t.Errorf("Watch(%q) = nil error, want an error", kind)
		}
	}
	for _, key := range []Key{{Kind: pods, Name: "default/a"}, {Kind: "core", Namespace: "pods/default", Name: "a"}, {Kind: pods, Namespace: "default"}} {
		if o, err := c.Get(t.Context(), key, Any); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Get(%+v) = %v, %v, want ErrNotFound", key, o, err)
		}
	}
}

// TestFieldsMayReadCache: the function Options.Fields may read objects from the cache without a deadlock.
func TestFieldsMayReadCache(t *testing.T) {
	var c atomic.Pointer[Cache]
	opened := openCache(t, openStore(t), Options{Fields: func(kind string) []Field {
		if c := c.Load(); c != nil && kind == pods {
			_, _ = c.Get(context.Background(), Key{Kind: "core/nodes", Name: "n1"}, Any)
		}
		return nil
	}})
	c.Store(opened)
	put(t, opened, podKey("default", "a"), pod("a", "web", "n1", 0))
}
