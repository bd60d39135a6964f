package watchcache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
)

// failingStore is a store whose watches fail with the error that the test sets, once per error, as after a network failure or a
// compaction.
type failingStore struct {
	storage.Store
	fail *atomic.Pointer[error] // the error that the next call of Next returns
}

type failingWatcher struct {
	storage.Watcher
	fail *atomic.Pointer[error]
}

func (s failingStore) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	w, err := s.Store.Watch(ctx, prefix, after)
	if err != nil {
		return nil, err
	}
	return failingWatcher{w, s.fail}, nil
}

func (w failingWatcher) Next(ctx context.Context) (storage.Batch, error) {
	batch, err := w.Watcher.Next(ctx)
	if failure := w.fail.Swap(nil); failure != nil && err == nil {
		return storage.Batch{}, *failure
	}
	return batch, err
}

// TestReflectorResumesBrokenWatch: if the watch of the store fails, the cache's watchers receive every event exactly once.
func TestReflectorResumesBrokenWatch(t *testing.T) {
	s := failingStore{openStore(t), new(atomic.Pointer[error])}
	c := openCache(t, s, Options{})
	w := watch(t, c, WatchOptions{})
	want := []string{}
	for i := range 10 {
		broken := errors.New("connection reset")
		if i%2 == 0 {
			s.fail.Store(&broken)
		}
		put(t, c, podKey("default", nameOf(i)), pod(nameOf(i), "web", "n1", 0))
		want = append(want, "ADDED default/"+nameOf(i))
	}
	for i, got := range next(t, w, 10) {
		if !strings.HasPrefix(got, want[i]+"@") {
			t.Errorf("event %d = %s, want %s", i, got, want[i])
		}
	}
}

// TestReflectorReloadsAfterCompaction: if the store's watch fails and the history after progress is compacted, the cache
// reloads all objects and its watchers fail with ErrTooOld.
func TestReflectorReloadsAfterCompaction(t *testing.T) {
	s := failingStore{openStore(t), new(atomic.Pointer[error])}
	c := openCache(t, s, Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	put(t, c, podKey("default", "b"), pod("b", "web", "n1", 0))
	w := watch(t, c, WatchOptions{After: 2})
	starting := watch(t, c, WatchOptions{InitialState: true})
	mustList(t, c, Query{Limit: 1}) // makes the cache retain a snapshot for the next page of this list
	compacted := storage.ErrCompacted
	s.fail.Store(&compacted)
	remove(t, c, podKey("default", "a"))
	for _, w := range []*Watcher{w, starting} {
		if _, err := w.Next(t.Context()); !errors.Is(err, ErrTooOld) {
			t.Errorf("Next() = %v, want ErrTooOld", err)
		}
	}
	put(t, c, podKey("default", "c"), pod("c", "web", "n1", 0))
	if got := names(mustList(t, c, Query{})); got != "default/b@2 default/c@4 at 4" {
		t.Errorf("List() = %s, want default/b@2 default/c@4 at 4", got)
	}
	w = watch(t, c, WatchOptions{After: 3})
	if got := next(t, w, 1); got[0] != "ADDED default/c@4" {
		t.Errorf("first event = %s, want ADDED default/c@4", got[0])
	}
	if window, pods := c.windowBytes.Load(), c.resource(pods).bytes.Load(); window != pods || window <= 0 {
		t.Errorf("size of the window = %d bytes, of its only resource = %d, want equal and positive sizes", window, pods)
	}
}

// TestClosedStoreClosesCache: when the store is closed, watches fail with ErrClosed.
func TestClosedStoreClosesCache(t *testing.T) {
	s := openStore(t)
	c := openCache(t, s, Options{})
	w := watch(t, c, WatchOptions{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Next() = %v, want ErrClosed", err)
	}
	if _, err := Open(t.Context(), s, Options{}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Open() = %v, want storage.ErrClosed", err)
	}
}

// TestCloseStopsGoroutines: no goroutine of a cache is left after Close, even with open watches.
func TestCloseStopsGoroutines(t *testing.T) {
	before := countGoroutines()
	s := openStore(t)
	for range 3 {
		c, err := Open(t.Context(), s, Options{Log: discardLog})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			w, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: pods, Name: nameOf(i)}, Bookmarks: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				defer w.Close()
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
	testwait.For(t, "the goroutines of the caches to exit", func() bool { return countGoroutines() <= before })
}

// countGoroutines returns the number of goroutines that are executing methods of this package.
func countGoroutines() (count int) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, "internal/watchcache.(*") {
			count++
		}
	}
	return count
}

// TestReopen: a reopened cache contains the same objects, and serves watches from revisions before it was opened.
func TestReopen(t *testing.T) {
	s := openStore(t)
	first := openCache(t, s, Options{})
	for i := range 2500 {
		if i%100 == 0 {
			put(t, first, podKey("default", nameOf(i)), pod(nameOf(i), "web", "n1", 0))
		}
	}
	put(t, first, Key{Kind: "core/nodes", Name: "n1"}, []byte(`{"metadata":{"name":"n1"}}`))
	want := names(mustList(t, first, Query{}))
	first.Close()
	c := openCache(t, s, Options{})
	if got := names(mustList(t, c, Query{Freshness: Any})); got != want {
		t.Errorf("List() = %s, want %s", got, want)
	}
	// A watch of the first cache can be resumed on the reopened cache.
	w := watch(t, c, WatchOptions{After: 24})
	if got := next(t, w, 1); got[0] != "ADDED default/"+nameOf(2400)+"@25" {
		t.Errorf("first event = %s, want %s", got[0], "ADDED default/"+nameOf(2400)+"@25")
	}
}

