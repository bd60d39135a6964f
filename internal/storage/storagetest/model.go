package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// model is a reference implementation of a store that holds the list of all events. The revisions of its commits are
// those that the store under test assigned.
type model struct {
	events    []storage.Event
	compacted storage.Revision
	revision  storage.Revision
}

// check returns the ConflictError with which a commit of writes must fail; nil if the commit must succeed.
func (m *model) check(writes []storage.Write) error {
	for _, w := range writes {
		if item := m.get(w.Key, m.revision); item.Revision != w.Expected {
			return &storage.ConflictError{Key: w.Key, Expected: w.Expected, Found: item.Revision}
		}
	}
	return nil
}

// apply adds the events of a commit of writes that succeeded at revision.
func (m *model) apply(writes []storage.Write, revision storage.Revision) {
	var events []storage.Event
	for _, w := range writes {
		if item := m.get(w.Key, m.revision); !w.Keep {
			events = append(events, storage.Event{Key: w.Key, Value: w.Value, Revision: revision, Previous: item.Value, PreviousRevision: item.Revision})
		}
	}
	m.events = append(m.events, events...)
	m.revision = revision
}

// get returns the item with the given key at revision; the zero Item if the item did not exist at that revision.
func (m *model) get(key string, revision storage.Revision) storage.Item {
	for _, e := range slices.Backward(m.events) {
		if e.Key == key && e.Revision <= revision {
			if e.IsDelete() {
				return storage.Item{}
			}
			return storage.Item{Key: key, Value: e.Value, Revision: e.Revision}
		}
	}
	return storage.Item{}
}

// list returns the result that Store.List must return for r.
func (m *model) list(r storage.Range) (storage.Page, error) {
	switch {
	case r.Revision > m.revision:
		return storage.Page{}, storage.ErrFuture
	case r.Revision == 0:
		r.Revision = m.revision
	case r.Revision < m.compacted:
		return storage.Page{}, storage.ErrCompacted
	}
	keys := map[string]bool{}
	for _, e := range m.events {
		if strings.HasPrefix(e.Key, r.Prefix) && e.Key > r.After {
			keys[e.Key] = true
		}
	}
	page := storage.Page{Revision: r.Revision}
	for _, key := range sorted(keys) {
		item := m.get(key, r.Revision)
		if item.Revision == 0 {
			continue
		}
		if r.Limit > 0 && len(page.Items) == r.Limit {
			page.More = true
			break
		}
		page.Items = append(page.Items, item)
	}
	return page, nil
}

// eventsAfter returns all events with greater revisions than revision whose keys start with prefix.
func (m *model) eventsAfter(prefix string, revision storage.Revision) []storage.Event {
	var events []storage.Event
	for _, e := range m.events {
		if strings.HasPrefix(e.Key, prefix) && e.Revision > revision {
			events = append(events, e)
		}
	}
	return events
}

