package watchcache

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestCommitReturnsObjects: Commit returns the objects that are in the cache, and nil for deletes and for writes with Keep.
func TestCommitReturnsObjects(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	a, b := podKey("default", "a"), podKey("default", "b")
	objects, revision, err := c.Commit(t.Context(), storage.Write{Key: a.String(), Value: pod("a", "web", "n1", 0)}, storage.Write{Key: b.String(), Value: pod("b", "web", "n1", 0)})
	if err != nil || len(objects) != 2 || revision != 1 {
		t.Fatal(objects, revision, err)
	}
	for i, key := range []Key{a, b} {
		if o, err := c.Get(t.Context(), key, Any); o != objects[i] || err != nil {
			t.Errorf("Get(%v) = %v, %v, want the object that Commit returned", key, o, err)
		}
	}
	objects, _, err = c.Commit(t.Context(), storage.Write{Key: a.String(), Expected: 1})
	if err != nil || objects[0] != nil {
		t.Error(objects, err)
	}
	kept, err := c.Get(t.Context(), b, Any)
	if err != nil {
		t.Fatal(err)
	}
	objects, _, err = c.Commit(t.Context(), storage.Write{Key: b.String(), Expected: 1, Keep: true}, storage.Write{Key: a.String(), Value: pod("a", "web", "n1", 0)})
	if o, _ := c.Get(t.Context(), b, Any); err != nil || objects[0] != nil || objects[1] == nil || o != kept {
		t.Error(objects, err)
	}
	replaced := c.committedObject(&Object{resource: c.resource(pods), key: b.String(), text: "x"}, 7)
	if replaced.text != "x" || replaced.revision != 7 {
		t.Errorf("committedObject() of a replaced object = %q at revision %d, want \"x\" at 7", replaced.text, replaced.revision)
	}
}

// TestSpareCapacityIsReleased: an object does not keep a buffer alive whose capacity is much larger than the object's value.
func TestSpareCapacityIsReleased(t *testing.T) {
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
				t.Fatal("the value's buffer was not garbage collected: the object keeps its spare capacity alive")
			}
		}
	}
}

// TestUnreadableCommitIsUnknown: Commit returns an UnknownError if the context ends before the cache has received the commit.
func TestUnreadableCommitIsUnknown(t *testing.T) {
	s := delayedStore{openStore(t), make(chan struct{})}
	c := openCache(t, s, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _, err := c.Commit(ctx, storage.Write{Key: podKey("default", "a").String(), Value: pod("a", "web", "n1", 0)})
	if unknown := (*storage.UnknownError)(nil); !errors.As(err, &unknown) {
		t.Errorf("Commit() = %v, want an UnknownError", err)
	}
}

// compactedOnce is a store that compacts its history between the first list and the first watch.
type compactedOnce struct {
	storage.Store
	done *atomic.Bool
}

func (s compactedOnce) Watch(ctx context.Context, prefix string, after storage.Revision) (storage.Watcher, error) {
	if s.done.CompareAndSwap(false, true) {
		return nil, storage.ErrCompacted
	}
	return s.Store.Watch(ctx, prefix, after)
}

func TestOpenDuringCompaction(t *testing.T) {
	c := openCache(t, compactedOnce{openStore(t), new(atomic.Bool)}, Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
}

// TestExactlyIsForLists: Get and Watch reject Freshness Exactly.
func TestExactlyIsForLists(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	put(t, c, podKey("default", "a"), pod("a", "web", "n1", 0))
	if _, err := c.Get(t.Context(), podKey("default", "a"), Exactly(1)); !errors.Is(err, errExactly) {
		t.Error(err)
	}
	if _, err := c.Watch(t.Context(), WatchOptions{Selection: Selection{Kind: pods}, InitialState: true, Freshness: Exactly(1)}); !errors.Is(err, errExactly) {
		t.Error(err)
	}
}

// TestClosedCache: reads and commits of a closed cache fail with ErrClosed.
func TestClosedCache(t *testing.T) {
	c := openCache(t, openStore(t), Options{})
	put(t, c, podKey("a", "x"), pod("x", "web", "n1", 0))
	c.Close()
	for _, f := range []Freshness{Latest, Any, NotOlderThan(1)} {
		if _, err := c.Get(t.Context(), podKey("a", "x"), f); !errors.Is(err, ErrClosed) {
			t.Errorf("Get(%v) = %v, want ErrClosed", f, err)
		}
	}
	if _, _, err := c.Commit(t.Context(), storage.Write{Key: "core/pods/a/y", Value: pod("y", "web", "n1", 0)}); !errors.Is(err, ErrClosed) {
		t.Errorf("Commit() = %v, want ErrClosed", err)
	}
}
