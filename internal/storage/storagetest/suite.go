// Package storagetest is the conformance suite of package store: every backend runs it.
package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// Backend is what the suite runs against.
type Backend struct {
	// Open opens an empty store, which the suite closes.
	Open func(t *testing.T) storage.Store
}

// Run runs the suite.
func Run(t *testing.T, b Backend) {
	for _, test := range []struct {
		name string
		run  func(k *kit)
	}{
		{"get", testGet},
		{"create, change and delete", testWrites},
		{"several keys at once", testAtomic},
		{"conflicts", testConflicts},
		{"what is only compared", testKept},
		{"bad commits", testBadCommits},
		{"list", testList},
		{"pages at one revision", testPages},
		{"list at a revision", testListAt},
		{"values are kept as they are", testValues},
		{"watch from the start", testWatch},
		{"watch while writing", testWatchLive},
		{"watch a prefix", testWatchPrefix},
		{"watchers hear of progress", testProgress},
		{"compact", testCompact},
		{"watch what was compacted", testWatchCompacted},
		{"concurrent writers", testConcurrent},
		{"nothing after the end", testGuarded},
		{"linearizable", func(k *kit) { RunLinearizable(k.T, k.s) }},
		{"contexts end", testContexts},
		{"close", testClose},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := &kit{T: t, s: b.Open(t), ctx: t.Context()}
			defer func() {
				if err := k.s.Close(); err != nil && !errors.Is(err, storage.ErrClosed) {
					t.Errorf("close: %v", err)
				}
			}()
			test.run(k)
		})
	}
}

// kit is a test with a store.
type kit struct {
	*testing.T
	s   storage.Store
	ctx context.Context
}

// put writes a value and returns its revision.
func (k *kit) put(key string, expected storage.Revision, value string) storage.Revision {
	k.Helper()
	return k.commit(storage.Write{Key: key, Expected: expected, Value: []byte(value)})
}

func (k *kit) delete(key string, expected storage.Revision) storage.Revision {
	k.Helper()
	return k.commit(storage.Write{Key: key, Expected: expected})
}

func (k *kit) commit(writes ...storage.Write) storage.Revision {
	k.Helper()
	r, err := k.s.Commit(k.ctx, writes...)
	if err != nil {
		k.Fatalf("commit %v: %v", writes, err)
	}
	return r
}

// loses checks that a commit fails because of a key.
func (k *kit) loses(key string, found storage.Revision, writes ...storage.Write) {
	k.Helper()
	_, err := k.s.Commit(k.ctx, writes...)
	var conflict *storage.ConflictError
	if !errors.As(err, &conflict) {
		k.Fatalf("commit %v: received %v, want a conflict", writes, err)
	}
	if conflict.Key != key || conflict.Found != found {
		k.Errorf("commit %v loses on %s at %d, want %s at %d", writes, conflict.Key, conflict.Found, key, found)
	}
}

// has checks that an item is there; "" means that there is none.
func (k *kit) has(key, value string, revision storage.Revision) {
	k.Helper()
	item, err := k.s.Get(k.ctx, key)
	switch {
	case value == "" && !errors.Is(err, storage.ErrNotFound):
		k.Errorf("%s: received %v, %v, want no item", key, item, err)
	case value != "" && (err != nil || item.Key != key || string(item.Value) != value || item.Revision != revision):
		k.Errorf("%s: received %q at %d, %v, want %q at %d", key, item.Value, item.Revision, err, value, revision)
	}
}

// lists checks what a range has, as key=value.
func (k *kit) lists(r storage.Range, want ...string) storage.Page {
	k.Helper()
	page, err := k.s.List(k.ctx, r)
	if err != nil {
		k.Fatalf("list %+v: %v", r, err)
	}
	var got []string
	for _, item := range page.Items {
		got = append(got, fmt.Sprintf("%s=%s", item.Key, item.Value))
	}
	if !slices.Equal(got, want) {
		k.Errorf("list %+v: received %v, want %v", r, got, want)
	}
	return page
}

// watch starts a watch that ends with the test.
func (k *kit) watch(prefix string, after storage.Revision) storage.Watcher {
	k.Helper()
	w, err := k.s.Watch(k.ctx, prefix, after)
	if err != nil {
		k.Fatalf("watch %q after %d: %v", prefix, after, err)
	}
	k.Cleanup(w.Close)
	return w
}

// hears waits for events, and checks them: revision key=value before=previous.
func (k *kit) hears(w storage.Watcher, want ...string) {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, 10*time.Second)
	defer cancel()
	var got []string
	for len(got) < len(want) {
		batch, err := w.Next(ctx)
		if err != nil {
			k.Fatalf("after %v: %v, want %v", got, err, want)
		}
		for _, e := range batch.Events {
			if e.Revision > batch.Revision {
				k.Errorf("event %s of revision %d in a batch up to %d", e.Key, e.Revision, batch.Revision)
			}
			got = append(got, show(e))
		}
	}
	if !slices.Equal(got, want) {
		k.Errorf("received %v, want %v", got, want)
	}
}

func show(e storage.Event) string {
	value, previous := "gone", ""
	if !e.IsDelete() {
		value = string(e.Value)
	}
	if e.PreviousRevision > 0 {
		previous = fmt.Sprintf(" was %s@%d", e.Previous, e.PreviousRevision)
	}
	return fmt.Sprintf("%d %s=%s%s", e.Revision, e.Key, value, previous)
}
