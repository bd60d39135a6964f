package cache

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/store"
)

// failingStore breaks the watches of its followers, as a network does, and may have forgotten
// meanwhile what they missed.
type failingStore struct {
	store.Store
	fail *atomic.Pointer[error] // what the next call of a watcher fails with
}

type failingWatcher struct {
	store.Watcher
	fail *atomic.Pointer[error]
}

func (s failingStore) Watch(ctx context.Context, prefix string, after store.Revision) (store.Watcher, error) {
	w, err := s.Store.Watch(ctx, prefix, after)
	if err != nil {
		return nil, err
	}
	return failingWatcher{w, s.fail}, nil
}

func (w failingWatcher) Next(ctx context.Context) (store.Batch, error) {
	batch, err := w.Watcher.Next(ctx)
	if failure := w.fail.Swap(nil); failure != nil && err == nil {
		return store.Batch{}, *failure
	}
	return batch, err
}

// TestBrokenWatch goes on where it was; watchers don't notice.
func TestBrokenWatch(t *testing.T) {
	s := failingStore{openStore(t), new(atomic.Pointer[error])}
	c := openCache(t, s, Options{})
	w := watch(t, c, WatchOptions{})
	want := []string{}
	for i := range 10 {
		broken := errors.New("the network is gone")
		if i%2 == 0 {
			s.fail.Store(&broken)
		}
		put(t, c, podKey("default", nameOf(i)), pod(nameOf(i), "web", "n1", 0))
		want = append(want, "ADDED default/"+nameOf(i))
	}
	for i, got := range next(t, w, 10) {
		if !strings.HasPrefix(got, want[i]+"@") {
			t.Errorf("%s, want %s", got, want[i])
		}
	}
}

// TestForgottenHistory has the cache load the store again, and its watchers cut off.
func TestForgottenHistory(t *testing.T) {
	s := failingStore{openStore(t), new(atomic.Pointer[error])}
	c := openCache(t, s, Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	put(t, c, podKey("default", "b"), pod("b", "web", "n1", 0))
	w := watch(t, c, WatchOptions{After: 2})
	starting := watch(t, c, WatchOptions{InitialState: true})
	listed(t, c, Query{Limit: 1}) // there is a past
	forgotten := store.ErrCompacted
	s.fail.Store(&forgotten)
	remove(t, c, podKey("default", "a"))
	for _, w := range []*Watcher{w, starting} {
		if _, err := w.Next(t.Context()); !errors.Is(err, ErrTooOld) {
			t.Errorf("%v, want ErrTooOld", err)
		}
	}
	put(t, c, podKey("default", "c"), pod("c", "web", "n1", 0))
	if got := names(listed(t, c, Query{})); got != "default/b@2 default/c@4 at 4" {
		t.Error(got)
	}
	w = watch(t, c, WatchOptions{After: 3})
	if got := next(t, w, 1); got[0] != "ADDED default/c@4" {
		t.Error(got)
	}
	if window, pods := c.window.bytes.Load(), c.kind(pods).bytes.Load(); window != pods || window <= 0 {
		t.Errorf("%d bytes in the window, %d of the kind", window, pods)
	}
}

// TestStoreCloses ends the cache, too.
func TestStoreCloses(t *testing.T) {
	s := openStore(t)
	c := openCache(t, s, Options{})
	w := watch(t, c, WatchOptions{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("%v, want ErrClosed", err)
	}
	if _, err := Open(t.Context(), s, Options{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("%v, want store.ErrClosed", err)
	}
}

// TestCloseLeavesNothing: when a cache has been closed, nothing of it runs any more.
func TestCloseLeavesNothing(t *testing.T) {
	before := running()
	s := openStore(t)
	for range 3 {
		c, err := Open(t.Context(), s, Options{Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			w := watch(t, c, WatchOptions{Selection: Selection{Name: nameOf(i)}, Bookmarks: time.Millisecond})
			go func() {
				for {
					if _, err := w.Next(context.Background()); err != nil {
						return
					}
				}
			}()
		}
		put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
		c.Close()
		c.Close()
	}
	for deadline := time.Now().Add(10 * time.Second); running() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("something still runs")
		}
	}
}

// running counts the goroutines of caches.
func running() (count int) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, "internal/cache.(*") {
			count++
		}
	}
	return count
}

// TestReopen finds what was there, and goes on from there.
func TestReopen(t *testing.T) {
	s := openStore(t)
	first := openCache(t, s, Options{})
	for i := range 2500 {
		if i%100 == 0 {
			put(t, first, podKey("default", nameOf(i)), pod(nameOf(i), "web", "n1", 0))
		}
	}
	put(t, first, Key{Kind: "core/nodes", Name: "n1"}, []byte(`{"metadata":{"name":"n1"}}`))
	want := names(listed(t, first, Query{}))
	first.Close()
	c := openCache(t, s, Options{})
	if got := names(listed(t, c, Query{Freshness: Any})); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// A watch that began with the first goes on with the second.
	w := watch(t, c, WatchOptions{After: 24})
	if got := next(t, w, 1); got[0] != "ADDED default/"+nameOf(2400)+"@25" {
		t.Error(got)
	}
}
