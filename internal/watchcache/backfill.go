package watchcache

import (
	"context"
	"errors"
	"maps"

	"github.com/cadastre/cadastre/internal/storage"
)

// After a restart all clients resume their watches at once, from revisions before the start. Therefore the window is
// filled with events from before the cache was opened, which are read from the store's history once.

// maxBackfillRevisions is the maximum number of revisions that the backfill reads. If the history of that many
// revisions is compacted or too large, an eighth of it is tried, and so on.
const maxBackfillRevisions = 8192

// backfillWindow adds the events before the revision at which the cache was loaded to the window. The window may
// exceed its limit until the reflector trims it.
func (c *Cache) backfillWindow(ctx context.Context, at storage.Revision) {
	if c.options.WindowBytes == 0 {
		return
	}
	events, after, err := c.readRecentHistory(ctx, at)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, storage.ErrClosed) {
			c.options.Log.Warn("cache: cannot read the store's history; watches from before this start need to list again", "error", err)
		}
		return
	}
	byKind := map[*resourceCache][]*event{}
	for _, e := range events {
		byKind[e.resource] = append(byKind[e.resource], e)
	}
	c.mu.Lock()
	if c.base == at {
		c.base = after
	}
	kinds := maps.Clone(c.resources)
	c.mu.Unlock()
	for _, k := range kinds {
		k.prependEvents(byKind[k], after, at)
	}
}

// readRecentHistory reads the events up to a revision, from as far back as possible.
func (c *Cache) readRecentHistory(ctx context.Context, at storage.Revision) (events []*event, after storage.Revision, err error) {
	for back := storage.Revision(maxBackfillRevisions); back > 0; back /= 8 {
		events, after, err = c.readHistoryBetween(ctx, max(0, at-back), at)
		if !errors.Is(err, errHistoryTooLarge) && !errors.Is(err, storage.ErrCompacted) {
			return events, after, err
		}
	}
	return nil, at, nil
}

var errHistoryTooLarge = errors.New("history too large")

// readHistoryBetween reads the events after one revision up to another. It returns the newest of them that fit into
// half of the window, and the revision after which they are complete.
func (c *Cache) readHistoryBetween(ctx context.Context, after, at storage.Revision) ([]*event, storage.Revision, error) {
	w, err := c.store.Watch(ctx, "", after)
	if err != nil {
		return nil, 0, err
	}
	defer w.Close()
	r := backfill{c: c, after: after, made: map[string]*Object{}}
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
			return nil, 0, errHistoryTooLarge
		}
		until = batch.Revision
	}
	return r.newest(c.options.WindowBytes / 2), r.after, nil
}

// backfill collects events of the store's history.
type backfill struct {
	c      *Cache
	events []*event
	after  storage.Revision
	bytes  int // size of events
	// made has the latest version of each object: the version before of the next event with that key.
	made map[string]*Object
}

// add parses an event. An unreadable value discards all earlier events: the window then starts after it.
func (r *backfill) add(from storage.Event) {
	name, _, ok := cutResource(from.Key)
	if !ok {
		return
	}
	k := r.c.resource(name)
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
	e := &event{resource: k, revision: from.Revision, before: before, after: after}
	r.events = append(r.events, e)
	r.bytes += e.size()
}

// object returns the version of an object at a revision; nil if value is nil. Versions that are in memory already are
// shared.
func (r *backfill) object(k *resourceCache, key string, value []byte, revision storage.Revision) (*Object, error) {
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

// newest drops the oldest events until the others fit into maxBytes, and returns those.
func (r *backfill) newest(maxBytes int) []*event {
	for r.bytes > maxBytes {
		r.bytes -= r.events[0].size()
		r.after = r.events[0].revision
		r.events = r.events[1:]
	}
	return r.events
}

// prependEvents adds events before those of the window, which are complete after revision at. It does nothing if the
// horizon is not at: the window has been trimmed meanwhile.
func (k *resourceCache) prependEvents(earlier []*event, after, at storage.Revision) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.horizon != at {
		return
	}
	for _, e := range earlier {
		k.addBytes(e.size())
	}
	k.all.events.prepend(earlier)
	k.horizon = after
}
