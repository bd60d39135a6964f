package local

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cadastre/cadastre/internal/store"
)

// What is known of an item is what was written last, and not everything is known.
func TestRecentItems(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	var recent recentItems
	last := map[string]store.Event{}
	known := 0
	for revision := range store.Revision(20_000) {
		e := store.Event{Key: fmt.Sprint(r.IntN(400)), Revision: revision + 1}
		if r.IntN(5) > 0 {
			e.Value = make([]byte, r.IntN(200_000))
		}
		recent.add([]store.Event{e})
		last[e.Key] = e
		key := fmt.Sprint(r.IntN(400))
		item, ok := recent.find(key)
		if !ok {
			continue
		}
		known++
		if want := last[key]; want.IsDelete() != (item.Revision == 0) || !want.IsDelete() && (item.Revision != want.Revision || len(item.Value) != len(want.Value)) {
			t.Fatalf("%s is known as %d, it is %d", key, item.Revision, want.Revision)
		}
		if recent.bytes > recentItemBytes {
			t.Fatalf("%d bytes are kept", recent.bytes)
		}
	}
	if known < 1000 || known > 19_000 || len(recent.order) > 1000 {
		t.Errorf("%d of 20000 were known, %d are in order", known, len(recent.order))
	}
}
