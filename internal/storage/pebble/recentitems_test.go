package pebble

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// TestRecentItems: find returns the last version of an item or reports it as unknown, and the cache stays within its maximum
// size.
func TestRecentItems(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	text := make([]byte, maxRecentItemBytes/100)
	var recent recentItems
	last := map[string]storage.Event{}
	known := 0
	for revision := range storage.Revision(20_000) {
		e := storage.Event{Key: fmt.Sprint(r.IntN(400)), Revision: revision + 1}
		if r.IntN(5) > 0 {
			e.Value = text[:r.IntN(len(text))]
		}
		recent.add([]storage.Event{e})
		last[e.Key] = e
		if recent.bytes > maxRecentItemBytes || recent.bytes != recent.sum() {
			t.Fatalf("recent.bytes = %d, want the sum %d, at most %d", recent.bytes, recent.sum(), maxRecentItemBytes)
		}
		key := fmt.Sprint(r.IntN(400))
		item, ok := recent.find(key)
		if !ok {
			continue
		}
		known++
		if want := last[key]; want.IsDelete() != (item.Revision == 0) || !want.IsDelete() && (item.Revision != want.Revision || len(item.Value) != len(want.Value)) {
			t.Fatalf("find(%q) = revision %d, want %d", key, item.Revision, want.Revision)
		}
	}
	if known < 1000 || known > 19_000 || len(recent.order) > 1000 {
		t.Errorf("find() found %d of 20000 items with %d entries in order, want 1000 to 19000 with at most 1000", known, len(recent.order))
	}
}

func (r *recentItems) sum() (bytes int) {
	for _, e := range r.items {
		bytes += recentItemSize(e)
	}
	return bytes
}

// TestRecentItemsFrequentWrites: frequent writes of one item do not evict other items.
func TestRecentItemsFrequentWrites(t *testing.T) {
	var recent recentItems
	value := make([]byte, maxRecentItemBytes/1000)
	recent.add([]storage.Event{{Key: "seldom", Value: value, Revision: 1}})
	for revision := range storage.Revision(100_000) {
		recent.add([]storage.Event{{Key: "often", Value: value, Revision: revision + 2}})
	}
	for _, key := range []string{"seldom", "often"} {
		if _, known := recent.find(key); !known {
			t.Errorf("find(%q) = not known, want the item", key)
		}
	}
	if len(recent.order) > 1000 {
		t.Errorf("order has %d entries for 2 items, want at most 1000", len(recent.order))
	}
}

// TestRecentItemsOfConditions: an item that was read for a condition is added to the cache, unless the cache holds a newer
// version.
func TestRecentItemsOfConditions(t *testing.T) {
	s := open(t, Options{})
	defer s.Close()
	guard, err := s.Commit(t.Context(), storage.Write{Key: "guard", Value: []byte("1")})
	if err != nil {
		t.Fatal(err)
	}
	s.recent = recentItems{}
	if _, err := s.Commit(t.Context(), storage.Write{Key: "guard", Expected: guard, Keep: true}, storage.Write{Key: "a", Value: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	item, known := s.recent.find("guard")
	if !known || item.Revision != guard || string(item.Value) != "1" || s.recent.bytes != s.recent.sum() {
		t.Errorf("find() = %v, %v, bytes = %d, want revision %d, true, %d", item, known, s.recent.bytes, guard, s.recent.sum())
	}
	s.recent.addRead(storage.Item{Key: "guard", Value: []byte("0"), Revision: guard - 1})
	if item, _ := s.recent.find("guard"); item.Revision != guard {
		t.Errorf("find() = %v, want revision %d", item, guard)
	}
}

// TestWriteSeen: the committer relies on Write.Seen instead of reading the item only if its cache contains all writes after
// Seen.
func TestWriteSeen(t *testing.T) {
	s := open(t, Options{})
	defer s.Close()
	first, err := s.Commit(t.Context(), storage.Write{Key: "a", Value: []byte("1")})
	if err != nil {
		t.Fatal(err)
	}
	s.recent = recentItems{since: first} // this cache simulates that item a was evicted
	for _, test := range []struct {
		seen     storage.Revision
		conflict bool
	}{
		{0, true},
		{first - 1, true}, // Seen precedes the write of a, so the committer looks a up
		{first, false},    // a wrong Seen: the commit succeeds, because the committer does not look a up
	} {
		_, err := s.Commit(t.Context(), storage.Write{Key: "a", Seen: test.seen, Value: []byte("2")})
		if conflict := err != nil; conflict != test.conflict {
			t.Errorf("Commit() with Seen %d = %v, want a conflict: %v", test.seen, err, test.conflict)
		}
	}
	value := make([]byte, maxRecentItemBytes/8)
	var last storage.Revision
	for i := range 10 {
		if last, err = s.Commit(t.Context(), storage.Write{Key: fmt.Sprint("b", i), Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	if s.recent.since <= first || s.recent.since >= last {
		t.Errorf("since = %d, want a revision between %d and %d", s.recent.since, first, last)
	}
}
