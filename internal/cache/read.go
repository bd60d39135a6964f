package cache

import (
	"context"

	"github.com/cadastre/cadastre/internal/store"
)

// Get returns the object with a key, or store.ErrNotFound.
func (c *Cache) Get(ctx context.Context, key Key, f Freshness) (*Object, error) {
	if f.mode == exactly {
		return nil, errExactly
	}
	if err := c.freshen(ctx, f); err != nil {
		return nil, err
	}
	if !key.isValid() {
		return nil, store.ErrNotFound
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
	return nil, store.ErrNotFound
}

// Query says what to list.
type Query struct {
	Selection
	Freshness Freshness
	// After leaves out the objects up to this key, for the pages after the first. Those are
	// asked for at Exactly the revision of the first.
	After string
	// Limit is how many objects there may be; 0 means all.
	Limit int
}

// List is what was listed.
type List struct {
	// Objects are in the order of their keys. The slice is the caller's.
	Objects []*Object
	// Revision is the one at which these were the objects.
	Revision store.Revision
	// More says that there are objects after the last one, and Remaining how many; -1 if
	// that was not counted, since it depends on labels or fields.
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
func (k *kind) current(m *matcher, progress store.Revision) (tree, store.Revision, error) {
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

// prefix returns what the keys of all that a selection has begin with.
func (m *matcher) prefix(k *kind) string {
	if m.namespace == "" {
		return k.prefix()
	}
	return k.prefix() + m.namespace + "/"
}

// list goes through objects and takes those that a query asks for.
func (m *matcher) list(k *kind, objects tree, q Query) List {
	var list List
	if m.nothing {
		return list
	}
	start, end := m.bounds(k, q.After)
	if m.name == "" && m.isTopic {
		first := objects.rank(start)
		count := max(0, objects.rank(end)-first)
		if q.Limit > 0 && count > q.Limit {
			list.More, list.Remaining = true, count-q.Limit
			count = q.Limit
		}
		list.Objects = objects.slice(first, count)
		return list
	}
	for o := range objects.from(start) {
		if o.key >= end {
			break
		}
		if !m.matches(o) {
			continue
		}
		if q.Limit > 0 && len(list.Objects) == q.Limit {
			list.More, list.Remaining = true, -1
			break
		}
		list.Objects = append(list.Objects, o)
	}
	return list
}

// bounds returns between which keys all is that a selection has, after a key.
func (m *matcher) bounds(k *kind, after string) (start, end string) {
	start = m.prefix(k)
	end = successor(start)
	if m.namespace != "" && m.name != "" {
		start += m.name
		end = start + "\x00"
	}
	if after >= start {
		start = after + "\x00"
	}
	return start, end
}

// successor returns what comes after all that begins with a text, which must not end with the
// highest byte.
func successor(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string([]byte{prefix[last] + 1})
}
