package watchcache

import (
	"container/list"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/cadastre/cadastre/internal/storage"
)

// kind is what the cache has of one kind: what is now, what was, and who watches.
type kind struct {
	name   string // GROUP/RESOURCE
	fields []Field
	wanted []wanted
	forms  *forms

	// bytes is how much the events keep alive, windowBytes that of all kinds together. They
	// are atomic since the follower compares kinds without their locks.
	bytes       atomic.Int64
	windowBytes *atomic.Int64

	mu sync.RWMutex // guards all below
	// objects are the current ones. unreadable are values that are not objects: as long as
	// there are any, what they are part of can't be listed.
	objects    tree
	unreadable map[string]error
	// snapshot is a copy of objects, if there is one that is still the same; past are copies
	// of what was.
	snapshot *tree
	past     past
	// last is the revision of the last event. all is the topic about all; its events are
	// those after horizon.
	last, horizon storage.Revision
	all           *topic
	topics        topics
	// starting are watchers that have not got all of the initial state, those with the oldest
	// one first.
	starting list.List
}

func newKind(name string, fields []Field, forms *forms, windowBytes *atomic.Int64, horizon storage.Revision) *kind {
	return &kind{
		name: name, fields: fields, wanted: wantedFields(fields), forms: forms, windowBytes: windowBytes,
		last: horizon, horizon: horizon, all: newTopic(topicKey{}), unreadable: map[string]error{},
	}
}

// prefix is what the keys of the kind begin with.
func (k *kind) prefix() string { return k.name + "/" }

// place returns the namespace and name in a key of the kind.
func (k *kind) place(key string) (namespace, name string) { return splitPlace(key[len(k.name)+1:]) }

func (k *kind) fieldNames() []string {
	names := []string{"metadata.name", "metadata.namespace"}
	for _, f := range k.fields {
		names = append(names, f.Name)
	}
	return names
}

// change is what the follower has found to do to one object.
type change struct {
	key      string
	revision storage.Revision
	object   *Object // nil if it was deleted, or is unreadable
	err      error   // why it is
}

// change does changes, in the order of their revisions, and notes who is to be woken. It appends what
// happened to events.
func (k *kind) change(changes []change, events []*event, wake *wakers) []*event {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.snapshot = nil
	for _, c := range changes {
		k.last = c.revision
		_, repaired := k.unreadable[c.key]
		delete(k.unreadable, c.key)
		e := k.put(c)
		switch {
		case c.err != nil || repaired:
			// There is no state to go back to, and nothing that could be told to watchers:
			// that an object is gone would be wrong.
			k.cutOff(c.revision, wake)
		case e != nil:
			k.publish(e, wake)
		}
		if c.err == nil && e != nil {
			events = append(events, e)
		}
	}
	return events
}

// put changes the tree. It returns nil if there is nothing to tell. The caller of this, as of all
// that follows but has, replace and dropFirst, holds the lock.
func (k *kind) put(c change) *event {
	e := &event{kind: k, revision: c.revision, after: c.object}
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

// has reports whether an object is there at a revision; at 0 whether there is nothing. The caller does
// not hold the lock.
func (k *kind) has(key string, revision storage.Revision) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if now := k.objects.get(key); now != nil {
		return now.revision == revision
	}
	return revision == 0 && k.unreadable[key] == nil
}

// publish puts an event into the window and into the topics that it touches.
func (k *kind) publish(e *event, wake *wakers) {
	k.grow(e.size())
	k.all.events.add(e)
	wake.add(k.all)
	k.topics.touched(e, func(t *topic) {
		if !t.events.lastIs(e) {
			t.events.add(e)
			wake.add(t)
		}
	})
}

// cutOff drops all events up to a revision, so that no watcher can go on.
func (k *kind) cutOff(revision storage.Revision, wake *wakers) {
	for t := range k.eachTopic() {
		t.events.dropAll()
		wake.add(t)
	}
	k.grow(-int(k.bytes.Load()))
	k.moveHorizon(revision)
}

// replace puts another state in the place of all there is. Watchers are cut off.
func (k *kind) replace(objects tree, unreadable map[string]error, revision storage.Revision) {
	var wake wakers
	k.mu.Lock()
	k.objects, k.unreadable, k.snapshot, k.last = objects, unreadable, nil, revision
	k.cutOff(revision, &wake)
	k.mu.Unlock()
	wake.all()
}

// dropFirst forgets the oldest event.
func (k *kind) dropFirst() {
	k.mu.Lock()
	defer k.mu.Unlock()
	dropped := k.all.events.dropFirst()
	k.topics.touched(dropped, func(t *topic) {
		if t.events.firstIs(dropped) {
			t.events.dropFirst()
		}
	})
	k.grow(-dropped.size())
	k.moveHorizon(dropped.revision)
}

// grow notes that the events keep more alive, or less.
func (k *kind) grow(bytes int) {
	k.bytes.Add(int64(bytes))
	k.windowBytes.Add(int64(bytes))
}

// end wakes all who wait.
func (k *kind) end() {
	var wake wakers
	k.mu.Lock()
	for t := range k.eachTopic() {
		wake.add(t)
	}
	k.mu.Unlock()
	wake.all()
}

// moveHorizon notes that events up to a revision are gone, and lets go of states that are older.
func (k *kind) moveHorizon(revision storage.Revision) {
	k.horizon = revision
	k.past.forget(revision)
	for first := k.starting.Front(); first != nil; first = k.starting.Front() {
		w := first.Value.(*Watcher)
		if w.after >= revision {
			return
		}
		w.initial.Store(nil)
		k.starting.Remove(first)
	}
}

func (k *kind) eachTopic() iter.Seq[*topic] {
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

// subscribe returns the topic with that key. The caller holds the lock.
func (k *kind) subscribe(key topicKey) *topic {
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

// unsubscribe gives a topic back. The caller holds the lock.
func (k *kind) unsubscribe(t *topic) {
	if t.watchers--; t.watchers == 0 && t != k.all {
		k.topics.remove(t)
	}
}

// now returns the current objects. The caller holds the lock.
func (k *kind) now() tree {
	if k.snapshot == nil {
		snapshot := k.objects.clone()
		k.snapshot = &snapshot
	}
	return *k.snapshot
}
