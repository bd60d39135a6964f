package watchcache

import (
	"context"
	"errors"
	"maps"

	"github.com/cadastre/cadastre/internal/storage"
)

// After a restart all clients resume their watches at the same time, from revisions before the cache was opened. The cache reads
// the store's history once and fills the event window with it, so that not every watch has to read the history.

// maxBackfillRevisions is the maximum number of past revisions that the backfill reads. If that part of the history is
// compacted or too large, the backfill retries with an eighth of the number, repeatedly.
const maxBackfillRevisions = 8192

// backfillWindow adds events up to loadRevision, the revision at which the cache was loaded, to the event window. The window may
// exceed its limit until the reflector trims it.
func (c *Cache) backfillWindow(ctx context.Context, at storage.Revision) {
	if c.options.WindowBytes == 0 {
		return
	}
	events, after, err := c.readRecentHistory(ctx, at)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, storage.ErrClosed) {
			c.options.Log.Warn("cache: cannot read the store's history; clients that resume a watch from before this start have to list again", "error", err)
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

// readRecentHistory reads the newest events up to the revision last from the store's history. It returns the events and the
// revision after which they are complete.
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

// readHistoryBetween reads the events of the store's history with after < revision <= last. It returns the newest events that fit
// into half of the window, and the revision after which the returned events are complete.
func (c *Cache) readHistoryBetween(ctx context.Context, after, at storage.Revision) ([]*event, storage.Revision, error) {
	w, err := c.store.Watch(ctx, "", after)
	if err != nil {
		return nil, 0, err
	}
	defer w.Close()
	r := backfill{c: c, after: after, latest: map[string]*Object{}}
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

// backfill collects events of the store's history. It contains all events of the history after the revision after.
type backfill struct {
	c      *Cache
	events []*event
	after  storage.Revision
	bytes  int // bytes is the total size of events
	// latest maps each key to the latest version of the object that was read. The next event of the key shares this version as
	// its field before.
	latest map[string]*Object
}

// add parses an event of the store and appends it. If a value is unreadable, all events so far are discarded, and the window
// will start after that event.
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
	r.latest[from.Key] = after
	e := &event{resource: k, revision: from.Revision, before: before, after: after}
	r.events = append(r.events, e)
	r.bytes += e.size()
}

// object returns the version of an object at a revision; nil if value is nil. It returns a version that is already in memory
// if there is one, instead of parsing the value.
func (r *backfill) object(k *resourceCache, key string, value []byte, revision storage.Revision) (*Object, error) {
	if value == nil {
		return nil, nil
	}
	if o := r.latest[key]; o != nil && o.revision == revision {
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

// newest drops the oldest events until the remaining events fit into maxBytes, and returns the remaining events.
func (r *backfill) newest(maxBytes int) []*event {
	for r.bytes > maxBytes {
		r.bytes -= r.events[0].size()
		r.after = r.events[0].revision
		r.events = r.events[1:]
	}
	return r.events
}

// prependEvents inserts earlier, all events between the revision after and oldHorizon, before the first event of the window. It
// does nothing if the horizon is no longer oldHorizon, because the window was trimmed during the backfill.
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
