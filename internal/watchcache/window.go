package watchcache

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/cadastre/cadastre/internal/storage"
)

// event is the change of one object by a commit, as held in the event window.
type event struct {
	resource *resourceCache
	revision storage.Revision
	// before is nil if the object was created, after is nil if it was deleted.
	before, after *Object
	// nodes is the memory, in bytes, of the tree nodes that were copied for the change: snapshots may keep the old nodes
	// alive.
	nodes int
	// deleted caches the result of deletedObject.
	deleted atomic.Pointer[Object]
}

// key returns the key of the changed object.
func (e *event) key() string {
	if e.after != nil {
		return e.after.key
	}
	return e.before.key
}

// deletedObject returns the version before the change with the revision of the event, for DELETED events. All calls return one
// shared Object, so that it is encoded only once.
func (e *event) deletedObject() *Object {
	if o := e.deleted.Load(); o != nil {
		return o
	}
	e.deleted.CompareAndSwap(nil, e.before.WithRevision(e.revision))
	return e.deleted.Load()
}

// size returns the approximate memory, in bytes, that only this event keeps alive.
func (e *event) size() int {
	const overhead = 256 // overhead is the memory of the event itself and of its entries in the window and in topics
	if e.before == nil {
		return overhead + e.nodes
	}
	return overhead + e.nodes + e.before.size()
}

// events is a queue of events in the order of revisions. Each event has a number, which is never reused. A watcher remembers the
// number of its next event, and so detects that events were dropped.
type events struct {
	list  []*event
	first int64 // first is the number of list[0]
}

func (e *events) end() int64 { return e.first + int64(len(e.list)) }

// prepend inserts the events earlier before the first event. The numbers of the existing events do not change.
func (e *events) prepend(earlier []*event) {
	e.list = slices.Concat(earlier, e.list)
	e.first -= int64(len(earlier))
}

func (e *events) add(added *event) { e.list = append(e.list, added) }

// lastIs reports whether other is the last event of the queue.
func (e *events) lastIs(other *event) bool {
	return len(e.list) > 0 && e.list[len(e.list)-1] == other
}

func (e *events) firstIs(other *event) bool { return len(e.list) > 0 && e.list[0] == other }

// dropFirst removes and returns the first event.
func (e *events) dropFirst() *event {
	dropped := e.list[0]
	e.list[0] = nil
	e.list = e.list[1:]
	e.first++
	return dropped
}

// dropAll removes all events. It also skips one number, so that all watchers detect that they have missed events, even if the
// queue was empty.
func (e *events) dropAll() {
	e.first = e.end() + 1
	e.list = nil
}

// after returns the number of the first event whose revision is greater than revision. If there is no such event, it returns the
// number of the next event that will be added.
func (e *events) after(revision storage.Revision) int64 {
	i, _ := slices.BinarySearchFunc(e.list, revision+1, func(e *event, r storage.Revision) int { return cmp.Compare(e.revision, r) })
	return e.first + int64(i)
}

// between returns the events with after < revision <= last.
func (e *events) between(after, last storage.Revision) []*event {
	return e.list[e.after(after)-e.first : e.after(last)-e.first]
}

// take appends events to dst and returns dst. It starts with the event whose number is first, and stops at the first end of a
// commit at which it has appended maxEvents events or maxBytes bytes or more.
func (e *events) take(dst []*event, first int64, maxEvents, maxBytes int) []*event {
	rest := e.list[first-e.first:]
	bytes := 0
	for i, next := range rest {
		if i > 0 && (i >= maxEvents || bytes >= maxBytes) && next.revision != rest[i-1].revision {
			break
		}
		dst = append(dst, next)
		bytes += len(cmp.Or(next.after, next.before).text)
	}
	return dst
}
