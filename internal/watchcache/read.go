package watchcache

import (
	"context"

	"github.com/cadastre/cadastre/internal/storage"
)

// Revision returns a revision of the cache that is at least the store's revision at the start of the call.
func (c *Cache) Revision(ctx context.Context) (storage.Revision, error) {
	if err := c.waitFresh(ctx, Latest); err != nil {
		return 0, err
	}
	return c.progress.revision(), nil
}

// Count returns the current number of objects of the given resource (GROUP/RESOURCE).
func (c *Cache) Count(kind string) int {
	rc, _ := c.lookup(kind)
	rc.mu.RLock()
	defer rc.mu.RUnlock()
	if rc.objects.root == nil {
		return 0
	}
	return rc.objects.root.count
}

// Size returns the current number of objects of the given resource, and their average size in bytes, estimated from a few of
// them. The size is 0 if there are none.
func (c *Cache) Size(kind string) (count, averageBytes int) {
	rc, _ := c.lookup(kind)
	rc.mu.RLock()
	defer rc.mu.RUnlock()
	n := rc.objects.root
	if n == nil || n.count == 0 {
		return 0, 0
	}
	count = n.count
	for !n.isLeaf() {
		n = n.children[len(n.children)/2]
	}
	bytes := 0
	for _, o := range n.objects {
		bytes += o.JSONSize()
	}
	return count, bytes / max(1, len(n.objects))
}

// Get returns the object with the given key. It returns storage.ErrNotFound if there is none, and an UnreadableError if the
// stored value is not a valid object.
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
	rc, _ := c.lookup(key.Kind)
	text := key.String()
	rc.mu.RLock()
	defer rc.mu.RUnlock()
	if o := rc.objects.get(text); o != nil {
		return o, nil
	}
	if err := rc.unreadable[text]; err != nil {
		return nil, err
	}
	return nil, storage.ErrNotFound
}

// Query is the request for one page of a list.
type Query struct {
	Selection
	Freshness Freshness
	// After excludes the objects with keys <= After; it is "" for the first page. Later pages are read with the Freshness Exactly
	// at the revision of the first page. They may also be read with Latest, which does not fail with ErrTooOld but may be
	// inconsistent with the first page.
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
	progress := c.progress.revision() // progress is read before the lookup: rc is then complete up to progress
	rc, _ := c.lookup(q.Kind)
	m, err := newMatcher(rc, q.Selection)
	if err != nil {
		return List{}, err
	}
	if q.Freshness.mode == exactly {
		return c.listPast(ctx, rc, &m, q)
	}
	objects, revision, err := rc.latestSnapshot(&m, progress)
	if err != nil {
		return List{}, err
	}
	list, err := m.list(ctx, rc, objects, q)
	if err != nil {
		return List{}, err
	}
	list.Revision = revision
	if list.More {
		rc.retainSnapshot(revision, objects)
	}
	return list, nil
}

// latestSnapshot returns a snapshot of the resource's current objects and the revision of the snapshot, which is at least
// progress. It returns an UnreadableError if the selection of m may include an unreadable object.
func (rc *resourceCache) latestSnapshot(m *matcher, progress storage.Revision) (tree, storage.Revision, error) {
	rc.mu.RLock()
	if rc.snapshot != nil && len(rc.unreadable) == 0 { // fast path that takes only the read lock
		defer rc.mu.RUnlock()
		return *rc.snapshot, max(progress, rc.last), nil
	}
	rc.mu.RUnlock()
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if err := rc.checkReadable(m); err != nil {
		return tree{}, 0, err
	}
	return rc.currentSnapshot(), max(progress, rc.last), nil
}

// checkReadable returns an error if the selection of m may include an unreadable object: a list without this object would
// suggest that the object does not exist. The caller holds the lock.
func (rc *resourceCache) checkReadable(m *matcher) error {
	for key, err := range rc.unreadable {
		namespace, name := rc.splitKey(key)
		if (m.namespace == "" || m.namespace == namespace) && (m.name == "" || m.name == name) {
			return err
		}
	}
	return nil
}
