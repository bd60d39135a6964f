package watchcache

import (
	"context"
	"slices"

	"github.com/cadastre/cadastre/internal/storage"
)

// pastSnapshots holds snapshots of a resource at earlier revisions, the least recently used first, for clients that list page
// by page. Their objects are also in the current state or in the event window, and their trees share most nodes with each
// other and with the current tree.
type pastSnapshots []pastSnapshot

type pastSnapshot struct {
	revision storage.Revision
	objects  tree
}

// maxPastSnapshots is the maximum number of past snapshots per resource.
const maxPastSnapshots = 64

// get returns the snapshot at a revision and marks it as the most recently used; it returns false if there is none.
func (p pastSnapshots) get(revision storage.Revision) (tree, bool) {
	for i, s := range p {
		if s.revision == revision {
			copy(p[i:], p[i+1:])
			p[len(p)-1] = s
			return s.objects, true
		}
	}
	return tree{}, false
}

// add adds a snapshot, and evicts the least recently used snapshot if there are more than maxPastSnapshots.
func (p *pastSnapshots) add(s pastSnapshot) {
	if _, known := p.get(s.revision); known {
		return
	}
	if len(*p) == maxPastSnapshots {
		*p = slices.Delete(*p, 0, 1)
	}
	*p = append(*p, s)
}

// dropBefore releases the snapshots before a revision.
func (p *pastSnapshots) dropBefore(before storage.Revision) {
	*p = slices.DeleteFunc(*p, func(s pastSnapshot) bool { return s.revision < before })
}

// retainSnapshot adds the snapshot of a revision to past, unless the revision is before the horizon.
func (k *resourceCache) retainSnapshot(revision storage.Revision, objects tree) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if revision >= k.horizon {
		k.past.add(pastSnapshot{revision, objects})
	}
}

// snapshotAt returns the objects at a revision; ok is false if the event window does not reach back that far.
func (k *resourceCache) snapshotAt(m *matcher, revision storage.Revision) (objects tree, ok bool, err error) {
	objects, since, ok, err := k.snapshotAndEvents(m, revision)
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
	k.retainSnapshot(revision, objects)
	return objects, true, nil
}

// snapshotAndEvents returns a snapshot, and the events that have to be undone in it to get the state at a revision. ok is
// false if the revision is before the horizon.
func (k *resourceCache) snapshotAndEvents(m *matcher, revision storage.Revision) (objects tree, since []*event, ok bool, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.readable(m); err != nil || revision < k.horizon {
		return tree{}, nil, false, err
	}
	if revision >= k.last {
		return k.currentSnapshot(), nil, true, nil
	}
	if objects, ok := k.past.get(revision); ok {
		return objects, nil, true, nil
	}
	return k.objects.clone(), slices.Clone(k.all.events.between(revision, k.last)), true, nil
}

// listPast lists the objects at the revision of an Exactly query: from the event window, or from the store's history if the
// revision is before the window.
func (c *Cache) listPast(ctx context.Context, k *resourceCache, m *matcher, q Query) (List, error) {
	revision := q.Freshness.revision
	objects, ok, err := k.snapshotAt(m, revision)
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

// listHistory lists the objects at the revision of an Exactly query from the store's history. It returns ErrTooOld if that
// revision was compacted.
func (c *Cache) listHistory(ctx context.Context, k *resourceCache, m *matcher, q Query) (List, error) {
	list := List{Revision: q.Freshness.revision}
	if list.Revision <= 0 {
		return list, nil // revision 0 has no objects; it is not passed to the store, for which 0 means the current revision
	}
	r := storage.Range{Prefix: m.prefix(k), After: q.After, Limit: pageSize, Revision: list.Revision}
	if m.onlyNamespacedName && q.Limit > 0 {
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
		for o := range m.filter(slices.Values(objects)) {
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

// pageObjects parses the items of a page of the store.
func pageObjects(k *resourceCache, items []storage.Item) ([]*Object, error) {
	objects := make([]*Object, len(items))
	for i, item := range items {
		var err error
		if objects[i], err = newObject(k, item.Key, item.Value, item.Revision); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// openHistory opens a watch of the store for the events of a resource after a revision.
func (c *Cache) openHistory(ctx context.Context, k *resourceCache, after storage.Revision) (storage.Watcher, error) {
	w, err := c.store.Watch(ctx, k.prefix(), after)
	return w, fromStore(err)
}

// readHistory returns the next events from a watch of the store's history, and the revision up to which they are complete.
func readHistory(ctx context.Context, k *resourceCache, history storage.Watcher) (events []*event, until storage.Revision, err error) {
	batch, err := history.Next(ctx)
	if err != nil {
		return nil, 0, fromStore(err)
	}
	for _, from := range batch.Events {
		e, err := historyEvent(k, from)
		if err != nil {
			return nil, 0, ErrTooOld // an unreadable value ends the watch, as in resourceCache.applyChanges
		}
		events = append(events, e)
	}
	return events, batch.Revision, nil
}

// historyEvent converts an event of the store's history into an event of the cache. It returns an error if a value is
// unreadable.
func historyEvent(k *resourceCache, from storage.Event) (e *event, err error) {
	e = &event{resource: k, revision: from.Revision}
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
