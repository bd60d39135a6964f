package watchcache

import "slices"

// Observer receives all changes of the objects of all resources, including resources that are created later. The reflector
// calls its methods before writes are acknowledged and waiting reads return, so an observer is never behind the state that
// clients can read. Since all clients wait for it, an observer must only record changes, and must not read or write objects.
type Observer interface {
	// Reset makes the observer discard its state. It is called when the observer is registered, and again after the cache has
	// reloaded the store. After each call, Changed is called for all current objects, as if they had been created.
	Reset()
	// Changed is called for the change of one object: before is nil if the object was created, after is nil if it was
	// deleted.
	Changed(before, after *Object)
}

// Observe registers the observer o and passes all current objects to it. stop removes the observer.
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

// notifyAll resets the observer o and passes all current objects to it. The caller holds notifyMu, so objects do not change
// during the call.
func (c *Cache) notifyAll(o Observer) {
	o.Reset()
	for rc := range c.allResources() {
		rc.mu.RLock()
		for object := range rc.objects.from("") {
			o.Changed(nil, object)
		}
		rc.mu.RUnlock()
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
