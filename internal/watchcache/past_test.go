package watchcache

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestSmallPages of the store's history read no more than they need.
func TestSmallPages(t *testing.T) {
	s := countingStore{openStore(t), new(atomic.Int64)}
	c := openCache(t, s, Options{WindowBytes: -1})
	for i := range 100 {
		put(t, c, podKey("default", nameOf(i)), pod(nameOf(i), "web", "n1", 0))
	}
	s.items.Store(0)
	l := listed(t, c, Query{Freshness: Exactly(99), Limit: 3})
	if got := s.items.Load(); got != 4 || len(l.Objects) != 3 || !l.More {
		t.Errorf("%d items are read from the store for a page of %d", got, len(l.Objects))
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

// TestStatesAreKept that were found by undoing: who lists in pages asks again.
func TestStatesAreKept(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	for range 3 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	}
	listed(t, c, Query{Freshness: Exactly(1)})
	if _, known := c.kind(pods).past.use(1); !known {
		t.Error("the state is not kept")
	}
}

// TestManyPagers: those who come again find what they had.
func TestManyPagers(t *testing.T) {
	var p past
	for i := range storage.Revision(pastStates) {
		p.add(pastState{revision: i})
	}
	p.use(0)
	p.add(pastState{revision: 1000})
	p.add(pastState{revision: 1000})
	if _, known := p.use(0); !known || len(p) != pastStates {
		t.Errorf("%d states, without the one that was used last", len(p))
	}
	if _, known := p.use(1); known {
		t.Error("the one that was not used is still there")
	}
}
