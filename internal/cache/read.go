package cache

import (
	"context"
	"strings"

	"github.com/cadastre/cadastre/internal/store"
)

// Get returns the object with a key, or store.ErrNotFound.
func (c *Cache) Get(ctx context.Context, key Key, f Freshness) (*Object, error) {
	if err := c.freshen(ctx, f); err != nil {
		return nil, err
	}
	k, text := c.kind(key.Kind), key.String()
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
	k := c.kind(q.Kind)
	m, err := newMatcher(k, q.Selection)
	if err != nil {
		return List{}, err
	}
	if err := c.freshen(ctx, q.Freshness); err != nil {
		return List{}, err
	}
	if q.Freshness.mode == exactly {
		return c.listPast(ctx, k, &m, q)
	}
	objects, revision, err := k.current(&m, c.progress.revision())
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

// bounds returns what the keys of all that a selection has begin with.
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
	prefix := m.prefix(k)
	start := prefix
	if q.After >= start {
		start = q.After + "\x00"
	}
	onlyPlace := m.name == "" && m.labels == nil && m.fields == nil
	if onlyPlace {
		rest := max(0, objects.rank(successor(prefix))-objects.rank(start))
		if q.Limit > 0 && rest > q.Limit {
			list.Remaining = rest - q.Limit
			rest = q.Limit
		}
		list.Objects = make([]*Object, 0, rest)
	}
	for o := range objects.from(start) {
		if !strings.HasPrefix(o.key, prefix) {
			break
		}
		if !onlyPlace && !m.matches(o) {
			continue
		}
		if q.Limit > 0 && len(list.Objects) == q.Limit {
			list.More = true
			break
		}
		list.Objects = append(list.Objects, o)
	}
	if list.More && !onlyPlace {
		list.Remaining = -1
	}
	return list
}

// successor returns what comes after all that begins with a text, which must not end with the
// highest byte.
func successor(prefix string) string {
	last := len(prefix) - 1
	return prefix[:last] + string([]byte{prefix[last] + 1})
}
