package watchcache

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
)

// TestSmallPages: a page with a limit of n objects, listed from the store's history, reads n+1 items from the store.
func TestSmallPages(t *testing.T) {
	s := countingStore{openStore(t), new(atomic.Int64)}
	c := openCache(t, s, Options{WindowBytes: -1})
	for i := range 100 {
		put(t, c, podKey("default", nameOf(i)), pod(nameOf(i), "web", "n1", 0))
	}
	k := c.resource(pods)
	testwait.For(t, "the window to be trimmed after the last commit", func() bool {
		k.mu.RLock()
		defer k.mu.RUnlock()
		return k.horizon == 100
	})
	s.items.Store(0)
	l := mustList(t, c, Query{Freshness: Exactly(99), Limit: 3})
	if got := s.items.Load(); got != 4 || len(l.Objects) != 3 || !l.More {
		t.Errorf("%d items were read from the store for a page of %d, want 4 for 3", got, len(l.Objects))
	}
}

type countingStore struct {
	storage.Store
	items *atomic.Int64
}

func (s countingStore) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	page, err := s.Store.List(ctx, r)
	s.items.Add(int64(len(page.Items)))
	return page, err
}

// TestPastSnapshotIsRetained: a snapshot that was computed by undoing events is retained for the next page.
func TestPastSnapshotIsRetained(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	for range 3 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	}
	mustList(t, c, Query{Freshness: Exactly(1)})
	if _, known := c.resource(pods).past.get(1); !known {
		t.Error("the snapshot at revision 1 was not retained, want it retained for the next page")
	}
}

// TestPastSnapshotsEviction: the least recently used snapshot is evicted.
func TestPastSnapshotsEviction(t *testing.T) {
	var p pastSnapshots
	for i := range storage.Revision(maxPastSnapshots) {
		p.add(pastSnapshot{revision: i})
	}
	p.get(0)
	p.add(pastSnapshot{revision: 1000})
	p.add(pastSnapshot{revision: 1000})
	if _, known := p.get(0); !known || len(p) != maxPastSnapshots {
		t.Errorf("%d snapshots, want %d that include the most recently used one", len(p), maxPastSnapshots)
	}
	if _, known := p.get(1); known {
		t.Error("the least recently used snapshot was not evicted")
	}
}
