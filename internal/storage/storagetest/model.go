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

// model is the plainest implementation of a store: the list of all events. It takes the revisions of commits from the store
// that it is compared with.
type model struct {
	events    []storage.Event
	compacted storage.Revision
	revision  storage.Revision
}

// check returns the conflict of a commit, nil if it succeeds.
func (m *model) check(writes []storage.Write) error {
	for _, w := range writes {
		if item := m.get(w.Key, m.revision); item.Revision != w.Expected {
			return &storage.ConflictError{Key: w.Key, Expected: w.Expected, Found: item.Revision}
		}
	}
	return nil
}

// apply applies a commit that succeeded at a revision.
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

// get returns the item of a key at a revision; the zero Item if there is none.
func (m *model) get(key string, at storage.Revision) storage.Item {
	for _, e := range slices.Backward(m.events) {
		if e.Key == key && e.Revision <= at {
			if e.IsDelete() {
				return storage.Item{}
			}
			return storage.Item{Key: key, Value: e.Value, Revision: e.Revision}
		}
	}
	return storage.Item{}
}

// list implements List.
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

// after returns the events of keys with a prefix after a revision.
func (m *model) after(prefix string, revision storage.Revision) []storage.Event {
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

// RunModel makes random operations on a store and on a model, and compares the results. Now and then the store is opened
// again: reopen closes or crashes it and returns the store that was opened then.
func RunModel(t *testing.T, b Backend, reopen func(t *testing.T, s storage.Store) storage.Store, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 0))
	k := newKit(t, b.Open(t))
	m := &model{revision: k.at(0), compacted: k.at(0)}
	defer func() {
		if err := k.s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	}()
	for range steps {
		switch n := r.IntN(100); {
		case n < 60:
			k.compareCommit(m, randomWrites(r, m))
		case n < 70:
			k.compareGet(m, randomKey(r))
		case n < 82:
			k.compareList(m, randomRange(r, m))
		case n < 94:
			k.compareWatch(m, randomPrefix(r), storage.Revision(r.Int64N(int64(m.revision)+1)))
		case n < 97:
			k.compareCompact(m, storage.Revision(r.Int64N(int64(m.revision)+2)))
		default:
			k.s = reopen(t, k.s)
			if now, err := k.s.Revision(k.ctx); err != nil || now < m.revision {
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

func (k *kit) compareCommit(m *model, writes []storage.Write) {
	k.Helper()
	want := m.check(writes)
	if want == nil {
		m.apply(writes, k.commit(writes...))
		return
	}
	if _, err := k.s.Commit(k.ctx, writes...); fmt.Sprint(err) != fmt.Sprint(want) {
		k.Errorf("Commit(%v) = %v, want %v", writes, err, want)
	}
}

func (k *kit) compareGet(m *model, key string) {
	k.Helper()
	want := m.get(key, m.revision)
	k.wantItem(key, string(want.Value), want.Revision)
}

func (k *kit) compareList(m *model, r storage.Range) {
	k.Helper()
	want, wantErr := m.list(r)
	got, err := k.s.List(k.ctx, r)
	if fmt.Sprint(got) != fmt.Sprint(want) || !errors.Is(err, wantErr) {
		k.Errorf("List(%+v) = %v, %v, want %v, %v", r, got, err, want, wantErr)
	}
}

func (k *kit) compareWatch(m *model, prefix string, after storage.Revision) {
	k.Helper()
	w, err := k.s.Watch(k.ctx, prefix, after)
	if err == nil {
		defer w.Close()
	}
	if after < m.compacted {
		if err == nil {
			_, err = w.Next(k.ctx)
		}
		if !errors.Is(err, storage.ErrCompacted) {
			k.Errorf("Watch() after revision %d = %v, want %v", after, err, storage.ErrCompacted)
		}
		return
	}
	if err != nil {
		k.Errorf("Watch() after revision %d = %v", after, err)
		return
	}
	var want []string
	for _, e := range m.after(prefix, after) {
		want = append(want, k.format(e))
	}
	k.wantEvents(w, want...)
}

func (k *kit) compareCompact(m *model, revision storage.Revision) {
	k.Helper()
	err := k.s.Compact(k.ctx, revision)
	if revision > m.revision {
		if !errors.Is(err, storage.ErrFuture) {
			k.Errorf("Compact(%d) = %v, want %v", revision, err, storage.ErrFuture)
		}
		return
	}
	if err != nil {
		k.Errorf("Compact(%d) = %v", revision, err)
	}
	m.compacted = max(m.compacted, revision)
}
