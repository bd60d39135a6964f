package watchcache

import (
	"container/list"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/cadastre/cadastre/internal/storage"
)

// resourceCache is the cache of one resource: current objects, event window, topics and snapshots.
type resourceCache struct {
	name       string // name is GROUP/RESOURCE
	fields     []Field
	fieldPaths []pathNode
	forms      *forms

	// bytes is the memory in bytes that the resource's events keep alive; windowBytes is the sum for all resources. They are
	// atomic because the reflector compares resources without taking their locks.
	bytes       atomic.Int64
	windowBytes *atomic.Int64

	mu sync.RWMutex // mu guards all fields below
	// objects is the current state. unreadable maps the keys of unreadable values to their errors; a list that would include
	// such a key fails.
	objects    tree
	unreadable map[string]error
	// snapshot is a clone of objects, or nil if objects has changed since the last clone. past holds clones of earlier
	// states.
	snapshot *tree
	past     pastSnapshots
	// last is the revision of the last event. all is the topic of all events, which holds the events after horizon.
	last, horizon storage.Revision
	all           *topic
	topics        topics
	// starting lists the watchers that have not yet delivered their whole initial state, ordered by the revision of that
	// state.
	starting list.List
}

func newResourceCache(name string, fields []Field, forms *forms, windowBytes *atomic.Int64, horizon storage.Revision) *resourceCache {
	return &resourceCache{
		name: name, fields: fields, fieldPaths: newPathTrie(fields), forms: forms, windowBytes: windowBytes,
		last: horizon, horizon: horizon, all: newTopic(topicKey{}), unreadable: map[string]error{},
	}
}

// prefix returns the common prefix of the resource's keys.
func (rc *resourceCache) prefix() string { return rc.name + "/" }

// splitKey returns the namespace and name in key, a key of the resource.
func (rc *resourceCache) splitKey(key string) (namespace, name string) {
	return splitNamespacedName(key[len(rc.name)+1:])
}

func (rc *resourceCache) fieldNames() []string {
	names := []string{"metadata.name", "metadata.namespace"}
	for _, f := range rc.fields {
		names = append(names, f.Name)
	}
	return names
}

// change is the change of one object by a commit, as parsed from an event of the store.
type change struct {
	key      string
	revision storage.Revision
	object   *Object // nil if the object was deleted or is unreadable
	err      error   // the parse error; nil unless the value is unreadable
}

// applyChanges applies changes, which are in the order of their revisions. It returns events with the resulting events
// appended, and adds the topics with waiting watchers to wake.
func (rc *resourceCache) applyChanges(changes []change, events []*event, wake *wakers) []*event {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.snapshot = nil
	for _, c := range changes {
		rc.last = c.revision
		_, repaired := rc.unreadable[c.key]
		delete(rc.unreadable, c.key)
		e := rc.applyChange(c)
		switch {
		case c.err != nil || repaired:
			// An unreadable value is neither a version that watchers could receive nor a deletion, so all watchers have to
			// list again.
			rc.expireWatchers(c.revision, wake)
		case e != nil:
			rc.publish(e, wake)
		}
		if c.err == nil && e != nil {
			events = append(events, e)
		}
	}
	return events
}

// applyChange applies c to the tree and returns the event; nil if nothing changed. The caller holds the lock, as for all
// methods below except hasRevision, replace and dropFirst.
func (rc *resourceCache) applyChange(c change) *event {
	e := &event{resource: rc, revision: c.revision, after: c.object}
	copied := rc.objects.copied
	if c.object != nil {
		e.before = rc.objects.set(c.object)
	} else {
		e.before = rc.objects.delete(c.key)
	}
	e.nodes = rc.objects.copied - copied
	if c.err != nil {
		rc.unreadable[c.key] = c.err
	}
	if e.before == nil && e.after == nil {
		return nil
	}
	return e
}

// hasRevision reports whether the current object with the given key has the given revision; revision 0 means that there is no
// object. The caller does not hold the lock.
func (rc *resourceCache) hasRevision(key string, revision storage.Revision) bool {
	rc.mu.RLock()
	defer rc.mu.RUnlock()
	if current := rc.objects.get(key); current != nil {
		return current.revision == revision
	}
	return revision == 0 && rc.unreadable[key] == nil
}