// TestHistoryOfEmptyResource: past events of a resource without current objects are available, even if the resource has not been
// read from the cache before.
func TestHistoryOfEmptyResource(t *testing.T) {
	s := openStore(t)
	if _, err := s.Commit(t.Context(), storage.Write{Key: "core/pods/default/a", Value: pod("a", "web", "n1", 0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), storage.Write{Key: "core/pods/default/a", Expected: 1}); err != nil {
		t.Fatal(err)
	}
	c := openCache(t, s, Options{})
	w := watch(t, c, WatchOptions{})
	if got := next(t, w, 2); !slices.Equal(got, []string{"ADDED default/a@1", "DELETED default/a@2"}) {
		t.Errorf("events = %v, want ADDED default/a@1 and DELETED default/a@2", got)
	}
	if got := names(mustList(t, c, Query{Freshness: Exactly(1)})); got != "default/a@1 at 1" {
		t.Errorf("List() = %s, want default/a@1 at 1", got)
	}
	if got := names(mustList(t, c, Query{Freshness: Any})); got != "at 2" {
		t.Errorf("List() = %s, want at 2", got)
	}
}

// TestReloadWakesWatchers: a reload of the store wakes waiting watchers, and discards the current snapshot.
func TestReloadWakesWatchers(t *testing.T) {
	s := failingStore{openStore(t), new(atomic.Pointer[error])}
	c := openCache(t, s, Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	w := watch(t, c, WatchOptions{After: 1})
	ended := waitInBackground(t, w)
	mustList(t, c, Query{}) // makes the cache take a snapshot
	compacted := storage.ErrCompacted
	s.fail.Store(&compacted)
	if _, err := s.Commit(t.Context(), storage.Write{Key: podKey("default", "a").String(), Expected: 1}); err != nil {
		t.Fatal(err)
	}
	if got := names(mustList(t, c, Query{})); got != "at 2" {
		t.Errorf("List() = %s, want at 2", got)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, ErrTooOld) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("Next() still waits after the reload, want ErrTooOld")
	}
}

// delayedReflector is a store that delays its first watch, which is the watch of the reflector. The watch of the backfill fails,
// so that later watchers read the store's history.
type delayedReflector struct {
	delayedStore
	following *atomic.Bool
}

func (s delayedReflector) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	if s.following.CompareAndSwap(false, true) {
		return s.delayedStore.Watch(ctx, prefix, after)
	}
	if prefix == "" {
		return nil, errors.New("no backfill")
	}
	return s.Store.Watch(ctx, prefix, after)
}

// TestHistoryAheadOfReflector: a watcher that has read the store's history beyond the reflector's progress receives every
// event exactly once.
func TestHistoryAheadOfReflector(t *testing.T) {
	s := openStore(t)
	commit := func(i int) {
		if _, err := s.Commit(t.Context(), storage.Write{Key: podKey("default", nameOf(i)).String(), Value: pod(nameOf(i), "web", "n1", 0)}); err != nil {
			t.Fatal(err)
		}
	}
	commit(0)
	late := delayedReflector{delayedStore{s, make(chan struct{})}, new(atomic.Bool)}
	c := openCache(t, late, Options{})
	w := watch(t, c, WatchOptions{Selection: Selection{Namespace: "default"}})
	for i := 1; i < 400; i++ {
		commit(i)
	}
	got := next(t, w, 400)
	if w.history != nil || c.progress.revision() > 1 {
		t.Fatal("precondition failed: want a watcher that has read the history, and progress 1")
	}
	late.release <- struct{}{}
	testwait.For(t, "revision 400", func() bool { return c.progress.revision() >= 400 })
	wantNoEvent(t, w)
	commit(400)
	late.release <- struct{}{}
	got = append(got, next(t, w, 1)...)
	for i, e := range got {
		if want := fmt.Sprintf("ADDED default/%s@%d", nameOf(i), i+1); e != want {
			t.Fatalf("event %d = %s, want %s", i, e, want)
		}
	}
}

// changingStore is a store that deletes an object between the first and the second page of a list.
type changingStore struct {
	storage.Store
	deleted *atomic.Bool
}

func (s changingStore) List(ctx context.Context, r storage.Range) (storage.Page, error) {
	if r.After != "" && s.deleted.CompareAndSwap(false, true) {
		if _, err := s.Commit(ctx, storage.Write{Key: podKey("default", nameOf(0)).String(), Expected: 1}); err != nil {
			return storage.Page{}, err
		}
	}
	return s.Store.List(ctx, r)
}

// TestLoadIsConsistent: a change between two pages of the initial list is not part of the list, and is applied after it.
func TestLoadIsConsistent(t *testing.T) {
	s := openStore(t)
	var writes []storage.Write
	for i := range 2 * pageSize {
		writes = append(writes, storage.Write{Key: podKey("default", nameOf(i)).String(), Value: pod(nameOf(i), "web", "n1", 0)})
	}
	if _, err := s.Commit(t.Context(), writes...); err != nil {
		t.Fatal(err)
	}
	c := openCache(t, changingStore{s, new(atomic.Bool)}, Options{})
	if l := mustList(t, c, Query{}); len(l.Objects) != 2*pageSize-1 || l.Revision != 2 {
		t.Errorf("List() = %d objects at revision %d, want %d objects at revision 2", len(l.Objects), l.Revision, 2*pageSize-1)
	}
}
