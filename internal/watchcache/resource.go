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
func (k *resourceCache) prefix() string { return k.name + "/" }

// splitKey returns the namespace and name of a key of the resource.
func (k *resourceCache) splitKey(key string) (namespace, name string) {
	return splitNamespacedName(key[len(k.name)+1:])
}

func (k *resourceCache) fieldNames() []string {
	names := []string{"metadata.name", "metadata.namespace"}
	for _, f := range k.fields {
		names = append(names, f.Name)
	}
	return names
}

// change is the change of one object by a commit, as parsed from an event of the store.
type change struct {
	key      string
	revision storage.Revision
	object   *Object // nil if the object was deleted or is unreadable
	err      error   // the parse error if the value is unreadable; otherwise nil
}

// applyChanges applies changes in the order of their revisions. It appends the resulting events to events, which it returns,
// and adds the topics with waiting watchers to wake.
func (k *resourceCache) applyChanges(changes []change, events []*event, wake *wakers) []*event {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.snapshot = nil
	for _, c := range changes {
		k.last = c.revision
		_, repaired := k.unreadable[c.key]
		delete(k.unreadable, c.key)
		e := k.applyChange(c)
		switch {
		case c.err != nil || repaired:
			// An unreadable value is neither a version that watchers could receive nor a deletion, so all watchers have to
			// list again.
			k.expireWatchers(c.revision, wake)
		case e != nil:
			k.publish(e, wake)
		}
		if c.err == nil && e != nil {
			events = append(events, e)
		}
	}
	return events
}

// applyChange applies a change to the tree and returns the event; nil if nothing changed. The caller holds the lock, as for
// all methods below except hasRevision, replace and dropFirst.
func (k *resourceCache) applyChange(c change) *event {
	e := &event{resource: k, revision: c.revision, after: c.object}
	copied := k.objects.copied
	if c.object != nil {
		e.before = k.objects.set(c.object)
	} else {
		e.before = k.objects.delete(c.key)
	}
	e.nodes = k.objects.copied - copied
	if c.err != nil {
		k.unreadable[c.key] = c.err
	}
	if e.before == nil && e.after == nil {
		return nil
	}
	return e
}

// hasRevision reports whether the current object with a key has a revision; revision 0 means that there is no object. The
// caller does not hold the lock.
func (k *resourceCache) hasRevision(key string, revision storage.Revision) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if now := k.objects.get(key); now != nil {
		return now.revision == revision
	}
	return revision == 0 && k.unreadable[key] == nil
}

// publish adds an event to the window and to the topics that it matches, and adds these topics to wake.
func (k *resourceCache) publish(e *event, wake *wakers) {
	k.addBytes(e.size())
	k.all.events.add(e)
	wake.add(k.all)
	k.topics.forEvent(e, func(t *topic) {
		if !t.events.lastIs(e) {
			t.events.add(e)
			wake.add(t)
		}
	})
}

// expireWatchers drops all events up to a revision, so that all watchers fail with ErrTooOld.
func (k *resourceCache) expireWatchers(revision storage.Revision, wake *wakers) {
	for t := range k.eachTopic() {
		t.events.dropAll()
		wake.add(t)
	}
	k.addBytes(-int(k.bytes.Load()))
	k.advanceHorizon(revision)
}

// replace sets the objects at a revision and drops all events, so that all watchers fail with ErrTooOld.
func (k *resourceCache) replace(objects tree, unreadable map[string]error, revision storage.Revision) {
	var wake wakers
	k.mu.Lock()
	k.objects, k.unreadable, k.snapshot, k.last = objects, unreadable, nil, revision
	k.expireWatchers(revision, &wake)
	k.mu.Unlock()
	wake.all()
}

// dropFirst drops the oldest event of the window.
func (k *resourceCache) dropFirst() {
	k.mu.Lock()
	defer k.mu.Unlock()
	dropped := k.all.events.dropFirst()
	k.topics.forEvent(dropped, func(t *topic) {
		if t.events.firstIs(dropped) {
			t.events.dropFirst()
		}
	})
	k.addBytes(-dropped.size())
	k.advanceHorizon(dropped.revision)
}

// addBytes adds a number of bytes, which may be negative, to the memory that the events keep alive.
func (k *resourceCache) addBytes(bytes int) {
	k.bytes.Add(int64(bytes))
	k.windowBytes.Add(int64(bytes))
}

// wakeAll wakes all waiting watchers of the resource.
func (k *resourceCache) wakeAll() {
	var wake wakers
	k.mu.Lock()
	for t := range k.eachTopic() {
		wake.add(t)
	}
	k.mu.Unlock()
	wake.all()
}

// advanceHorizon records that the events up to a revision were dropped, and releases the snapshots before that revision.
func (k *resourceCache) advanceHorizon(revision storage.Revision) {
	k.horizon = revision
	k.past.dropBefore(revision)
	for first := k.starting.Front(); first != nil; first = k.starting.Front() {
		w := first.Value.(*Watcher)
		if w.after >= revision {
			return
		}
		w.initial.Store(nil)
		k.starting.Remove(first)
	}
}

func (k *resourceCache) eachTopic() iter.Seq[*topic] {
	return func(yield func(*topic) bool) {
		if !yield(k.all) {
			return
		}
		for _, t := range k.topics.byKey {
			if !yield(t) {
				return
			}
		}
	}
}

// subscribe returns the topic with a key, which it creates if needed, and counts a subscription. The caller holds the lock.
func (k *resourceCache) subscribe(key topicKey) *topic {
	t := k.all
	if key != (topicKey{}) {
		if t = k.topics.byKey[key]; t == nil {
			t = newTopic(key)
			k.topics.put(t)
		}
	}
	t.watchers++
	return t
}

// unsubscribe ends a subscription of a topic, and removes the topic if it has no more subscriptions. The caller holds the lock.
func (k *resourceCache) unsubscribe(t *topic) {
	if t.watchers--; t.watchers == 0 && t != k.all {
		k.topics.remove(t)
	}
}

// currentSnapshot returns a snapshot of the current objects, and reuses the last snapshot if no object has changed. The caller
// holds the lock.
func (k *resourceCache) currentSnapshot() tree {
	if k.snapshot == nil {
		snapshot := k.objects.clone()
		k.snapshot = &snapshot
	}
	return *k.snapshot
}