// publish adds e to the window and to the topics whose selector it matches, and adds these topics to wake.
func (rc *resourceCache) publish(e *event, wake *wakers) {
	rc.addBytes(e.size())
	rc.all.events.add(e)
	wake.add(rc.all)
	rc.topics.eachForEvent(e, func(t *topic) {
		if !t.events.lastIs(e) {
			t.events.add(e)
			wake.add(t)
		}
	})
}

// expireWatchers drops all events and advances the horizon to revision, so that all watchers fail with ErrTooOld. It adds the
// topics to wake.
func (rc *resourceCache) expireWatchers(revision storage.Revision, wake *wakers) {
	for t := range rc.eachTopic() {
		t.events.dropAll()
		wake.add(t)
	}
	rc.addBytes(-int(rc.bytes.Load()))
	rc.advanceHorizon(revision)
}

// replace sets the current state to objects and unreadable, which were loaded at revision, and drops all events, so that all
// watchers fail with ErrTooOld.
func (rc *resourceCache) replace(objects tree, unreadable map[string]error, revision storage.Revision) {
	var wake wakers
	rc.mu.Lock()
	rc.objects, rc.unreadable, rc.snapshot, rc.last = objects, unreadable, nil, revision
	rc.expireWatchers(revision, &wake)
	rc.mu.Unlock()
	wake.wakeAll()
}

// dropFirst drops the oldest event of the window.
func (rc *resourceCache) dropFirst() {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	dropped := rc.all.events.dropFirst()
	rc.topics.eachForEvent(dropped, func(t *topic) {
		if t.events.firstIs(dropped) {
			t.events.dropFirst()
		}
	})
	rc.addBytes(-dropped.size())
	rc.advanceHorizon(dropped.revision)
}

// addBytes adds bytes, which may be negative, to the count of the memory that the events keep alive.
func (rc *resourceCache) addBytes(bytes int) {
	rc.bytes.Add(int64(bytes))
	rc.windowBytes.Add(int64(bytes))
}

// wakeAll wakes all waiting watchers of the resource.
func (rc *resourceCache) wakeAll() {
	var wake wakers
	rc.mu.Lock()
	for t := range rc.eachTopic() {
		wake.add(t)
	}
	rc.mu.Unlock()
	wake.wakeAll()
}

// advanceHorizon records that the events up to and including revision were dropped, and releases the snapshots at lower
// revisions.
func (rc *resourceCache) advanceHorizon(revision storage.Revision) {
	rc.horizon = revision
	rc.past.dropBefore(revision)
	for first := rc.starting.Front(); first != nil; first = rc.starting.Front() {
		w := first.Value.(*Watcher)
		if w.after >= revision {
			return
		}
		w.initial.Store(nil)
		rc.starting.Remove(first)
	}
}

func (rc *resourceCache) eachTopic() iter.Seq[*topic] {
	return func(yield func(*topic) bool) {
		if !yield(rc.all) {
			return
		}
		for _, t := range rc.topics.byKey {
			if !yield(t) {
				return
			}
		}
	}
}

// subscribe returns the topic with the given key, and increments its number of subscriptions. It creates the topic if there is
// none. The caller holds the lock.
func (rc *resourceCache) subscribe(key topicKey) *topic {
	t := rc.all
	if key != (topicKey{}) {
		if t = rc.topics.byKey[key]; t == nil {
			t = newTopic(key)
			rc.topics.put(t)
		}
	}
	t.watchers++
	return t
}

// unsubscribe ends a subscription of the topic t, and removes t if it has no more subscriptions. The caller holds the lock.
func (rc *resourceCache) unsubscribe(t *topic) {
	if t.watchers--; t.watchers == 0 && t != rc.all {
		rc.topics.remove(t)
	}
}

// currentSnapshot returns a snapshot of the current objects. If no object has changed since the last snapshot, it returns that
// snapshot. The caller holds the lock.
func (rc *resourceCache) currentSnapshot() tree {
	if rc.snapshot == nil {
		snapshot := rc.objects.clone()
		rc.snapshot = &snapshot
	}
	return *rc.snapshot
}
