package pebble

import (
	"slices"

	"github.com/cadastre/cadastre/internal/storage"
)

// recentItems is the committer's cache of the items that were recently written, or recently read for a condition
// (Write.Keep): finding an item in Pebble costs as much as the rest of a commit. Only the committer uses it.
type recentItems struct {
	items map[string]storage.Event
	// order lists the writes, the oldest first. An item that was written several times occurs several times in order, and
	// once in items, with its last version.
	//
	//	len(items) <= len(order) <= 2*len(items) + orderSlack
	order []writeRef
	bytes int // bytes is the total size of items
	// since is a revision: every item that was written at a greater revision is in items.
	since storage.Revision
}

type writeRef struct {
	key      string
	revision storage.Revision
}

const (
	// maxRecentItemBytes is the maximum size of the cache in bytes. The watch cache shares the values of current objects, so
	// this cache needs little memory of its own.
	maxRecentItemBytes = 64 << 20
	// orderSlack is the number of superseded writes in order beyond which order is cleaned up; see the invariant of
	// recentItems.order.
	orderSlack = 128
)

func recentItemSize(e storage.Event) int { return len(e.Key) + len(e.Value) + 128 }

// add adds events, the events of a commit, and evicts the oldest items until the cache is within maxRecentItemBytes.
func (r *recentItems) add(events []storage.Event) {
	if r.items == nil {
		r.items = map[string]storage.Event{}
	}
	for _, e := range events {
		if before, known := r.items[e.Key]; known {
			r.bytes -= recentItemSize(before)
		}
		e.Previous = nil // the cache does not need the previous value
		r.items[e.Key] = e
		r.bytes += recentItemSize(e)
		r.order = append(r.order, writeRef{e.Key, e.Revision})
	}
	drop := 0
	for ; r.bytes > maxRecentItemBytes; drop++ {
		if oldest := r.order[drop]; r.isLatest(oldest) {
			r.bytes -= recentItemSize(r.items[oldest.key])
			delete(r.items, oldest.key)
			r.since = max(r.since, oldest.revision)
		}
	}
	clear(r.order[:drop])
	r.order = r.order[drop:]
	if len(r.order) > 2*len(r.items)+orderSlack {
		r.order = slices.DeleteFunc(r.order, func(w writeRef) bool { return !r.isLatest(w) })
	}
}

// addRead adds item, which was read from disk. It has no effect if the cache already holds a version of the item, which is
// at least as new.
func (r *recentItems) addRead(item storage.Item) {
	if _, known := r.items[item.Key]; !known {
		r.add([]storage.Event{{Key: item.Key, Value: item.Value, Revision: item.Revision}})
	}
}

// isLatest reports whether w is the last write of its item, that is, the write in items.
func (r *recentItems) isLatest(w writeRef) bool {
	e, known := r.items[w.key]
	return known && e.Revision == w.revision
}

// find returns the latest version of the item with the given key; the zero Item if the item was deleted. known is false if
// the item is not in the cache.
func (r *recentItems) find(key string) (item storage.Item, known bool) {
	e, known := r.items[key]
	if !known || e.IsDelete() {
		return storage.Item{}, known
	}
	return storage.Item{Key: key, Value: e.Value, Revision: e.Revision}, true
}
