package watchcache

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// unreliableStore is a store in which the reflector's watches fail repeatedly, sometimes with ErrCompacted.
type unreliableStore struct {
	storage.Store
	calls *atomic.Uint64
}

type unreliableWatcher struct {
	storage.Watcher
	calls *atomic.Uint64
}

func (s unreliableStore) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	w, err := s.Store.Watch(ctx, prefix, after)
	if err != nil || prefix != "" {
		return w, err
	}
	return unreliableWatcher{w, s.calls}, nil
}

func (w unreliableWatcher) Next(ctx context.Context) (storage.Batch, error) {
	batch, err := w.Watcher.Next(ctx)
	if err != nil {
		return batch, err
	}
	switch call := w.calls.Add(1); {
	case call%37 == 0:
		return storage.Batch{}, storage.ErrCompacted
	case call%23 == 0:
		return storage.Batch{}, errors.New("connection reset")
	}
	return batch, nil
}

// TestReload runs concurrent writers, watchers and lists while the cache reloads its store repeatedly.
func TestReload(t *testing.T) {
	for name, window := range map[string]int{"small": 20_000, "large": 0} {
		t.Run(name, func(t *testing.T) {
			c := openCache(t, unreliableStore{openStore(t), new(atomic.Uint64)}, Options{WindowBytes: window})
			observer := &observedState{}
			defer c.Observe(observer)()
			selections := stressSelections(t)
			var final storage.Revision
			stopped := make(chan struct{})
			var followers, others sync.WaitGroup
			for i := range 16 {
				f := &follower{selection: selections[i%len(selections)]}
				followers.Go(func() {
					if err := f.run(t, c, i, stopped, &final); err != nil {
						t.Errorf("watcher of %+v: %v", f.selection, err)
					}
				})
			}
			for i := range 3 {
				others.Go(func() { writeRandomly(t, c, i) })
				others.Go(func() { listTwice(t, c, selections, rand.New(rand.NewPCG(uint64(i), 9))) })
			}
			others.Wait()
			final = c.progress.revision()
			close(stopped)
			done := make(chan struct{})
			go func() {
				defer close(done)
				followers.Wait()
			}()
			for isDone := false; !isDone; { // repeats the write, because a watch that fails may lose the bookmark that the write causes
				put(t, c, Key{Kind: "core/nodes", Name: "n1"}, []byte(`{"metadata":{"name":"n1"}}`))
				select {
				case <-done:
					isDone = true
				case <-time.After(5 * time.Millisecond):
				}
			}
			observer.check(t, c, pods, "core/nodes")
			if observer.begun < 2 {
				t.Error("precondition failed: the cache was never reloaded")
			}
		})
	}
}

// listTwice lists the current state, lists the revision of that list again with Exactly, and fails the test if
// the two lists differ.
func listTwice(t *testing.T, c *Cache, selections []Selection, random *rand.Rand) {
	for range 200 {
		s := selections[random.IntN(len(selections))]
		now, err := c.List(t.Context(), Query{Selection: s, Freshness: Any})
		if err != nil {
			t.Error(err)
			return
		}
		then, err := c.List(t.Context(), Query{Selection: s, Freshness: Exactly(now.Revision)})
		if err != nil {
			t.Error(err)
			return
		}
		if names(now) != names(then) {
			t.Errorf("List(%+v) with Exactly at the revision of the current state = %s, want %s, the current state", s, names(then), names(now))
		}
	}
}
