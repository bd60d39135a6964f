package watchcache

import (
	"context"
	"slices"

	"github.com/cadastre/cadastre/internal/storage"
)

// past has states of a kind that somebody has asked for and may ask for again, as those do who
// list in pages. Their objects are current ones or in the window; they share most of their nodes
// with each other and with the current state.
type past []pastState

type pastState struct {
	revision storage.Revision
	objects  tree
}

// pastStates is how many there may be.
const pastStates = 64

// use returns the state at a revision, and makes it the one that was used last.
func (p past) use(revision storage.Revision) (tree, bool) {
	for i, s := range p {
		if s.revision == revision {
			copy(p[i:], p[i+1:])
			p[len(p)-1] = s
			return s.objects, true
		}
	}
	return tree{}, false
}

// add notes a state; the one that was not used for longest makes room.
func (p *past) add(s pastState) {
	if _, known := p.use(s.revision); known {
		return
	}
	if len(*p) == pastStates {
		*p = slices.Delete(*p, 0, 1)
	}
	*p = append(*p, s)
}

// forget lets go of the states before a revision.
func (p *past) forget(before storage.Revision) {
	*p = slices.DeleteFunc(*p, func(s pastState) bool { return s.revision < before })
}

// remember notes the state at a revision.
func (k *kind) remember(revision storage.Revision, objects tree) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if revision >= k.horizon {
		k.past.add(pastState{revision, objects})
	}
}

// stateAt returns the objects as they were at a revision, or false if the window does not go
// back that far.
func (k *kind) stateAt(m *matcher, revision storage.Revision) (objects tree, ok bool, err error) {
	objects, since, ok, err := k.lookBack(m, revision)
	if len(since) == 0 {
		return objects, ok, err
	}
	for _, e := range slices.Backward(since) {
		if e.before == nil {
			objects.delete(e.after.key)
		} else {
			objects.set(e.before)
		}
	}
	k.remember(revision, objects)
	return objects, true, nil
}

// lookBack returns a state that is at hand, and the events to undo to have the one at a revision.
func (k *kind) lookBack(m *matcher, revision storage.Revision) (objects tree, since []*event, ok bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.readable(m); err != nil || revision < k.horizon {
		return tree{}, nil, false, err
	}
	if revision >= k.last {
		return k.now(), nil, true, nil
	}
	if objects, ok := k.past.use(revision); ok {
		return objects, nil, true, nil
	}
	return k.objects.clone(), slices.Clone(k.all.events.between(revision, k.last)), true, nil
}

// listPast lists the state at a revision: from the window, or else from the store's history.
func (c *Cache) listPast(ctx context.Context, k *kind, m *matcher, q Query) (List, error) {
	revision := q.Freshness.revision
	objects, ok, err := k.stateAt(m, revision)
	if err != nil {
		return List{}, err
	}
	if !ok {
		return c.listHistory(ctx, k, m, q)
	}
	list := m.list(k, objects, q)
	list.Revision = revision
	return list, nil
}

// listHistory lists the state at a revision from the store's history.
func (c *Cache) listHistory(ctx context.Context, k *kind, m *matcher, q Query) (List, error) {
	list := List{Revision: q.Freshness.revision}
	if list.Revision <= 0 {
		return list, nil // there was nothing; to the store it would mean now
	}
	r := storage.Range{Prefix: m.prefix(k), After: q.After, Limit: pageSize, Revision: list.Revision}
	if m.onlyPlace && q.Limit > 0 {
		r.Limit = min(q.Limit+1, pageSize)
	}
	for {
		page, err := c.store.List(ctx, r)
		if err != nil {
			return List{}, fromStore(err)
		}
		objects, err := pageObjects(k, page.Items)
		if err != nil {
			return List{}, err
		}
		for o := range m.of(slices.Values(objects)) {
			if q.Limit > 0 && len(list.Objects) == q.Limit {
				list.More, list.Remaining = true, -1
				return list, nil
			}
			list.Objects = append(list.Objects, o)
		}
		if !page.More {
			return list, nil
		}
		r.After = page.Items[len(page.Items)-1].Key
	}
}

// pageObjects returns the objects of a part of the store.
func pageObjects(k *kind, items []storage.Item) ([]*Object, error) {
	objects := make([]*Object, len(items))
	for i, item := range items {
		var err error
		if objects[i], err = newObject(k, item.Key, item.Value, item.Revision); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// openHistory follows the store's history of a kind.
func (c *Cache) openHistory(ctx context.Context, k *kind, after storage.Revision) (storage.Watcher, error) {
	w, err := c.store.Watch(ctx, k.prefix(), after)
	return w, fromStore(err)
}

// nextOld returns the next events of the store's history, and how far they go.
func nextOld(ctx context.Context, k *kind, history storage.Watcher) (events []*event, until storage.Revision, err error) {
	batch, err := history.Next(ctx)
	if err != nil {
		return nil, 0, fromStore(err)
	}
	for _, from := range batch.Events {
		e, err := oldEvent(k, from)
		if err != nil {
			return nil, 0, ErrTooOld // as when it happens now, see kind.change
		}
		events = append(events, e)
	}
	return events, batch.Revision, nil
}

// oldEvent makes an event of what the store's history has.
func oldEvent(k *kind, from storage.Event) (e *event, err error) {
	e = &event{kind: k, revision: from.Revision}
	if from.Previous != nil {
		if e.before, err = newObject(k, from.Key, from.Previous, from.PreviousRevision); err != nil {
			return nil, err
		}
	}
	if !from.IsDelete() {
		if e.after, err = newObject(k, from.Key, from.Value, from.Revision); err != nil {
			return nil, err
		}
	}
	return e, nil
}
