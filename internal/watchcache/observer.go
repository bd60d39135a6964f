package watchcache

import "slices"

// Observer receives all changes of the objects of all resources, including resources that are created later. Its
// methods are called by the reflector, before writes are acknowledged and waiting reads return: an observer is never
// behind the state that clients can read. Since all clients wait for it, an observer only records changes, and must
// not read or write objects.
type Observer interface {
	// Reset is called first, and again after the cache has reloaded the store: the observer discards its state, and
	// then receives all current objects as additions.
	Reset()
	// Changed reports the change of one object: before is nil if it was created, after is nil if it was deleted.
	Changed(before, after *Object)
}

// Observe registers an observer, which first receives all current objects. stop removes it.
func (c *Cache) Observe(o Observer) (stop func()) {
	c.notifyMu.Lock()
	defer c.notifyMu.Unlock()
	c.observers = append(c.observers, o)
	c.notifyAll(o)
	return func() {
		c.notifyMu.Lock()
		defer c.notifyMu.Unlock()
		c.observers = slices.DeleteFunc(c.observers, func(other Observer) bool { return other == o })
	}
}

// notifyAll resets an observer and passes all current objects to it. The caller holds notifyMu, so that no object
// changes.
func (c *Cache) notifyAll(o Observer) {
	o.Reset()
	for k := range c.allResources() {
		k.mu.RLock()
		for object := range k.objects.from("") {
			o.Changed(nil, object)
		}
		k.mu.RUnlock()
	}
}

// notifyObservers passes events to all observers. The caller holds notifyMu.
func (c *Cache) notifyObservers(events []*event) {
	for _, o := range c.observers {
		for _, e := range events {
			o.Changed(e.before, e.after)
		}
	}
}
