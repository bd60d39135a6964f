package watchcache

import "slices"

// Observer is told of all that happens to objects of all kinds, those that come later included. The
// follower tells it, before anybody whose write or read waits is answered: an observer is never behind
// what can be read, and everybody waits for it. So it notes what it is told, and does not read or write.
type Observer interface {
	// Begin comes first, and again if the cache has lost sight of the store: what was told before
	// counts no longer, and all objects that there are follow, as if they had just come to be.
	Begin()
	// Changed tells what became of one object: before is nil if there was none, after if there is
	// none any more.
	Changed(before, after *Object)
}

// Observe tells an observer of all objects that there are, and then of all that happens, until stop is
// called.
func (c *Cache) Observe(o Observer) (stop func()) {
	c.telling.Lock()
	defer c.telling.Unlock()
	c.observers = append(c.observers, o)
	c.tellAll(o)
	return func() {
		c.telling.Lock()
		defer c.telling.Unlock()
		c.observers = slices.DeleteFunc(c.observers, func(other Observer) bool { return other == o })
	}
}

// tellAll tells an observer what there is. The caller holds telling, so that nothing changes.
func (c *Cache) tellAll(o Observer) {
	o.Begin()
	for k := range c.eachKind() {
		k.mu.RLock()
		for object := range k.objects.from("") {
			o.Changed(nil, object)
		}
		k.mu.RUnlock()
	}
}

// tellObservers tells what has happened. The caller holds telling.
func (c *Cache) tellObservers(events []*event) {
	for _, o := range c.observers {
		for _, e := range events {
			o.Changed(e.before, e.after)
		}
	}
}
