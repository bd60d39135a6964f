package watchcache

import (
	"context"
	"errors"
	"maps"

	"github.com/cadastre/cadastre/internal/storage"
)

// When a server starts again, all who watched go on from where they were, at once. So the window
// goes back to before the cache was opened, as far as it would have gone had it been there: the
// events are read from the store's history, once for all.

// recalledRevisions is how far back it goes at most. Where the history of so many revisions is not
// there any more, or is too large to go through, it goes back an eighth of that, and so on.
const recalledRevisions = 8192

// recall puts what happened before a revision, at which the cache was loaded, into the window. That
// may be too much for it until the follower comes by again.
func (c *Cache) recall(ctx context.Context, at storage.Revision) {
	if c.options.WindowBytes == 0 {
		return
	}
	events, after, err := c.readFarBack(ctx, at)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, storage.ErrClosed) {
			c.options.Log.Warn("cache: watches can't go on from before this start", "error", err)
		}
		return
	}
	byKind := map[*kind][]*event{}
	for _, e := range events {
		byKind[e.kind] = append(byKind[e.kind], e)
	}
	c.mu.Lock()
	if c.base == at {
		c.base = after
	}
	kinds := maps.Clone(c.kinds)
	c.mu.Unlock()
	for _, k := range kinds {
		k.extend(byKind[k], after, at)
	}
}

// readFarBack reads the events up to a revision from as far back as can be.
func (c *Cache) readFarBack(ctx context.Context, at storage.Revision) (events []*event, after storage.Revision, err error) {
	for back := storage.Revision(recalledRevisions); back > 0; back /= 8 {
		events, after, err = c.readBack(ctx, max(0, at-back), at)
		if !errors.Is(err, errTooMuch) && !errors.Is(err, storage.ErrCompacted) {
			return events, after, err
		}
	}
	return nil, at, nil
}

var errTooMuch = errors.New("there is too much history")

// readBack reads the events after one revision up to another, and returns the newest of them that
// the window has room for, and after which revision those are.
func (c *Cache) readBack(ctx context.Context, after, at storage.Revision) ([]*event, storage.Revision, error) {
	w, err := c.store.Watch(ctx, "", after)
	if err != nil {
		return nil, 0, err
	}
	defer w.Close()
	r := recaller{c: c, after: after, made: map[string]*Object{}}
	read := 0
	for until := after; until < at; {
		batch, err := w.Next(ctx)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range batch.Events {
			if e.Revision <= at {
				r.add(e)
			}
			read += len(e.Value) + len(e.Previous)
		}
		if read > 4*c.options.WindowBytes {
			return nil, 0, errTooMuch
		}
		until = batch.Revision
	}
	return r.fitting(c.options.WindowBytes / 2), r.after, nil
}

// recaller makes events of what the store's history has.
type recaller struct {
	c      *Cache
	events []*event
	after  storage.Revision
	bytes  int // that the events keep alive
	// made are the objects as they were last: each is what the next event of its key has as
	// the one before.
	made map[string]*Object
}

// add makes an event. What can't be read ends the past: it begins anew behind it.
func (r *recaller) add(from storage.Event) {
	name, _, ok := cutKind(from.Key)
	if !ok {
		return
	}
	k := r.c.kind(name)
	before, err := r.object(k, from.Key, from.Previous, from.PreviousRevision)
	var after *Object
	if err == nil {
		after, err = r.object(k, from.Key, from.Value, from.Revision)
	}
	if err != nil {
		r.events, r.bytes, r.after = nil, 0, from.Revision
		return
	}
	r.made[from.Key] = after
	e := &event{kind: k, revision: from.Revision, before: before, after: after}
	r.events = append(r.events, e)
	r.bytes += e.size()
}

// object returns the version of an object that was at a revision, nil if there was none. Those
// that are known already are shared.
func (r *recaller) object(k *kind, key string, value []byte, revision storage.Revision) (*Object, error) {
	if value == nil {
		return nil, nil
	}
	if o := r.made[key]; o != nil && o.revision == revision {
		return o, nil
	}
	k.mu.RLock()
	now := k.objects.get(key)
	k.mu.RUnlock()
	if now != nil && now.revision == revision {
		return now, nil
	}
	return newObject(k, key, value, revision)
}

// fitting returns the newest events that keep no more alive than they may.
func (r *recaller) fitting(most int) []*event {
	for r.bytes > most {
		r.bytes -= r.events[0].size()
		r.after = r.events[0].revision
		r.events = r.events[1:]
	}
	return r.events
}

// extend puts events of the past before those that the window has, which begin at a revision;
// unless the window has moved on meanwhile.
func (k *kind) extend(earlier []*event, after, at storage.Revision) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.horizon != at {
		return
	}
	for _, e := range earlier {
		k.grow(e.size())
	}
	k.all.events.prepend(earlier)
	k.horizon = after
}
