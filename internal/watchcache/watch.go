package watchcache

import (
	"container/list"
	"context"
	"sync/atomic"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// EventType is the type of an event, relative to the watched selection.
type EventType uint8

const (
	// Added: the object was created, or now matches the selection.
	Added EventType = iota
	// Modified: the object matched the selection before and after the change.
	Modified
	// Deleted: the object was deleted, or no longer matches the selection. The event has the last matching version of
	// the object, at the revision of the change.
	Deleted
	// Bookmark reports the progress of the watch.
	Bookmark
	// InitialEnd is the bookmark after the last object of the initial state.
	InitialEnd
)

// String returns the event type of Kubernetes; InitialEnd, which has none there, is INITIAL-END.
func (t EventType) String() string {
	return [...]string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "INITIAL-END"}[t]
}

// Event is an event of a watch.
type Event struct {
	Type EventType
	// Object is nil for bookmarks.
	Object *Object
	// Revision is the revision from which a client that has received this event may resume the watch. For the objects
	// of the initial state it is the revision of that state, from which a client may resume only if it has received
	// all of it.
	Revision storage.Revision
}

// WatchOptions configure a watch.
type WatchOptions struct {
	Selection
	// After is the revision after which events are delivered, which may be in the future. 0 means from the first
	// commit on, not the current revision.
	After storage.Revision
	// InitialState starts the watch with the current objects as Added events, with the consistency of Freshness.
	// After is ignored then.
	InitialState bool
	Freshness    Freshness
	// Bookmarks is the interval of bookmarks for an idle watch; 0 disables them.
	Bookmarks time.Duration
}

// Watcher delivers the events of a selection. It must not be used concurrently.
type Watcher struct {
	c *Cache
	k *resourceCache
	m matcher
	// after is the revision up to which all events have been delivered, delivered the revision of the last delivered event
	// or bookmark.
	//
	//	delivered <= after
	after, delivered storage.Revision
	// A watcher has up to four stages. First it delivers the initial state: lastKey is the last delivered key,
	// starting the watcher's element in resourceCache.starting. Or else it delivers the store's history, if it starts
	// before the window. Then it delivers the remaining events of the resource, starting at position next of the
	// topic of all events; then those of its own topic.
	//
	// initial is atomic because the resource releases it when the window has passed it. The resource also reads
	// after, which must not change before the initial state is delivered.
	initial  atomic.Pointer[tree]
	starting *list.Element
	lastKey  string
	history  storage.Watcher
	topic    *topic
	next     int64

	bookmarks *time.Ticker
	due       bool     // a bookmark is due
	taken     []*event // events that were read from the topic
	events    []Event  // the result of Next
	err       error    // the error of all further calls
}

const (
	// maxBatchEvents is the maximum number of events that are read from a topic at once, maxBatchBytes their
	// approximate maximum size: a slow watcher keeps them alive. maxInitialObjects is the maximum number of objects
	// that are scanned for one part of the initial state; the snapshot keeps those alive anyway.
	maxBatchEvents    = 128
	maxBatchBytes     = 256 << 10
	maxInitialObjects = 512
	// maxIdleBuffer is the maximum number of events that the buffers of a waiting watcher have capacity for.
	maxIdleBuffer = 16
)

// Watch starts a watch of a selection. The context limits starting only; the watch lives until Close, which must be
// called.
func (c *Cache) Watch(ctx context.Context, o WatchOptions) (*Watcher, error) {
	k, _ := c.lookup(o.Kind)
	m, err := newMatcher(k, o.Selection)
	if err != nil {
		return nil, err
	}
	w := &Watcher{c: c, k: c.resource(o.Kind), m: m, after: o.After, delivered: o.After}
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
	if err := w.c.waitFresh(ctx, f); err != nil {
		return err
	}
	w.k.mu.Lock()
	defer w.k.mu.Unlock()
	if err := w.k.readable(&w.m); err != nil {
		return err
	}
	objects := w.k.currentSnapshot()
	w.after = max(w.c.progress.revision(), w.k.last) // so that starting is in the order of revisions
	w.initial.Store(&objects)
	w.starting = w.k.starting.PushBack(w)
	w.enter()
	return nil
}

func (w *Watcher) startAfter(ctx context.Context) error {
	if err := w.c.closedError(); err != nil {
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
	w.history, err = w.c.openHistory(ctx, w.k, w.after)
	return err
}

// enter subscribes to all events of the resource, at the first one that has not been delivered. The caller holds the
// lock.
func (w *Watcher) enter() {
	w.topic = w.k.subscribe(topicKey{})
	w.next = w.topic.events.after(w.after)
	w.settle()
}

// settle moves the watcher to the end of its own topic, once it has delivered all events of the resource. A new topic
// therefore starts empty: filling it with events of the window would block all other users of the resource. The
// caller holds the lock.
func (w *Watcher) settle() {
	if w.next != w.topic.events.end() {
		return
	}
	w.k.unsubscribe(w.topic)
	w.topic = w.k.subscribe(w.m.topic)
	w.next = w.topic.events.end()
}

// Revision returns the revision up to which the watch is complete, for a last bookmark.
func (w *Watcher) Revision() storage.Revision {
	if w.starting != nil {
		return w.delivered
	}
	return w.after
}

// Close ends the watch and releases its resources.
func (w *Watcher) Close() { w.end(ErrClosed) }

// end releases the watcher's resources. All further calls of Next return reason.
func (w *Watcher) end(reason error) {
	if w.err != nil {
		return
	}
	w.err = reason
	if w.history != nil {
		w.history.Close()
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

// Next waits for events. The result is valid until the next call. It fails with ErrTooOld if the watcher was too
// slow, and with ErrClosed if it or the cache is closed; all further calls then fail with the same error. Before the
// window is reached it may also fail with an error of the store.
func (w *Watcher) Next(ctx context.Context) ([]Event, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		changed, err := w.nextEvents(ctx)
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
		if w.due && w.after > w.delivered {
			w.bookmark(Bookmark, w.after)
			return w.events, nil
		}
		if err := w.wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// wait waits until the topic changes or a bookmark is due. A waiting watcher has small buffers and references no
// objects.
func (w *Watcher) wait(ctx context.Context, changed <-chan struct{}) error {
	if cap(w.events) > maxIdleBuffer || cap(w.taken) > maxIdleBuffer {
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
	w.delivered = revision
	w.due = false
}
