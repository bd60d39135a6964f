// Package storagetest is the conformance suite of package storage: the tests of every implementation call [Run], and
// [RunModel] if the store can be reopened.
//
//	suite.go            Run and the helpers of its tests
//	reads.go            tests of lists and watches
//	writes.go           tests of commits, of ended contexts, and of Close
//	linearizability.go  random concurrent operations, checked with porcupine
//	model.go            random operations, compared with a reference model
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
	// Open returns an empty store that no other process writes to. The suite closes it. Its revisions may start at any number
	// and have gaps.
	Open func(t *testing.T) storage.Store
}

// Run runs all tests of the suite, each with an empty store.
func Run(t *testing.T, b Backend) {
	for _, test := range []struct {
		name string
		run  func(h *harness)
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
		{"linearizability", func(h *harness) { RunLinearizable(h.T, h.s) }},
		{"ended contexts", testContexts},
		{"close", testClose},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHarness(t, b.Open(t))
			defer func() {
				if err := h.s.Close(); err != nil && !errors.Is(err, storage.ErrClosed) {
					t.Errorf("Close() = %v, want nil", err)
				}
			}()
			test.run(h)
		})
	}
}

// harness is a running test with its store. Because implementations may number their commits differently, tests refer to a
// commit by a number that is independent of its revision: 1 is the first commit that the harness made.
type harness struct {
	*testing.T
	s         storage.Store
	ctx       context.Context
	revisions []storage.Revision // the revision of the empty store, followed by the revisions of the commits
}

func newHarness(t *testing.T, s storage.Store) *harness {
	t.Helper()
	h := &harness{T: t, s: s, ctx: t.Context()}
	empty, err := s.Revision(h.ctx)
	if err != nil {
		t.Fatalf("Revision(): error = %v, want nil", err)
	}
	h.revisions = []storage.Revision{empty}
	return h
}

// at returns the revision of the n-th commit; at(0) is the revision of the empty store.
func (h *harness) at(n int) storage.Revision { return h.revisions[n] }

// number returns n such that at(n) is r; -1 if the harness made no commit at r.
func (h *harness) number(r storage.Revision) int { return slices.Index(h.revisions, r) }

// put commits a write of value to key, with the given expected revision, and returns the revision of the commit.
func (h *harness) put(key string, expected storage.Revision, value string) storage.Revision {
	h.Helper()
	return h.commit(storage.Write{Key: key, Expected: expected, Value: []byte(value)})
}

// delete commits a deletion of key, with the given expected revision, and returns the revision of the commit.
func (h *harness) delete(key string, expected storage.Revision) storage.Revision {
	h.Helper()
	return h.commit(storage.Write{Key: key, Expected: expected})
}

// commit commits writes and returns the revision of the commit. The commit must succeed, at a greater revision than the
// previous commit.
func (h *harness) commit(writes ...storage.Write) storage.Revision {
	h.Helper()
	r, err := h.s.Commit(h.ctx, writes...)
	if err != nil {
		h.Fatalf("Commit(%v): error = %v, want nil", writes, err)
	}
	if last := h.revisions[len(h.revisions)-1]; r <= last {
		h.Fatalf("Commit(%v) = revision %d, want a revision greater than %d", writes, r, last)
	}
	h.revisions = append(h.revisions, r)
	return r
}

// wantConflict commits writes, which must fail with a ConflictError whose Key is key and whose Found is found.
func (h *harness) wantConflict(key string, found storage.Revision, writes ...storage.Write) {
	h.Helper()
	_, err := h.s.Commit(h.ctx, writes...)
	var conflict *storage.ConflictError
	if !errors.As(err, &conflict) {
		h.Fatalf("Commit(%v) = %v, want a conflict", writes, err)
	}
	if conflict.Key != key || conflict.Found != found {
		h.Errorf("Commit(%v): conflict about %s at revision %d, want %s at %d", writes, conflict.Key, conflict.Found, key, found)
	}
}

// wantItem checks the value and the revision of the item with the given key; the value "" means that the item must not
// exist.
func (h *harness) wantItem(key, value string, revision storage.Revision) {
	h.Helper()
	item, err := h.s.Get(h.ctx, key)
	switch {
	case value == "" && !errors.Is(err, storage.ErrNotFound):
		h.Errorf("Get(%q) = %v, %v, want %v", key, item, err, storage.ErrNotFound)
	case value != "" && (err != nil || item.Key != key || string(item.Value) != value || item.Revision != revision):
		h.Errorf("Get(%q) = %q at revision %d, %v, want %q at %d", key, item.Value, item.Revision, err, value, revision)
	}
}

// wantList checks that List(r) returns the items want, each formatted as key=value, and returns the page.
func (h *harness) wantList(r storage.Range, want ...string) storage.Page {
	h.Helper()
	page, err := h.s.List(h.ctx, r)
	if err != nil {
		h.Fatalf("List(%+v): error = %v, want nil", r, err)
	}
	var got []string
	for _, item := range page.Items {
		got = append(got, fmt.Sprintf("%s=%s", item.Key, item.Value))
	}
	if !slices.Equal(got, want) {
		h.Errorf("List(%+v) = %v, want %v", r, got, want)
	}
	return page
}

// watch starts a watch that is closed at the end of the test.
func (h *harness) watch(prefix string, after storage.Revision) storage.Watcher {
	h.Helper()
	w, err := h.s.Watch(h.ctx, prefix, after)
	if err != nil {
		h.Fatalf("Watch(%q, %d): error = %v, want nil", prefix, after, err)
	}
	h.Cleanup(w.Close)
	return w
}

// watchTimeout is the maximum time that a test waits for expected events.
const watchTimeout = 20 * time.Second

// wantEvents reads len(want) events from w, formats them with format, and compares them with want.
func (h *harness) wantEvents(w storage.Watcher, want ...string) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.ctx, watchTimeout)
	defer cancel()
	var got []string
	for len(got) < len(want) {
		batch, err := w.Next(ctx)
		if err != nil {
			h.Fatalf("Next() = %v after the events %v, want %v", err, got, want)
		}
		for _, e := range batch.Events {
			if e.Revision > batch.Revision {
				h.Errorf("Next(): the event of %s has revision %d, want at most %d, the revision of the batch", e.Key, e.Revision, batch.Revision)
			}
			got = append(got, h.format(e))
		}
	}
	if !slices.Equal(got, want) {
		h.Errorf("Next(): events %v, want %v", got, want)
	}
}

// format formats an event as "N KEY=VALUE", followed by " was VALUE@N" if the item existed before; N is the number of a
// commit. The VALUE of a deletion is "deleted".
func (h *harness) format(e storage.Event) string {
	value, previous := "deleted", ""
	if !e.IsDelete() {
		value = string(e.Value)
	}
	if e.PreviousRevision > 0 {
		previous = fmt.Sprintf(" was %s@%d", e.Previous, h.number(e.PreviousRevision))
	}
	return fmt.Sprintf("%d %s=%s%s", h.number(e.Revision), e.Key, value, previous)
}
