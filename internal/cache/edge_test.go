package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/store"
)

// TestIdleWatchersAreSmall: whoever waits has given back the room for what it was told.
func TestIdleWatchersAreSmall(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	var writes []store.Write
	for i := range 2000 {
		writes = append(writes, store.Write{Key: podKey("default", nameOf(i)).String(), Value: pod(nameOf(i), "web", "n1", 0)})
	}
	large := watch(t, c, WatchOptions{})
	if _, _, err := c.Commit(t.Context(), writes...); err != nil {
		t.Fatal(err)
	}
	initial := watch(t, c, WatchOptions{InitialState: true})
	next(t, large, 2000)
	next(t, initial, 2001)
	for _, w := range []*Watcher{large, initial} {
		silent(t, w)
		if cap(w.events) > fewEvents || cap(w.taken) > fewEvents {
			t.Errorf("room for %d events and %d taken", cap(w.events), cap(w.taken))
		}
	}
}

// TestUnknownKinds leave nothing behind when they are asked for.
func TestUnknownKinds(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	for i := range 10 {
		kind := fmt.Sprintf("core/thing%d", i)
		if _, err := c.Get(t.Context(), Key{Kind: kind, Name: "x"}, Any); !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
		if l, err := c.List(t.Context(), Query{Selection: Selection{Kind: kind}}); err != nil || len(l.Objects) > 0 {
			t.Error(l, err)
		}
	}
	if _, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: "nonsense"}}); err == nil {
		t.Error("nonsense is watched")
	}
	if _, _, err := c.Commit(t.Context(), store.Write{Key: "core/nothing/x", Value: []byte("{}")}); err == nil {
		t.Error("nonsense is written")
	}
	if len(c.kinds) > 0 {
		t.Errorf("%d kinds", len(c.kinds))
	}
}

// TestCommitReturnsObjects as they were written, which are those that everybody gets.
func TestCommitReturnsObjects(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	a, b := podKey("default", "a"), podKey("default", "b")
	objects, revision, err := c.Commit(t.Context(), store.Write{Key: a.String(), Value: pod("a", "web", "n1", 0)}, store.Write{Key: b.String(), Value: pod("b", "web", "n1", 0)})
	if err != nil || len(objects) != 2 || revision != 1 {
		t.Fatal(objects, revision, err)
	}
	for i, key := range []Key{a, b} {
		if o, err := c.Get(t.Context(), key, Any); o != objects[i] || err != nil {
			t.Errorf("%v, %v", o, err)
		}
	}
	objects, _, err = c.Commit(t.Context(), store.Write{Key: a.String(), Expected: 1})
	if err != nil || objects[0] != nil {
		t.Error(objects, err)
	}
	replaced := c.written(&Object{kind: c.kind(pods), key: b.String(), text: "x"}, 7)
	if replaced.text != "x" || replaced.revision != 7 {
		t.Error(replaced)
	}
}

// TestWrongKinds are not taken for a part of a key.
func TestWrongKinds(t *testing.T) {
	s := openStore(t)
	c := openCache(t, s, Options{WindowBytes: -1})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	for _, kind := range []string{"", "core", "core/", "/pods", "core/pods/default", "core/pods/"} {
		for _, f := range []Freshness{Latest, Exactly(1)} {
			if l, err := c.List(t.Context(), Query{Selection: Selection{Kind: kind}, Freshness: f}); err == nil {
				t.Errorf("%q: %s", kind, names(l))
			}
		}
		if _, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: kind}}); err == nil {
			t.Errorf("%q is watched", kind)
		}
	}
	for _, key := range []Key{{Kind: pods, Name: "default/a"}, {Kind: "core", Namespace: "pods/default", Name: "a"}, {Kind: pods, Namespace: "default"}} {
		if o, err := c.Get(t.Context(), key, Any); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%+v: %v, %v", key, o, err)
		}
	}
}

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
	store.Store
	items *atomic.Int64
}

func (s countingStore) List(ctx context.Context, r store.Range) (store.Page, error) {
	page, err := s.Store.List(ctx, r)
	s.items.Add(int64(len(page.Items)))
	return page, err
}

