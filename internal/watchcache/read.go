package watchcache

import (
	"context"

	"github.com/cadastre/cadastre/internal/storage"
)

// Revision returns a revision of the cache that is at least the store's revision at the time of the call.
func (c *Cache) Revision(ctx context.Context) (storage.Revision, error) {
	if err := c.waitFresh(ctx, Latest); err != nil {
		return 0, err
	}
	return c.progress.revision(), nil
}

// Count returns the current number of objects of a resource (GROUP/RESOURCE).
func (c *Cache) Count(kind string) int {
	k, _ := c.lookup(kind)
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.objects.root == nil {
		return 0
	}
	return k.objects.root.count
}

// Get returns the object with a key. It returns storage.ErrNotFound if there is none, and an UnreadableError if the stored
// value is not a valid object.
func (c *Cache) Get(ctx context.Context, key Key, f Freshness) (*Object, error) {
	if f.mode == exactly {
		return nil, errExactly
	}
	if err := c.waitFresh(ctx, f); err != nil {
		return nil, err
	}
	if !key.isValid() {
		return nil, storage.ErrNotFound
	}
	k, _ := c.lookup(key.Kind)
	text := key.String()
	k.mu.RLock()
	defer k.mu.RUnlock()
	if o := k.objects.get(text); o != nil {
		return o, nil
	}
	if err := k.unreadable[text]; err != nil {
		return nil, err
	}
	return nil, storage.ErrNotFound
}

// Query is the request for one page of a list.
type Query struct {
	Selection
	Freshness Freshness
	// After excludes the objects up to and including this key; it is "" for the first page. A later page is read with the
	// Freshness Exactly at the revision of the first page; or with Latest, which may be inconsistent with the first page but
	// does not fail with ErrTooOld.
	After string
	// Limit is the maximum number of objects of the page; 0 means no limit.
	Limit int
}

// List is one page of a list.
type List struct {
	// Objects are ordered by key. The caller may modify the slice.
	Objects []*Object
	// Revision is the revision of the snapshot that was listed.
	Revision storage.Revision
	// More is set if there are selected objects after the last object of the page. Remaining is the number of these objects,
	// or -1 if they were not counted: for selections by name, label or field, and for lists from the store's history.
	More      bool
	Remaining int
}

// List returns one page of the objects of a selection, from a consistent snapshot.
func (c *Cache) List(ctx context.Context, q Query) (List, error) {
	if err := c.waitFresh(ctx, q.Freshness); err != nil {
		return List{}, err
	}
	progress := c.progress.revision() // progress is read before the lookup, so that the resource is complete up to it
	k, _ := c.lookup(q.Kind)
	m, err := newMatcher(k, q.Selection)
	if err != nil {
		return List{}, err
	}
	if q.Freshness.mode == exactly {
		return c.listPast(ctx, k, &m, q)
	}
	objects, revision, err := k.current(&m, progress)
	if err != nil {
		return List{}, err
	}
	list := m.list(k, objects, q)
	list.Revision = revision
	if list.More {
		k.retainSnapshot(revision, objects)
	}
	return list, nil
}

// current returns a snapshot of the resource's objects and its revision, which is at least progress. It returns an
// UnreadableError if the selection of m may include an unreadable object.
func (k *resourceCache) current(m *matcher, progress storage.Revision) (tree, storage.Revision, error) {
	k.mu.RLock()
	if k.snapshot != nil && len(k.unreadable) == 0 { // fast path that takes only the read lock
		defer k.mu.RUnlock()
		return *k.snapshot, max(progress, k.last), nil
	}
	k.mu.RUnlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.readable(m); err != nil {
		return tree{}, 0, err
	}
	return k.currentSnapshot(), max(progress, k.last), nil
}

// readable returns an error if the selection may include an unreadable object: a list without this object would suggest that the
// object does not exist. The caller holds the lock.
func (k *resourceCache) readable(m *matcher) error {
	for key, err := range k.unreadable {
		namespace, name := k.splitKey(key)
		if (m.namespace == "" || m.namespace == namespace) && (m.name == "" || m.name == name) {
			return err
		}
	}
	return nil
}
