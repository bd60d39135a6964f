// Package storagetest is the conformance suite of package storage: the tests of every implementation call [Run], and
// [RunModel] if the store can be opened again.
//
//	suite.go            Run and the helpers of its tests
//	reads.go            tests of lists and watches
//	writes.go           tests of commits, of the end of contexts, and of Close
//	linearizability.go  random concurrent operations, checked with porcupine
//	model.go            random operations, compared with a model
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

// Backend is the implementation under test.
type Backend struct {
	// Open opens an empty store that no other process writes to. The suite closes it. Revisions may start anywhere and
	// have gaps.
	Open func(t *testing.T) storage.Store
}

// Run runs the suite.
func Run(t *testing.T, b Backend) {
	for _, test := range []struct {
		name string
		run  func(k *kit)
	}{
		{"get", testGet},
		{"create, update, delete", testWrites},
		{"transactions", testTransactions},
		{"conflicts", testConflicts},
		{"conditions", testConditions},
		{"invalid commits", testInvalidCommits},
		{"list", testList},
		{"pages", testPages},
		{"list at a revision", testListAtRevision},
		{"values", testValues},
		{"values are not modified", testValuesAreNotModified},
		{"watch from the past", testWatch},
		{"watch live", testWatchLive},
		{"watch a prefix", testWatchPrefix},
		{"watch batches", testWatchBatches},
		{"watch progress", testProgress},
		{"watch reaches the revision", testWatchReachesRevision},
		{"compact", testCompact},
		{"watch compacted history", testWatchCompacted},
		{"concurrent writers", testConcurrentWriters},
		{"concurrent conditions", testConcurrentConditions},
		{"linearizability", func(k *kit) { RunLinearizable(k.T, k.s) }},
		{"ended contexts", testContexts},
		{"close", testClose},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := newKit(t, b.Open(t))
			defer func() {
				if err := k.s.Close(); err != nil && !errors.Is(err, storage.ErrClosed) {
					t.Errorf("Close() = %v", err)
				}
			}()
			test.run(k)
		})
	}
}

// kit is a test with a store. Tests write revisions as numbers from 1 on, in the order of the commits that the kit made:
// an implementation may number its commits differently.
type kit struct {
	*testing.T
	s         storage.Store
	ctx       context.Context
	revisions []storage.Revision // of the empty store, then of the commits
}

func newKit(t *testing.T, s storage.Store) *kit {
	t.Helper()
	k := &kit{T: t, s: s, ctx: t.Context()}
	empty, err := s.Revision(k.ctx)
	if err != nil {
		t.Fatalf("Revision() = %v", err)
	}
	k.revisions = []storage.Revision{empty}
	return k
}

// at returns the revision of the n-th commit; 0 is that of the empty store.
func (k *kit) at(n int) storage.Revision { return k.revisions[n] }

// number returns the number of a commit, -1 if the kit did not make it.
func (k *kit) number(r storage.Revision) int { return slices.Index(k.revisions, r) }

// put writes a value and returns its revision.
func (k *kit) put(key string, expected storage.Revision, value string) storage.Revision {
	k.Helper()
	return k.commit(storage.Write{Key: key, Expected: expected, Value: []byte(value)})
}

// delete deletes an item and returns the revision of the commit.
func (k *kit) delete(key string, expected storage.Revision) storage.Revision {
	k.Helper()
	return k.commit(storage.Write{Key: key, Expected: expected})
}

// commit makes a commit that must succeed.
func (k *kit) commit(writes ...storage.Write) storage.Revision {
	k.Helper()
	r, err := k.s.Commit(k.ctx, writes...)
	if err != nil {
		k.Fatalf("Commit(%v) = %v", writes, err)
	}
	if last := k.revisions[len(k.revisions)-1]; r <= last {
		k.Fatalf("Commit(%v) = revision %d, want one greater than %d", writes, r, last)
	}
	k.revisions = append(k.revisions, r)
	return r
}

// wantConflict makes a commit that must fail with a conflict about a key.
func (k *kit) wantConflict(key string, found storage.Revision, writes ...storage.Write) {
	k.Helper()
	_, err := k.s.Commit(k.ctx, writes...)
	var conflict *storage.ConflictError
	if !errors.As(err, &conflict) {
		k.Fatalf("Commit(%v) = %v, want a conflict", writes, err)
	}
	if conflict.Key != key || conflict.Found != found {
		k.Errorf("Commit(%v): conflict about %s at revision %d, want %s at %d", writes, conflict.Key, conflict.Found, key, found)
	}
}

// wantItem checks the item of a key; the value "" means that there must be none.
func (k *kit) wantItem(key, value string, revision storage.Revision) {
	k.Helper()
	item, err := k.s.Get(k.ctx, key)
	switch {
	case value == "" && !errors.Is(err, storage.ErrNotFound):
		k.Errorf("Get(%q) = %v, %v, want %v", key, item, err, storage.ErrNotFound)
	case value != "" && (err != nil || item.Key != key || string(item.Value) != value || item.Revision != revision):
		k.Errorf("Get(%q) = %q at revision %d, %v, want %q at %d", key, item.Value, item.Revision, err, value, revision)
	}
}

// wantList checks the items of a range, each written as key=value.
func (k *kit) wantList(r storage.Range, want ...string) storage.Page {
	k.Helper()
	page, err := k.s.List(k.ctx, r)
	if err != nil {
		k.Fatalf("List(%+v) = %v", r, err)
	}
	var got []string
	for _, item := range page.Items {
		got = append(got, fmt.Sprintf("%s=%s", item.Key, item.Value))
	}
	if !slices.Equal(got, want) {
		k.Errorf("List(%+v) = %v, want %v", r, got, want)
	}
	return page
}

// watch starts a watch that is closed at the end of the test.
func (k *kit) watch(prefix string, after storage.Revision) storage.Watcher {
	k.Helper()
	w, err := k.s.Watch(k.ctx, prefix, after)
	if err != nil {
		k.Fatalf("Watch(%q, %d) = %v", prefix, after, err)
	}
	k.Cleanup(w.Close)
	return w
}

// watchTimeout is the maximum time that a test waits for events.
const watchTimeout = 20 * time.Second

// wantEvents reads events until there are as many as expected and compares them, in the form of format.
func (k *kit) wantEvents(w storage.Watcher, want ...string) {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, watchTimeout)
	defer cancel()
	var got []string
	for len(got) < len(want) {
		batch, err := w.Next(ctx)
		if err != nil {
			k.Fatalf("Next() = %v after the events %v, want %v", err, got, want)
		}
		for _, e := range batch.Events {
			if e.Revision > batch.Revision {
				k.Errorf("Next(): the event of %s has revision %d, the batch %d", e.Key, e.Revision, batch.Revision)
			}
			got = append(got, k.format(e))
		}
	}
	if !slices.Equal(got, want) {
		k.Errorf("Next(): events %v, want %v", got, want)
	}
}

// format returns an event as NUMBER KEY=VALUE, with the previous value as VALUE@NUMBER. A deleted item has the value "deleted".
func (k *kit) format(e storage.Event) string {
	value, previous := "deleted", ""
	if !e.IsDelete() {
		value = string(e.Value)
	}
	if e.PreviousRevision > 0 {
		previous = fmt.Sprintf(" was %s@%d", e.Previous, k.number(e.PreviousRevision))
	}
	return fmt.Sprintf("%d %s=%s%s", k.number(e.Revision), e.Key, value, previous)
}
