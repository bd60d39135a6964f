package watchcache

import (
	"container/list"
	"context"
	"sync/atomic"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// EventType is the type of an event, from the view of a watcher that sees only the objects of its selection.
type EventType uint8

const (
	// Added means that the object was created, or that it now matches the selection.
	Added EventType = iota
	// Modified means that the object matched the selection before and after the change.
	Modified
	// Deleted means that the object was deleted, or that it no longer matches the selection. The event contains the last
	// matching version of the object, with the revision of the change.
	Deleted
	// Bookmark reports that the watch has delivered all events up to and including its Revision.
	Bookmark
	// InitialEnd is the bookmark that follows the last object of the initial state.
	InitialEnd
)

// String returns Kubernetes' name of the event type; for InitialEnd, which Kubernetes does not have as a type, INITIAL-END.
func (t EventType) String() string {
	return [...]string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "INITIAL-END"}[t]
}

// Event is an event that a Watcher delivers.
type Event struct {
	Type EventType
	// Object is nil for bookmarks.
	Object *Object
	// Revision is the revision from which a client that has received this event may resume the watch. For an object of the
	// initial state it is the revision of that state, from which the client may resume only if it has received the whole
	// state.
	Revision storage.Revision
}

// WatchOptions configure a watch.
type WatchOptions struct {
	Selection
	// After is the revision after which events are delivered; it may be in the future. Unlike in the Kubernetes API, with 0 the
	// watch starts at the first commit, and not at the current revision.
	After storage.Revision
	// InitialState makes the watch start with the current objects as Added events, read with Freshness. After is then
	// ignored.
	InitialState bool
	Freshness    Freshness
	// Bookmarks is the interval at which an idle watch sends bookmarks; 0 means no bookmarks.
	Bookmarks time.Duration
}

// Watcher delivers the events of a selection. It must not be used concurrently.
type Watcher struct {
	c        *Cache
	resource *resourceCache
	m        matcher
	// after is the revision up to which all events have been delivered; delivered is the revision of the last delivered event
	// or bookmark.
	//
	//	delivered <= after
	after, delivered storage.Revision
	// A watcher has up to four stages. It starts with the initial state if that was requested: lastKey is the key of the last
	// delivered object, and starting is the watcher's element in resourceCache.starting. If no initial state was requested and the
	// watcher starts before the event window, it delivers the store's history. After that it delivers the remaining events of the
	// resource, from the event number next of the topic of all events; and finally the events of its own topic.
	//
	// initial is atomic because resourceCache sets it to nil when the initial state is older than the window. resourceCache also
	// reads after, which therefore must not change before the initial state is delivered.
	initial  atomic.Pointer[tree]
	starting *list.Element
	lastKey  string
	history  storage.Watcher
	topic    *topic
	next     int64

	bookmarks   *time.Ticker
	bookmarkDue bool     // set when the bookmarks ticker has fired
	taken       []*event // the events that were last read from the topic
	events      []Event  // the result of Next
	err         error    // the error that all further calls of Next return
}

const (
	// maxBatchEvents is the maximum number of events that are read from a topic at once; maxBatchBytes is their approximate
	// maximum size, because a slow watcher keeps them alive. maxInitialObjects is the maximum number of objects that are
	// scanned for one part of the initial state; these are kept alive by the snapshot anyway.
	maxBatchEvents    = 128
	maxBatchBytes     = 256 << 10
	maxInitialObjects = 512
	// maxIdleBuffer is the maximum capacity, in events, of the buffers of a waiting watcher.
	maxIdleBuffer = 16
)

// Watch starts a watch of a selection. The context limits only the call of Watch; the watch lasts until Close, which the
// caller must call.
func (c *Cache) Watch(ctx context.Context, o WatchOptions) (*Watcher, error) {
	rc, _ := c.lookup(o.Kind)
	m, err := newMatcher(rc, o.Selection)
	if err != nil {
		return nil, err
	}
	w := &Watcher{c: c, resource: c.resource(o.Kind), m: m, after: o.After, delivered: o.After}
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
	w.resource.mu.Lock()
	defer w.resource.mu.Unlock()
	if err := w.resource.checkReadable(&w.m); err != nil {
		return err
	}
	objects := w.resource.currentSnapshot()
	w.after = max(w.c.progress.revision(), w.resource.last) // determined under the lock, which keeps rc.starting ordered by revision
	w.initial.Store(&objects)
	w.starting = w.resource.starting.PushBack(w)
	w.subscribeToAll()
	return nil
}

func (w *Watcher) startAfter(ctx context.Context) error {
	if err := w.c.closedError(); err != nil {
		return err
	}
	w.resource.mu.Lock()
	tooOld := w.after < w.resource.horizon
	if !tooOld {
		w.subscribeToAll()
	}
	w.resource.mu.Unlock()
	if !tooOld {
		return nil
	}
	var err error
	w.history, err = w.c.openHistory(ctx, w.resource, w.after)
	return err
}

// subscribeToAll subscribes the watcher to the topic of all events of the resource, starting with the first event that has not
// been delivered. The caller holds the lock of the resource.
func (w *Watcher) subscribeToAll() {
	w.topic = w.resource.subscribe(topicKey{})
	w.next = w.topic.events.after(w.after)
	w.moveToOwnTopic()
}

// moveToOwnTopic moves the watcher from the topic of all events to the end of its own topic if it has delivered all events. A new
// topic therefore starts empty: filling it with events of the window would block all other users of the resource. The caller
// holds the lock of the resource.
func (w *Watcher) moveToOwnTopic() {
	if w.next != w.topic.events.end() {
		return
	}
	w.resource.unsubscribe(w.topic)
	w.topic = w.resource.subscribe(w.m.topic)
	w.next = w.topic.events.end()
}

// Revision returns the revision up to which the watch has delivered all events, for a bookmark at the end of the watch.
func (w *Watcher) Revision() storage.Revision {
	if w.starting != nil {
		return w.delivered
	}
	return w.after
}

// Close ends the watch and releases its resources.
func (w *Watcher) Close() { w.end(ErrClosed) }

// end releases the watcher's resources and makes all further calls of Next return reason. Only the first call of end has an
// effect.
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
	w.resource.mu.Lock()
	defer w.resource.mu.Unlock()
	if w.topic != nil {
		w.resource.unsubscribe(w.topic)
	}
	w.topic, w.events, w.taken = nil, nil, nil
}

// Next blocks until there are events and returns them; the slice is valid until the next call. It returns ErrTooOld if the
// watcher was too slow, and ErrClosed if the watcher or the cache is closed; all further calls then return the same error.
// While the watcher reads the store's history, Next may also return an error of the store.
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
		if w.bookmarkDue && w.after > w.delivered {
			w.bookmark(Bookmark, w.after)
			return w.events, nil
		}
		if err := w.wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// wait blocks until the topic changes or a bookmark is due. It first releases the watcher's large buffers and its references
// to objects.
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
		w.bookmarkDue = true
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

func (w *Watcher) bookmark(t EventType, revision storage.Revision) {
	w.events = append(w.events, Event{Type: t, Revision: revision})
	w.delivered = revision
	w.bookmarkDue = false
}
