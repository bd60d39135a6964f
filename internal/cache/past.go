package cache

import (
	"context"
	"errors"
	"slices"

	"github.com/cadastre/cadastre/internal/store"
)

// past has states of a kind that somebody has asked for and may ask for again, as those do who
// list in pages. They share most with each other and with the current state, and what they
// don't share the window has anyway.
type past []pastState

type pastState struct {
	revision store.Revision
	objects  tree
}

// pastStates is how many there may be.
const pastStates = 64

// find returns the state at a revision, and makes it the one that was used last.
func (p past) find(revision store.Revision) (tree, bool) {
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
	if _, known := p.find(s.revision); known {
		return
	}
	if len(*p) == pastStates {
		*p = slices.Delete(*p, 0, 1)
	}
	*p = append(*p, s)
}

// forget lets go of the states before a revision.
func (p *past) forget(before store.Revision) {
	*p = slices.DeleteFunc(*p, func(s pastState) bool { return s.revision < before })
}

// remember notes the state at a revision.
func (k *kind) remember(revision store.Revision, objects tree) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if revision >= k.horizon {
		k.past.add(pastState{revision, objects})
	}
}

// stateAt returns the objects as they were at a revision, or false if the window does not go
// back that far.
func (k *kind) stateAt(m *matcher, revision store.Revision) (objects tree, ok bool, err error) {
	k.mu.Lock()
	if err := k.readable(m); err != nil || revision < k.horizon {
		k.mu.Unlock()
		return tree{}, false, err
	}
	if revision >= k.last {
		objects = k.now()
		k.mu.Unlock()
		return objects, true, nil
	}
	objects, ok = k.past.find(revision)
	if ok {
		k.mu.Unlock()
		return objects, true, nil
	}
	objects = k.objects.clone()
	since := slices.Clone(k.all.events.between(revision, k.last))
	k.mu.Unlock()

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
	r := store.Range{Prefix: m.prefix(k), After: q.After, Limit: pageSize, Revision: list.Revision}
	if m.isTopic && q.Limit > 0 {
		r.Limit = min(q.Limit+1, pageSize)
	}
	for {
		page, err := c.store.List(ctx, r)
		if errors.Is(err, store.ErrCompacted) {
			return List{}, ErrTooOld
		}
		if err != nil {
			return List{}, err
		}
		for _, item := range page.Items {
			o, err := newObject(k, item.Key, item.Value, item.Revision)
			if err != nil {
				return List{}, err
			}
			if !m.matches(o) {
				continue
			}
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

// oldEvents are events that are older than the window, as the store's history has them.
type oldEvents struct {
	watcher store.Watcher
	stop    context.CancelFunc
}

// openHistory follows the store's history of a kind.
func (c *Cache) openHistory(k *kind, after store.Revision) (*oldEvents, error) {
	ctx, stop := context.WithCancel(context.Background())
	w, err := c.store.Watch(ctx, k.prefix(), after)
	if err != nil {
		stop()
		if errors.Is(err, store.ErrCompacted) {
			return nil, ErrTooOld
		}
		return nil, err
	}
	return &oldEvents{w, stop}, nil
}

// next returns the next events, and how far they go.
func (h *oldEvents) next(ctx context.Context, k *kind) (events []*event, until store.Revision, err error) {
	batch, err := h.watcher.Next(ctx)
	switch {
	case errors.Is(err, store.ErrCompacted):
		return nil, 0, ErrTooOld
	case errors.Is(err, store.ErrClosed):
		return nil, 0, ErrClosed
	case err != nil:
		return nil, 0, err
	}
	for _, from := range batch.Events {
		e, err := oldEvent(k, from)
		if err != nil {
			return nil, 0, ErrTooOld // as when it happens now, see kind.apply
		}
		events = append(events, e)
	}
	return events, batch.Revision, nil
}

// oldEvent makes an event of what the store's history has.
func oldEvent(k *kind, from store.Event) (e *event, err error) {
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

func (h *oldEvents) close() {
	h.watcher.Close()
	h.stop()
}
