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

// model is what a store must be like, as plainly as can be: the list of all events.
type model struct {
	events    []storage.Event
	compacted storage.Revision
	revision  storage.Revision
}

func (m *model) commit(writes []storage.Write) (storage.Revision, error) {
	var events []storage.Event
	for _, w := range writes {
		there := m.get(w.Key, m.revision)
		if there.Revision != w.Expected {
			return 0, &storage.ConflictError{Key: w.Key, Expected: w.Expected, Found: there.Revision}
		}
		if w.Keep {
			continue
		}
		events = append(events, storage.Event{Key: w.Key, Value: w.Value, Revision: m.revision + 1, Previous: there.Value, PreviousRevision: there.Revision})
	}
	m.revision++
	m.events = append(m.events, events...)
	return m.revision, nil
}

// get returns the item at a revision; its own is 0 if there is none.
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

// RunModel does random operations on a store and on the model, and compares. Now and then the
// store is opened again: reopen closes or crashes it, and returns the one that is there then.
func RunModel(t *testing.T, b Backend, reopen func(t *testing.T, s storage.Store) storage.Store, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 0))
	k := &kit{T: t, s: b.Open(t), ctx: t.Context()}
	m := &model{}
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
			if now, err := k.s.Revision(k.ctx); err != nil || now != m.revision {
				t.Fatalf("opened again it is at revision %d, %v, want %d", now, err, m.revision)
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
	want, wantErr := m.commit(writes)
	got, err := k.s.Commit(k.ctx, writes...)
	if got != want || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		k.Errorf("commit %v: received %d, %v, want %d, %v", writes, got, err, want, wantErr)
	}
}

func (k *kit) compareGet(m *model, key string) {
	k.Helper()
	want := m.get(key, m.revision)
	k.has(key, string(want.Value), want.Revision)
}

func (k *kit) compareList(m *model, r storage.Range) {
	k.Helper()
	want, wantErr := m.list(r)
	got, err := k.s.List(k.ctx, r)
	if fmt.Sprint(got) != fmt.Sprint(want) || !errors.Is(err, wantErr) {
		k.Errorf("list %+v: received %v, %v, want %v, %v", r, got, err, want, wantErr)
	}
}

func (k *kit) compareWatch(m *model, prefix string, after storage.Revision) {
	k.Helper()
	w, err := k.s.Watch(k.ctx, prefix, after)
	if after < m.compacted {
		if !errors.Is(err, storage.ErrCompacted) {
			k.Errorf("watch after %d: %v, want ErrCompacted", after, err)
		}
		return
	}
	if err != nil {
		k.Errorf("watch after %d: %v", after, err)
		return
	}
	defer w.Close()
	var want []string
	for _, e := range m.after(prefix, after) {
		want = append(want, show(e))
	}
	k.hears(w, want...)
}

func (k *kit) compareCompact(m *model, revision storage.Revision) {
	k.Helper()
	err := k.s.Compact(k.ctx, revision)
	if revision > m.revision {
		if !errors.Is(err, storage.ErrFuture) {
			k.Errorf("compact at %d: %v, want ErrFuture", revision, err)
		}
		return
	}
	if err != nil {
		k.Errorf("compact at %d: %v", revision, err)
	}
	m.compacted = max(m.compacted, revision)
}
