package local

import "github.com/cadastre/cadastre/internal/store"

// recentItems are the items that were written last, so that whoever writes them again need not
// wait for Pebble to find them. It is the committer's own.
type recentItems struct {
	items map[string]store.Event
	// order has what was written, the oldest first; bytes is how much that is.
	order []written
	bytes int
}

type written struct {
	key      string
	revision store.Revision
	bytes    int
}

// recentItemBytes is how much is kept.
const recentItemBytes = 16 << 20

// add notes what a commit did, and forgets what is too long ago.
func (r *recentItems) add(events []store.Event) {
	if r.items == nil {
		r.items = map[string]store.Event{}
	}
	for _, e := range events {
		size := len(e.Key) + len(e.Value) + 128
		e.Previous = nil // not needed, and not counted
		r.items[e.Key] = e
		r.order = append(r.order, written{e.Key, e.Revision, size})
		r.bytes += size
	}
	drop := 0
	for ; r.bytes > recentItemBytes; drop++ {
		oldest := r.order[drop]
		if r.items[oldest.key].Revision == oldest.revision {
			delete(r.items, oldest.key)
		}
		r.bytes -= oldest.bytes
	}
	if drop > 0 {
		clear(r.order[:drop])
		r.order = r.order[drop:]
	}
}

// find returns the item as it was written last; known is false if that is too long ago.
func (r *recentItems) find(key string) (item store.Item, known bool) {
	e, known := r.items[key]
	if !known || e.IsDelete() {
		return store.Item{}, known
	}
	return store.Item{Key: key, Value: e.Value, Revision: e.Revision}, true
}
