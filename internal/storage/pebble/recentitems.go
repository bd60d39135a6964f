package pebble

import (
	"slices"

	"github.com/cadastre/cadastre/internal/storage"
)

// recentItems are the items that were written last, or that commits depended on, so that
// whoever writes them again need not wait for Pebble to find them, which costs as much as the
// rest of a commit. It is the committer's own.
type recentItems struct {
	items map[string]storage.Event
	// order has what was written, the oldest first. An item that was written again since is
	// in it more than once; only the last time counts.
	//
	//	len(items) <= len(order) <= 2*len(items) + someOrder
	order []written
	bytes int // that items have
	// since is a revision after which all that was written is among the items.
	since storage.Revision
}

type written struct {
	key      string
	revision storage.Revision
}

const (
	// recentItemBytes is how much is kept. A cache above holds the same values as long as
	// they are the latest, so that this costs little memory of its own.
	recentItemBytes = 64 << 20
	// someOrder is how many writes are worth no cleaning up.
	someOrder = 128
)

func recentSize(e storage.Event) int { return len(e.Key) + len(e.Value) + 128 }

// add notes what a commit did, and forgets what is too long ago.
func (r *recentItems) add(events []storage.Event) {
	if r.items == nil {
		r.items = map[string]storage.Event{}
	}
	for _, e := range events {
		if before, known := r.items[e.Key]; known {
			r.bytes -= recentSize(before)
		}
		e.Previous = nil // not needed, and not counted
		r.items[e.Key] = e
		r.bytes += recentSize(e)
		r.order = append(r.order, written{e.Key, e.Revision})
	}
	drop := 0
	for ; r.bytes > recentItemBytes; drop++ {
		if oldest := r.order[drop]; r.counts(oldest) {
			r.bytes -= recentSize(r.items[oldest.key])
			delete(r.items, oldest.key)
			r.since = max(r.since, oldest.revision)
		}
	}
	clear(r.order[:drop])
	r.order = r.order[drop:]
	if len(r.order) > 2*len(r.items)+someOrder {
		r.order = slices.DeleteFunc(r.order, func(w written) bool { return !r.counts(w) })
	}
}

// know notes an item that was written long ago, and is asked for now.
func (r *recentItems) know(item storage.Item) {
	if _, known := r.items[item.Key]; !known {
		r.add([]storage.Event{{Key: item.Key, Value: item.Value, Revision: item.Revision}})
	}
}

// counts reports whether that was the last time that the item was written.
func (r *recentItems) counts(w written) bool {
	e, known := r.items[w.key]
	return known && e.Revision == w.revision
}

// find returns the item as it was written last; known is false if that is too long ago.
func (r *recentItems) find(key string) (item storage.Item, known bool) {
	e, known := r.items[key]
	if !known || e.IsDelete() {
		return storage.Item{}, known
	}
	return storage.Item{Key: key, Value: e.Value, Revision: e.Revision}, true
}
