package pebble

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cadastre/cadastre/internal/storage"
)

// What is known of an item is what was written last, and not everything is known.
func TestRecentItems(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	text := make([]byte, recentItemBytes/100)
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
		if recent.bytes > recentItemBytes || recent.bytes != recent.sum() {
			t.Fatalf("%d bytes are kept, %d are counted", recent.sum(), recent.bytes)
		}
		key := fmt.Sprint(r.IntN(400))
		item, ok := recent.find(key)
		if !ok {
			continue
		}
		known++
		if want := last[key]; want.IsDelete() != (item.Revision == 0) || !want.IsDelete() && (item.Revision != want.Revision || len(item.Value) != len(want.Value)) {
			t.Fatalf("%s is known as %d, it is %d", key, item.Revision, want.Revision)
		}
	}
	if known < 1000 || known > 19_000 || len(recent.order) > 1000 {
		t.Errorf("%d of 20000 were known, %d are in order", known, len(recent.order))
	}
}

func (r *recentItems) sum() (bytes int) {
	for _, e := range r.items {
		bytes += recentSize(e)
	}
	return bytes
}

// One item that is written all the time takes no room from the others.
func TestRecentItemsOftenWritten(t *testing.T) {
	var recent recentItems
	value := make([]byte, recentItemBytes/1000)
	recent.add([]storage.Event{{Key: "seldom", Value: value, Revision: 1}})
	for revision := range storage.Revision(100_000) {
		recent.add([]storage.Event{{Key: "often", Value: value, Revision: revision + 2}})
	}
	for _, key := range []string{"seldom", "often"} {
		if _, known := recent.find(key); !known {
			t.Errorf("%s is not known", key)
		}
	}
	if len(recent.order) > 1000 {
		t.Errorf("%d are in order for 2 items", len(recent.order))
	}
}

// What a commit depended on is known from then on, unless something newer is.
func TestRecentItemsDependedOn(t *testing.T) {
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
		t.Errorf("the guard is known as %v, %v, in %d bytes of %d", item, known, s.recent.bytes, s.recent.sum())
	}
	s.recent.know(storage.Item{Key: "guard", Value: []byte("0"), Revision: guard - 1})
	if item, _ := s.recent.find("guard"); item.Revision != guard {
		t.Errorf("the guard is known as %v", item)
	}
}

// What was forgotten is looked for, whoever has seen what: only what was written since is known.
func TestRecentItemsSeen(t *testing.T) {
	s := open(t, Options{})
	defer s.Close()
	first, err := s.Commit(t.Context(), storage.Write{Key: "a", Value: []byte("1")})
	if err != nil {
		t.Fatal(err)
	}
	s.recent = recentItems{since: first} // a has been forgotten
	for _, test := range []struct {
		seen storage.Revision
		lost bool
	}{
		{0, true},
		{first - 1, true}, // before a was written
		{first, false},    // a lie, which shows that nobody looked
	} {
		_, err := s.Commit(t.Context(), storage.Write{Key: "a", Seen: test.seen, Value: []byte("2")})
		if lost := err != nil; lost != test.lost {
			t.Errorf("seen %d: received %v", test.seen, err)
		}
	}
	value := make([]byte, recentItemBytes/8)
	var last storage.Revision
	for i := range 10 {
		if last, err = s.Commit(t.Context(), storage.Write{Key: fmt.Sprint("b", i), Value: value}); err != nil {
			t.Fatal(err)
		}
	}
	if s.recent.since <= first || s.recent.since >= last {
		t.Errorf("all is known since %d, want a revision between %d and %d", s.recent.since, first, last)
	}
}
