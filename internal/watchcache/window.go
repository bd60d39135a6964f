package watchcache

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/cadastre/cadastre/internal/storage"
)

// event is what a commit did to one object.
type event struct {
	kind     *kind
	revision storage.Revision
	// before is nil if there was no object, after if there is none any more.
	before, after *Object
	// nodes is how much memory the nodes took that the tree had to copy: snapshots may keep
	// the old ones alive.
	nodes int
	// ended is before at the revision of the event, made when somebody asks for it.
	ended atomic.Pointer[Object]
}

// key returns the key of the object.
func (e *event) key() string {
	if e.after != nil {
		return e.after.key
	}
	return e.before.key
}

// last returns the object as it was last, at the revision of the event: what those get who lose
// sight of it. All get the same one, so that it is encoded once.
func (e *event) last() *Object {
	if o := e.ended.Load(); o != nil {
		return o
	}
	e.ended.CompareAndSwap(nil, e.before.At(e.revision))
	return e.ended.Load()
}

// size is about how much memory the event keeps alive that nothing else does.
func (e *event) size() int {
	const overhead = 256 // its own, its places in the window and in topics
	if e.before == nil {
		return overhead + e.nodes
	}
	return overhead + e.nodes + e.before.size()
}

// events are events in the order of revisions. They are numbered, and a number is never given
// twice, so that whoever remembers the number of the next one knows whether it has missed some.
type events struct {
	list  []*event
	first int64 // the number of the first one that is there
}

func (e *events) end() int64 { return e.first + int64(len(e.list)) }

// prepend puts events before those that are there, which keep their numbers.
func (e *events) prepend(earlier []*event) {
	e.list = slices.Concat(earlier, e.list)
	e.first -= int64(len(earlier))
}

func (e *events) add(added *event) { e.list = append(e.list, added) }

// lastIs reports whether an event is the one that was added last.
func (e *events) lastIs(other *event) bool {
	return len(e.list) > 0 && e.list[len(e.list)-1] == other
}

func (e *events) firstIs(other *event) bool { return len(e.list) > 0 && e.list[0] == other }

// dropFirst takes out the first event.
func (e *events) dropFirst() *event {
	dropped := e.list[0]
	e.list[0] = nil
	e.list = e.list[1:]
	e.first++
	return dropped
}

// dropAll takes out all events. Whoever has a place among them has missed some, even if there were
// none.
func (e *events) dropAll() {
	e.first = e.end() + 1
	e.list = nil
}

// after returns the number of the first event that is after a revision.
func (e *events) after(revision storage.Revision) int64 {
	i, _ := slices.BinarySearchFunc(e.list, revision+1, func(e *event, r storage.Revision) int { return cmp.Compare(e.revision, r) })
	return e.first + int64(i)
}

// between returns the events after one revision up to another.
func (e *events) between(after, last storage.Revision) []*event {
	return e.list[e.after(after)-e.first : e.after(last)-e.first]
}

// take appends some events from a number on: not too many, nor too large ones, but never only a
// part of what a commit did.
func (e *events) take(dst []*event, from int64, most, mostBytes int) []*event {
	rest := e.list[from-e.first:]
	bytes := 0
	for i, next := range rest {
		if i > 0 && (i >= most || bytes >= mostBytes) && next.revision != rest[i-1].revision {
			break
		}
		dst = append(dst, next)
		bytes += len(cmp.Or(next.after, next.before).text)
	}
	return dst
}
