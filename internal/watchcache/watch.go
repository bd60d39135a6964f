package watchcache

import (
	"container/list"
	"context"
	"sync/atomic"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// EventType says what happened to an object, as seen by who watches a selection.
type EventType uint8

const (
	// Added objects have come to be, or into the selection.
	Added EventType = iota
	// Modified objects were in the selection and still are.
	Modified
	// Deleted objects are gone, or have left the selection. The object is the last one that
	// was in the selection, at the revision at which it left.
	Deleted
	// Bookmark tells how far the watch has come.
	Bookmark
	// InitialEnd is the bookmark after the last object of the initial state.
	InitialEnd
)

// String returns what Kubernetes calls it, which has no word for InitialEnd.
func (t EventType) String() string {
	return [...]string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "INITIAL-END"}[t]
}

// Event is what a watcher is told.
type Event struct {
	Type EventType
	// Object is nil for bookmarks.
	Object *Object
	// Revision is how far the watch has come with this event: whoever starts anew may
	// start after it. For the objects of the initial state it is that of the state, after
	// which only those may start who have got all of it.
	Revision storage.Revision
}

// WatchOptions say what to watch.
type WatchOptions struct {
	Selection
	// After is the revision after which events are told, which may be one that has not been.
	// 0 is before the first commit, not now.
	After storage.Revision
	// InitialState has the watch begin with the current objects, as fresh as Freshness says,
	// told as if they were added just now. After does not count then.
	InitialState bool
	Freshness    Freshness
	// Bookmarks is how often who waits is told how far the watch has come; 0 means never.
	Bookmarks time.Duration
}

// Watcher tells what happens to the objects of a selection. It is used by one goroutine at a
// time.
type Watcher struct {
	c *Cache
	k *kind
	m matcher
	// after is the revision up to which nothing is left to tell, told the one that was told
	// last.
	//
	//	told <= after
	after, told storage.Revision
	// A watcher goes through up to four stages. First it tells the initial state, of which
	// lastKey is the last that was told; starting is its place among those that do. Or else
	// it reads old events, if it comes from before the window. Then it is at a place among
	// all events of the kind, until it has told those that are there; then at a place in
	// its own topic.
	//
	// The kind takes the initial state away when the window has passed it, so it is atomic;
	// and it looks at after, which must not change before the initial state is told.
	initial  atomic.Pointer[tree]
	starting *list.Element
	lastKey  string
	old      storage.Watcher
	topic    *topic
	next     int64

	bookmarks *time.Ticker
	due       bool     // a bookmark is due
	taken     []*event // from the topic
	events    []Event  // made of these
	err       error    // why it has ended
}

const (
	// largestTaken is how many events are taken from a topic at once, and about how many
	// bytes: a slow watcher keeps them alive. largestInitial is how many objects are looked
	// at for one part of the initial state; those are alive anyway.
	largestTaken      = 128
	largestTakenBytes = 256 << 10
	largestInitial    = 512
	// fewEvents is how many a watcher has room for while it waits.
	fewEvents = 16
)

// Watch tells of what happens to the objects of a selection. The context is for starting; the
// watch lives until Close, which must be called.
func (c *Cache) Watch(ctx context.Context, o WatchOptions) (*Watcher, error) {
	k, _ := c.peek(o.Kind)
	m, err := newMatcher(k, o.Selection)
	if err != nil {
		return nil, err
	}
	w := &Watcher{c: c, k: c.kind(o.Kind), m: m, after: o.After, told: o.After}
	if o.InitialState {
		err = w.startWithState(ctx, o.Freshness)
	} else {
		err = w.startAfter(ctx)
	}
	if err != nil {
		return nil, err
	}
	if o.Bookmarks > 0 {
		w.bookmarks = time.NewTicker(o.Bookmarks)
	}
	return w, nil
}

func (w *Watcher) startWithState(ctx context.Context, f Freshness) error {
	if f.mode == exactly {
		return errExactly
	}
	if err := w.c.freshen(ctx, f); err != nil {
		return err
	}
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	if err := w.k.readable(&w.m); err != nil {
		return err
	}
	objects := w.k.now()
	w.after = max(w.c.progress.revision(), w.k.last) // it grows, as those of others that start
	w.initial.Store(&objects)
	w.starting = w.k.starting.PushBack(w)
	w.enter()
	return nil
}

func (w *Watcher) startAfter(ctx context.Context) error {
	if err := w.c.openError(); err != nil {
		return err
	}
	w.k.mu.Lock()
	tooOld := w.after < w.k.horizon
	if !tooOld {
		w.enter()
	}
	w.k.mu.Unlock()
	if !tooOld {
		return nil
	}
	var err error
	w.old, err = w.c.openHistory(ctx, w.k, w.after)
	return err
}

// enter takes a place among all events of the kind, behind what is told already. The caller
// holds the lock.
func (w *Watcher) enter() {
	w.topic = w.k.subscribe(topicKey{})
	w.next = w.topic.events.after(w.after)
	w.settle()
}

// settle takes a place at the end of the watcher's own topic, if it has told all events of the
// kind. So a new topic need not be filled, which would keep everybody else waiting. The caller
// holds the lock.
func (w *Watcher) settle() {
	if w.next != w.topic.events.end() {
		return
	}
	w.k.unsubscribe(w.topic)
	w.topic = w.k.subscribe(w.m.topic)
	w.next = w.topic.events.end()
}

// Revision returns how far the watch has come, for a last bookmark.
func (w *Watcher) Revision() storage.Revision {
	if w.starting != nil {
		return w.told
	}
	return w.after
}

// Close ends the watch.
func (w *Watcher) Close() { w.end(ErrClosed) }

// end gives all back that the watcher has. It can tell nothing any more.
func (w *Watcher) end(reason error) {
	if w.err != nil {
		return
	}
	w.err = reason
	if w.old != nil {
		w.old.Close()
	}
	if w.bookmarks != nil {
		w.bookmarks.Stop()
	}
	w.endInitial()
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	if w.topic != nil {
		w.k.unsubscribe(w.topic)
	}
	w.topic, w.events, w.taken = nil, nil, nil
}

// Next waits for something to tell. What it returns may be used until it is called again. It
// fails with ErrTooOld if the watcher was too slow, and with ErrClosed when it or the cache has
// been closed; so it does from then on. What is older than the window may also fail as the store
// does.
func (w *Watcher) Next(ctx context.Context) ([]Event, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		changed, err := w.tellNext(ctx)
		if err != nil {
			if ctx.Err() == nil {
				w.end(err)
			}
			return nil, err
		}
		if len(w.events) > 0 {
			return w.events, nil
		}
		if changed == nil {
			continue
		}
		if w.due && w.after > w.told {
			w.bookmark(Bookmark, w.after)
			return w.events, nil
		}
		if err := w.wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// wait waits until the topic has changed, or a bookmark is due. Meanwhile it keeps little memory,
// and no objects.
func (w *Watcher) wait(ctx context.Context, changed <-chan struct{}) error {
	if cap(w.events) > fewEvents || cap(w.taken) > fewEvents {
		w.events, w.taken = nil, nil
	}
	clear(w.events[:cap(w.events)])
	var due <-chan time.Time
	if w.bookmarks != nil {
		due = w.bookmarks.C
	}
	select {
	case <-changed:
	case <-due:
		w.due = true
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func (w *Watcher) bookmark(t EventType, revision storage.Revision) {
	w.events = append(w.events, Event{Type: t, Revision: revision})
	w.told = revision
	w.due = false
}