// TestFieldsMayAsk: what objects can be selected by may be in the cache itself.
func TestFieldsMayAsk(t *testing.T) {
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

// TestRoomBehindValues is not kept.
func TestRoomBehindValues(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	freed := make(chan bool)
	func() {
		room := make([]byte, 0, 1<<20)
		runtime.AddCleanup(&room[:1][0], func(c chan bool) { close(c) }, freed)
		put(t, c, podKey("default", "a"), append(room, pod("a", "web", "n1", 0)...))
	}()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.GC() {
		select {
		case <-freed:
			return
		default:
			if time.Now().After(deadline) {
				t.Fatal("an object keeps all of the buffer that its value was part of")
			}
		}
	}
}

// TestNextAfterTheEnd fails as it did.
func TestNextAfterTheEnd(t *testing.T) {
	c := openCache(t, openStore(t), Options{WindowBytes: 1000})
	closed := watch(t, c, WatchOptions{Selection: Selection{Namespace: "a"}})
	closed.Close()
	slow := watch(t, c, WatchOptions{})
	for range 20 {
		put(t, c, podKey("a", "x"), pod("x", "web", "n1", 0))
	}
	for range 2 {
		if _, err := closed.Next(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("%v, want ErrClosed", err)
		}
		if _, err := slow.Next(t.Context()); !errors.Is(err, ErrTooOld) {
			t.Errorf("%v, want ErrTooOld", err)
		}
	}
}

// TestNotAcknowledged: a commit that can't be read yet is not acknowledged.
func TestNotAcknowledged(t *testing.T) {
	s := lateStore{openStore(t), make(chan struct{})}
	c := openCache(t, s, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _, err := c.Commit(ctx, store.Write{Key: podKey("default", "a").String(), Value: pod("a", "web", "n1", 0)})
	if unknown := (*store.UnknownError)(nil); !errors.As(err, &unknown) {
		t.Errorf("%v, want an UnknownError", err)
	}
}

// compactedOnce forgets its history between the first list and the first watch.
type compactedOnce struct {
	store.Store
	done *atomic.Bool
}

func (s compactedOnce) Watch(ctx context.Context, prefix string, after store.Revision) (store.Watcher, error) {
	if s.done.CompareAndSwap(false, true) {
		return nil, store.ErrCompacted
	}
	return s.Store.Watch(ctx, prefix, after)
}

func TestOpenWhileHistoryIsForgotten(t *testing.T) {
	c := openCache(t, compactedOnce{openStore(t), new(atomic.Bool)}, Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
}

// TestExactly is refused where it means nothing.
func TestExactly(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	if _, err := c.Get(t.Context(), podKey("default", "a"), Exactly(1)); !errors.Is(err, errExactly) {
		t.Error(err)
	}
	if _, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: pods}, InitialState: true, Freshness: Exactly(1)}); !errors.Is(err, errExactly) {
		t.Error(err)
	}
}

// TestCloseInHistory ends watches that read the past, too.
func TestCloseInHistory(t *testing.T) {
	c := openCache(t, openStore(t), Options{WindowBytes: -1})
	for range 3000 {
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	}
	w := watch(t, c, WatchOptions{})
	if _, err := w.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if _, err := w.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
}

// TestManyPagers: those who come again find what they had.
func TestManyPagers(t *testing.T) {
	var p past
	for i := range store.Revision(pastStates) {
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

// TestClosed refuses everything.
func TestClosed(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	put(t, c, podKey("a", "x"), pod("x", "web", "n1", 0))
	c.Close()
	for _, f := range []Freshness{Latest, Any, NotOlderThan(1)} {
		if _, err := c.Get(t.Context(), podKey("a", "x"), f); !errors.Is(err, ErrClosed) {
			t.Errorf("%v: %v, want ErrClosed", f, err)
		}
	}
	if _, _, err := c.Commit(t.Context(), store.Write{Key: "core/pods/a/y", Value: pod("y", "web", "n1", 0)}); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
}
