package watchcache

import (
	"context"

	"github.com/cadastre/cadastre/internal/storage"
)

// Revision returns how far the cache has come, which is as far as the store had when it was asked.
func (c *Cache) Revision(ctx context.Context) (storage.Revision, error) {
	if err := c.freshen(ctx, Latest); err != nil {
		return 0, err
	}
	return c.progress.revision(), nil
}

// Count returns how many objects of a kind there are.
func (c *Cache) Count(kind string) int {
	k, _ := c.peek(kind)
	k.mu.RLock()
	defer k.mu.RUnlock()
	if k.objects.root == nil {
		return 0
	}
	return k.objects.root.count
}

// Get returns the object with a key, or store.ErrNotFound.
func (c *Cache) Get(ctx context.Context, key Key, f Freshness) (*Object, error) {
	if f.mode == exactly {
		return nil, errExactly
	}
	if err := c.freshen(ctx, f); err != nil {
		return nil, err
	}
	if !key.isValid() {
		return nil, storage.ErrNotFound
	}
	k, _ := c.peek(key.Kind)
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

// Query says what to list.
type Query struct {
	Selection
	Freshness Freshness
	// After leaves out the objects up to this key, for the pages after the first. Those are
	// asked for at Exactly the revision of the first, or at Latest by who would rather miss
	// some than fail when that is too old.
	After string
	// Limit is how many objects there may be; 0 means all.
	Limit int
}

// List is what was listed.
type List struct {
	// Objects are in the order of their keys. The slice is the caller's.
	Objects []*Object
	// Revision is the one at which these were the objects.
	Revision storage.Revision
	// More says that there are objects after the last one, and Remaining how many; -1 if
	// that was not counted: for selections by name, label or field, and for what comes from
	// the store's history.
	More      bool
	Remaining int
}

// List returns the objects of a selection, as they were at one revision.
func (c *Cache) List(ctx context.Context, q Query) (List, error) {
	if err := c.freshen(ctx, q.Freshness); err != nil {
		return List{}, err
	}
	progress := c.progress.revision() // a kind that has been seen until here is known
	k, _ := c.peek(q.Kind)
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
		k.remember(revision, objects)
	}
	return list, nil
}

// current returns the objects as they are now, and at which revision that is, when all up to
// progress has been seen.
func (k *kind) current(m *matcher, progress storage.Revision) (tree, storage.Revision, error) {
	k.mu.RLock()
	if k.snapshot != nil && len(k.unreadable) == 0 { // as nearly always
		defer k.mu.RUnlock()
		return *k.snapshot, max(progress, k.last), nil
	}
	k.mu.RUnlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.readable(m); err != nil {
		return tree{}, 0, err
	}
	return k.now(), max(progress, k.last), nil
}

// readable fails if a selection may have something that can't be read: to leave that out would
// tell that it does not exist. The caller holds the lock.
func (k *kind) readable(m *matcher) error {
	for key, err := range k.unreadable {
		namespace, name := k.place(key)
		if (m.namespace == "" || m.namespace == namespace) && (m.name == "" || m.name == name) {
			return err
		}
	}
	return nil
}