func sorted(keys map[string]bool) []string {
	var out []string
	for key := range keys {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}

// RunModel runs random operations on a store and on a reference model, and compares the results. Now and then it calls
// reopen, which closes or crashes the store s and returns the reopened store.
func RunModel(t *testing.T, b Backend, reopen func(t *testing.T, s storage.Store) storage.Store, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 0))
	h := newHarness(t, b.Open(t))
	m := &model{revision: h.at(0), compacted: h.at(0)}
	defer func() {
		if err := h.s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	for range steps {
		switch n := r.IntN(100); {
		case n < 60:
			h.compareCommit(m, randomWrites(r, m))
		case n < 70:
			h.compareGet(m, randomKey(r))
		case n < 82:
			h.compareList(m, randomRange(r, m))
		case n < 94:
			h.compareWatch(m, randomPrefix(r), storage.Revision(r.Int64N(int64(m.revision)+1)))
		case n < 97:
			h.compareCompact(m, storage.Revision(r.Int64N(int64(m.revision)+2)))
		default:
			h.s = reopen(t, h.s)
			if now, err := h.s.Revision(h.ctx); err != nil || now < m.revision {
				t.Fatalf("Revision() after reopening = %d, %v, want at least %d", now, err, m.revision)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func randomKey(r *rand.Rand) string {
	return []string{"a", "b", "b/", "b/1"}[r.IntN(4)] + []string{"", "x", "y\xff", "\x01"}[r.IntN(4)]
}

func randomPrefix(r *rand.Rand) string {
	return []string{"", "a", "b", "b/", "b/1", "b/1y", "c"}[r.IntN(7)]
}

func randomRange(r *rand.Rand, m *model) storage.Range {
	out := storage.Range{Prefix: randomPrefix(r), Limit: r.IntN(5)}
	if r.IntN(2) == 0 {
		out.After = randomKey(r)
	}
	if r.IntN(2) == 0 {
		out.Revision = storage.Revision(r.Int64N(int64(m.revision) + 2))
	}
	return out
}

func randomWrites(r *rand.Rand, m *model) []storage.Write {
	keys := map[string]bool{}
	for range 1 + r.IntN(3) {
		keys[randomKey(r)] = true
	}
	var writes []storage.Write
	for _, key := range sorted(keys) {
		w := storage.Write{Key: key, Expected: m.get(key, m.revision).Revision}
		if r.IntN(8) == 0 {
			w.Expected = storage.Revision(r.Int64N(int64(m.revision) + 1))
		}
		if at := storage.Revision(r.Int64N(int64(m.revision) + 1)); m.get(key, at).Revision == w.Expected {
			w.Seen = at
		}
		switch {
		case len(writes) > 0 && r.IntN(4) == 0:
			w.Keep = true
		case w.Expected == 0 || r.IntN(3) > 0:
			w.Value = bytes.Repeat([]byte{byte('a' + r.IntN(26))}, 1+r.IntN(40))
		}
		writes = append(writes, w)
	}
	return writes
}

func (h *harness) compareCommit(m *model, writes []storage.Write) {
	h.Helper()
	want := m.check(writes)
	if want == nil {
		m.apply(writes, h.commit(writes...))
		return
	}
	if _, err := h.s.Commit(h.ctx, writes...); fmt.Sprint(err) != fmt.Sprint(want) {
		h.Errorf("Commit(%v) = %v, want %v", writes, err, want)
	}
}

func (h *harness) compareGet(m *model, key string) {
	h.Helper()
	want := m.get(key, m.revision)
	h.wantItem(key, string(want.Value), want.Revision)
}

func (h *harness) compareList(m *model, r storage.Range) {
	h.Helper()
	want, wantErr := m.list(r)
	got, err := h.s.List(h.ctx, r)
	if fmt.Sprint(got) != fmt.Sprint(want) || !errors.Is(err, wantErr) {
		h.Errorf("List(%+v) = %v, %v, want %v, %v", r, got, err, want, wantErr)
	}
}

func (h *harness) compareWatch(m *model, prefix string, after storage.Revision) {
	h.Helper()
	w, err := h.s.Watch(h.ctx, prefix, after)
	if err == nil {
		defer w.Close()
	}
	if after+1 == m.compacted {
		return // a store may still have the compacted revision itself
	}
	if after < m.compacted {
		if err == nil {
			_, err = w.Next(h.ctx)
		}
		if !errors.Is(err, storage.ErrCompacted) {
			h.Errorf("Watch() after revision %d = %v, want %v", after, err, storage.ErrCompacted)
		}
		return
	}
	if err != nil {
		h.Errorf("Watch() after revision %d: error = %v, want nil", after, err)
		return
	}
	var want []string
	for _, e := range m.eventsAfter(prefix, after) {
		want = append(want, h.format(e))
	}
	h.wantEvents(w, want...)
}

func (h *harness) compareCompact(m *model, revision storage.Revision) {
	h.Helper()
	err := h.s.Compact(h.ctx, revision)
	if revision > m.revision {
		if !errors.Is(err, storage.ErrFuture) {
			h.Errorf("Compact(%d) = %v, want %v", revision, err, storage.ErrFuture)
		}
		return
	}
	if err != nil {
		h.Errorf("Compact(%d): error = %v, want nil", revision, err)
	}
	m.compacted = max(m.compacted, revision)
}
