package watchcache

import (
	"context"
	"slices"

	"github.com/cadastre/cadastre/internal/storage"
)

// pastSnapshots holds snapshots of a resource at earlier revisions, for clients that list page by page. The least recently
// used snapshot comes first. Their objects are also in the current state or in the event window, and their trees share most
// nodes with each other and with the current tree.
type pastSnapshots []pastSnapshot

type pastSnapshot struct {
	revision storage.Revision
	objects  tree
}

// maxPastSnapshots is the maximum number of past snapshots per resource.
const maxPastSnapshots = 64

// get returns the snapshot at revision and marks it as the most recently used; it returns false if there is none.
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

// dropBefore releases the snapshots at revisions less than revision.
func (p *pastSnapshots) dropBefore(revision storage.Revision) {
	*p = slices.DeleteFunc(*p, func(s pastSnapshot) bool { return s.revision < revision })
}

// retainSnapshot adds objects, the snapshot at revision, to past, unless revision is less than the horizon.
func (rc *resourceCache) retainSnapshot(revision storage.Revision, objects tree) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if revision >= rc.horizon {
		rc.past.add(pastSnapshot{revision, objects})
	}
}

// snapshotAt returns the objects at revision; ok is false if revision is less than the horizon of the event window.
func (rc *resourceCache) snapshotAt(m *matcher, revision storage.Revision) (objects tree, ok bool, err error) {
	objects, since, ok, err := rc.snapshotAndEvents(m, revision)
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
	rc.retainSnapshot(revision, objects)
	return objects, true, nil
}

// snapshotAndEvents returns a snapshot, and the events since revision, which the caller undoes in the snapshot to get the
// state at revision. ok is false if revision is less than the horizon.
func (rc *resourceCache) snapshotAndEvents(m *matcher, revision storage.Revision) (objects tree, since []*event, ok bool, err error) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if err := rc.checkReadable(m); err != nil || revision < rc.horizon {
		return tree{}, nil, false, err
	}
	if revision >= rc.last {
		return rc.currentSnapshot(), nil, true, nil
	}
	if objects, ok := rc.past.get(revision); ok {
		return objects, nil, true, nil
	}
	return rc.objects.clone(), slices.Clone(rc.all.events.between(revision, rc.last)), true, nil
}

// listPast lists the objects at the revision of an Exactly query: from the event window, or from the store's history if the
// revision is before the window.
func (c *Cache) listPast(ctx context.Context, rc *resourceCache, m *matcher, q Query) (List, error) {
	revision := q.Freshness.revision
	objects, ok, err := rc.snapshotAt(m, revision)
	if err != nil {
		return List{}, err
	}
	if !ok {
		return c.listHistory(ctx, rc, m, q)
	}
	list, err := m.list(ctx, rc, objects, q)
	list.Revision = revision
	return list, err
}

// listHistory lists the objects at the revision of an Exactly query from the store's history. It returns ErrTooOld if that
// revision was compacted.
func (c *Cache) listHistory(ctx context.Context, rc *resourceCache, m *matcher, q Query) (List, error) {
	list := List{Revision: q.Freshness.revision}
	if list.Revision <= 0 {
		return list, nil // revision 0 has no objects; it is not passed to the store, for which 0 means the current revision
	}
	r := storage.Range{Prefix: m.prefix(rc), After: q.After, Limit: pageSize, Revision: list.Revision}
	if m.onlyNamespacedName && q.Limit > 0 {
		r.Limit = min(q.Limit+1, pageSize)
	}
	for {
		page, err := c.store.List(ctx, r)
		if err != nil {
			return List{}, translateError(err)
		}
		objects, err := parseItems(rc, page.Items)
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

// parseItems returns the objects of items, which are a page of the store.
func parseItems(rc *resourceCache, items []storage.Item) ([]*Object, error) {
	objects := make([]*Object, len(items))
	for i, item := range items {
		var err error
		if objects[i], err = newObject(rc, item.Key, item.Value, item.Revision); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// openHistory opens a watch of the store for the events of the resource rc after the revision after.
func (c *Cache) openHistory(ctx context.Context, rc *resourceCache, after storage.Revision) (storage.Watcher, error) {
	w, err := c.store.Watch(ctx, rc.prefix(), after)
	return w, translateError(err)
}

// readHistory returns the next events from history, a watch of the store, and last, the revision up to and including which
// they are complete.
func readHistory(ctx context.Context, rc *resourceCache, history storage.Watcher) (events []*event, last storage.Revision, err error) {
	batch, err := history.Next(ctx)
	if err != nil {
		return nil, 0, translateError(err)
	}
	for _, stored := range batch.Events {
		e, err := historyEvent(rc, stored)
		if err != nil {
			return nil, 0, ErrTooOld // an unreadable value ends the watch, as in resourceCache.applyChanges
		}
		events = append(events, e)
	}
	return events, batch.Revision, nil
}

// historyEvent converts stored, an event of the store's history, into an event of the cache. It returns an error if a value
// of stored is unreadable.
func historyEvent(rc *resourceCache, stored storage.Event) (e *event, err error) {
	e = &event{resource: rc, revision: stored.Revision}
	if stored.Previous != nil {
		if e.before, err = newObject(rc, stored.Key, stored.Previous, stored.PreviousRevision); err != nil {
			return nil, err
		}
	}
	if !stored.IsDelete() {
		if e.after, err = newObject(rc, stored.Key, stored.Value, stored.Revision); err != nil {
			return nil, err
		}
	}
	return e, nil
}
