package watchcache

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// follower maintains a copy of the selected objects with a watch, as an informer does, and detects missing, repeated and
// misordered events.
type follower struct {
	selection Selection
	copy      map[string]storage.Revision
	last      storage.Revision
	restarts  int
}

// TestStress runs concurrent writers and watchers, and at the end compares the watchers' copies with a list. With a small
// event window, watchers fail with ErrTooOld and start again.
func TestStress(t *testing.T) {
	for name, window := range map[string]int{"small": 20_000, "large": 0} {
		t.Run(name, func(t *testing.T) {
			c := openCache(t, openStore(t), Options{WindowBytes: window})
			selections := stressSelections(t)
			var final storage.Revision
			stopped := make(chan struct{})
			var followers sync.WaitGroup
			for i := range 32 {
				f := &follower{selection: selections[i%len(selections)]}
				followers.Go(func() {
					if err := f.run(t, c, i, stopped, &final); err != nil {
						t.Errorf("watcher of %+v: %v", f.selection, err)
					}
				})
			}
			var writers sync.WaitGroup
			for i := range 4 {
				writers.Go(func() { writeRandomly(t, c, i) })
			}
			writers.Wait()
			final = c.progress.revision()
			close(stopped)
			put(t, c, Key{Kind: "core/nodes", Name: "n1"}, []byte(`{"metadata":{"name":"n1"}}`)) // an event of another resource makes idle watches send a bookmark
			followers.Wait()
		})
	}
}

func stressSelections(t *testing.T) []Selection {
	return []Selection{
		{Kind: pods}, {Kind: pods, Namespace: "a"}, {Kind: pods, Name: "p1"}, {Kind: pods, Namespace: "b", Name: "p2"},
		{Kind: pods, Labels: labelSelector(t, "app=web")}, {Kind: pods, Labels: labelSelector(t, "app!=web"), Namespace: "a"},
		{Kind: pods, Fields: fieldSelector(t, "spec.nodeName=n1")},
		{Kind: pods, Fields: fieldSelector(t, "spec.nodeName=n1"), Labels: labelSelector(t, "app=db")},
	}
}

// writeRandomly creates, changes and deletes objects that no other writer uses.
func writeRandomly(t *testing.T, c *Cache, writer int) {
	random := rand.New(rand.NewPCG(uint64(writer), 5))
	revisions := map[Key]storage.Revision{}
	for range 400 {
		name := fmt.Sprintf("p%d", writer+4*random.IntN(5))
		key := podKey([]string{"a", "b"}[random.IntN(2)], name)
		w := storage.Write{Key: key.String(), Expected: revisions[key]}
		if w.Expected == 0 || random.IntN(4) > 0 {
			w.Value = pod(name, []string{"web", "db"}[random.IntN(2)], []string{"n1", "n2"}[random.IntN(2)], 100)
		}
		_, revision, err := c.Commit(t.Context(), w)
		if err != nil {
			t.Error(err)
			return
		}
		if revisions[key] = revision; w.IsDelete() {
			revisions[key] = 0
		}
	}
}

// run follows a watch, and starts a new one whenever a watch fails, until it has received the revision final.
func (f *follower) run(t *testing.T, c *Cache, number int, stopped <-chan struct{}, final *storage.Revision) error {
	random := rand.New(rand.NewPCG(uint64(number), 7))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		err := f.follow(ctx, c, random, stopped, final)
		if !errors.Is(err, ErrTooOld) {
			return err
		}
		f.restarts++
	}
}

func (f *follower) follow(ctx context.Context, c *Cache, random *rand.Rand, stopped <-chan struct{}, final *storage.Revision) error {
	// Half of the watches are resumed after the last received revision, which may be before the window; the other watches
	// start with the initial state.
	resume := f.copy != nil && random.IntN(2) == 0
	if !resume {
		f.copy = map[string]storage.Revision{}
	}
	w, err := c.Watch(ctx, WatchOptions{Selection: f.selection, After: f.last, InitialState: !resume, Bookmarks: time.Millisecond})
	if err != nil {
		return err
	}
	defer w.Close()
	initial := !resume
	for {
		events, err := w.Next(ctx)
		if err != nil {
			if initial {
				f.copy = nil // an incomplete copy cannot be updated by resuming the watch
			}
			return err
		}
		for _, e := range events {
			if err := f.take(e, initial); err != nil {
				return err
			}
			initial = initial && e.Type != InitialEnd
		}
		if random.IntN(20) == 0 {
			time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond) // simulates a slow client
		}
		select {
		case <-stopped:
			if f.last >= *final {
				return f.compare(ctx, c)
			}
		default:
		}
	}
}

// take applies e to the copy. It returns an error if e is not consistent with the copy or is out of order.
func (f *follower) take(e Event, initial bool) error {
	if e.Object == nil {
		if e.Revision < f.last {
			return fmt.Errorf("%s follows revision %d, want increasing revisions", eventText(e), f.last)
		}
		f.last = e.Revision
		return nil
	}
	key := e.Object.Key()
	was, known := f.copy[key]
	if !initial && e.Revision <= f.last || known != (e.Type != Added) || e.Object.Revision() <= was {
		return fmt.Errorf("event %s after revision %d is inconsistent with the copy, in which the object exists: %v, at revision %d", eventText(e), f.last, known, was)
	}
	if f.copy[key] = e.Object.Revision(); e.Type == Deleted {
		delete(f.copy, key)
	}
	if !initial {
		f.last = e.Revision
	}
	return nil
}

// compare compares the copy with a list of the selected objects.
func (f *follower) compare(ctx context.Context, c *Cache) error {
	l, err := c.List(ctx, Query{Selection: f.selection})
	if err != nil {
		return err
	}
	want := map[string]storage.Revision{}
	for _, o := range l.Objects {
		want[o.Key()] = o.Revision()
	}
	if !maps.Equal(f.copy, want) {
		return fmt.Errorf("copy = %v, want %v, after %d restarts", f.copy, want, f.restarts)
	}
	return nil
}
