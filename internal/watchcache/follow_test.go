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

// failingStore breaks the watches of its followers, as a network does, and may have forgotten
// meanwhile what they missed.
type failingStore struct {
	storage.Store
	fail *atomic.Pointer[error] // what the next call of a watcher fails with
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
	forgotten := storage.ErrCompacted
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
	if window, pods := c.windowBytes.Load(), c.kind(pods).bytes.Load(); window != pods || window <= 0 {
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
	if _, err := Open(t.Context(), s, Options{}); !errors.Is(err, storage.ErrClosed) {
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
	testwait.For(t, "the goroutines of the caches to end", func() bool { return running() <= before })
}

// running counts the goroutines of caches.
func running() (count int) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, "internal/watchcache.(*") {
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

// TestLateKind: a kind that nobody has asked for yet, and that has no objects, has its history.
func TestLateKind(t *testing.T) {
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
		t.Error(got)
	}
	if got := names(listed(t, c, Query{Freshness: Exactly(1)})); got != "default/a@1 at 1" {
		t.Error(got)
	}
	if got := names(listed(t, c, Query{Freshness: Any})); got != "at 2" {
		t.Error(got)
	}
}

// TestLoadAgain is seen by who waits, and by lists.
func TestLoadAgain(t *testing.T) {
	s := failingStore{openStore(t), new(atomic.Pointer[error])}
	c := openCache(t, s, Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	w := watch(t, c, WatchOptions{After: 1})
	ended := waiting(t, w)
	listed(t, c, Query{}) // there is a snapshot
	forgotten := storage.ErrCompacted
	s.fail.Store(&forgotten)
	if _, err := s.Commit(t.Context(), storage.Write{Key: podKey("default", "a").String(), Expected: 1}); err != nil {
		t.Fatal(err)
	}
	if got := names(listed(t, c, Query{})); got != "at 2" {
		t.Error(got)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, ErrTooOld) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("the watcher was not woken")
	}
}

// lateFollower holds back the follower, which is the first to watch. Nothing is recalled, or who
// watches would not need the store's history.
type lateFollower struct {
	lateStore
	following *atomic.Bool
}

func (s lateFollower) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	if s.following.CompareAndSwap(false, true) {
		return s.lateStore.Watch(ctx, prefix, after)
	}
	if prefix == "" {
		return nil, errors.New("nothing is recalled")
	}
	return s.Store.Watch(ctx, prefix, after)
}

// TestHistoryIsAhead of the follower: nothing is told twice, in whatever parts the follower comes.
func TestHistoryIsAhead(t *testing.T) {
	s := openStore(t)
	commit := func(i int) {
		if _, err := s.Commit(t.Context(), storage.Write{Key: podKey("default", nameOf(i)).String(), Value: pod(nameOf(i), "web", "n1", 0)}); err != nil {
			t.Fatal(err)
		}
	}
	commit(0)
	late := lateFollower{lateStore{s, make(chan struct{})}, new(atomic.Bool)}
	c := openCache(t, late, Options{})
	w := watch(t, c, WatchOptions{Selection: Selection{Namespace: "default"}})
	for i := 1; i < 400; i++ {
		commit(i)
	}
	got := next(t, w, 400)
	if w.old != nil || c.progress.revision() > 1 {
		t.Fatal("tests nothing")
	}
	late.let <- struct{}{}
	testwait.For(t, "revision 400", func() bool { return c.progress.revision() >= 400 })
	silent(t, w)
	commit(400)
	late.let <- struct{}{}
	got = append(got, next(t, w, 1)...)
	for i, e := range got {
		if want := fmt.Sprintf("ADDED default/%s@%d", nameOf(i), i+1); e != want {
			t.Fatalf("%d: %s, want %s", i, e, want)
		}
	}
}

// changingStore deletes an item between the pages of a list.
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

// TestLoadOfOneMoment: what changes while the store is loaded is seen, too.
func TestLoadOfOneMoment(t *testing.T) {
	s := openStore(t)
	var writes []storage.Write
	for i := range 2 * pageSize {
		writes = append(writes, storage.Write{Key: podKey("default", nameOf(i)).String(), Value: pod(nameOf(i), "web", "n1", 0)})
	}
	if _, err := s.Commit(t.Context(), writes...); err != nil {
		t.Fatal(err)
	}
	c := openCache(t, changingStore{s, new(atomic.Bool)}, Options{})
	if l := listed(t, c, Query{}); len(l.Objects) != 2*pageSize-1 || l.Revision != 2 {
		t.Errorf("%d objects at %d", len(l.Objects), l.Revision)
	}
}
