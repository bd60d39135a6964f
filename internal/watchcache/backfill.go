package watchcache

import (
	"context"
	"errors"
	"maps"

	"github.com/cadastre/cadastre/internal/storage"
)

// After a restart all clients resume their watches at the same time, from revisions before the cache was opened. The cache reads
// the store's history once and fills the event window with it; without that, every resumed watch would have to read the history.

// maxBackfillRevisions is the maximum number of past revisions that the backfill reads. If that part of the history is compacted
// or too large, the backfill tries again with an eighth of the number, until it succeeds or the number is 0.
const maxBackfillRevisions = 8192

// backfillWindow adds past events to the event window, up to and including loadRevision, the revision at which the cache was
// loaded. The window may exceed its limit until the reflector trims it.
func (c *Cache) backfillWindow(ctx context.Context, loadRevision storage.Revision) {
	if c.options.WindowBytes == 0 {
		return
	}
	events, after, err := c.readRecentHistory(ctx, loadRevision)
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
	if c.base == loadRevision {
		c.base = after
	}
	kinds := maps.Clone(c.resources)
	c.mu.Unlock()
	for _, rc := range kinds {
		rc.prependEvents(byKind[rc], after, loadRevision)
	}
}

// readRecentHistory reads the newest events up to and including the revision last from the store's history. It returns the events
// and the revision after which they are complete.
func (c *Cache) readRecentHistory(ctx context.Context, last storage.Revision) (events []*event, after storage.Revision, err error) {
	for back := storage.Revision(maxBackfillRevisions); back > 0; back /= 8 {
		events, after, err = c.readHistoryBetween(ctx, max(0, last-back), last)
		if !errors.Is(err, errHistoryTooLarge) && !errors.Is(err, storage.ErrCompacted) {
			return events, after, err
		}
	}
	return nil, last, nil
}

var errHistoryTooLarge = errors.New("history too large")

// readHistoryBetween reads the events of the store's history with after < revision <= last. It returns the newest events that fit
// into half of the window, and the revision after which the returned events are complete.
func (c *Cache) readHistoryBetween(ctx context.Context, after, last storage.Revision) ([]*event, storage.Revision, error) {
	w, err := c.store.Watch(ctx, "", after)
	if err != nil {
		return nil, 0, err
	}
	defer w.Close()
	b := backfill{c: c, after: after, latest: map[string]*Object{}}
	read := 0
	for reached := after; reached < last; {
		batch, err := w.Next(ctx)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range batch.Events {
			if e.Revision <= last {
				b.add(e)
			}
			read += len(e.Value) + len(e.Previous)
		}
		if read > 4*c.options.WindowBytes {
			return nil, 0, errHistoryTooLarge
		}
		reached = batch.Revision
	}
	return b.dropOldest(c.options.WindowBytes / 2), b.after, nil
}

// backfill collects the events of the store's history after the revision in its field after.
type backfill struct {
	c      *Cache
	events []*event
	after  storage.Revision
	bytes  int // bytes is the total size of events
	// latest maps each key to the latest version of the object that was read. The next event of that key refers to the same Object
	// in its field before.
	latest map[string]*Object
}

// add parses stored, the next event of the store, and appends it to b.events. If a value of stored is unreadable, add discards
// all events so far, and the backfilled window will start after stored.
func (b *backfill) add(stored storage.Event) {
	name, _, ok := cutResource(stored.Key)
	if !ok {
		return
	}
	rc := b.c.resource(name)
	before, err := b.object(rc, stored.Key, stored.Previous, stored.PreviousRevision)
	var after *Object
	if err == nil {
		after, err = b.object(rc, stored.Key, stored.Value, stored.Revision)
	}
	if err != nil {
		b.events, b.bytes, b.after = nil, 0, stored.Revision
		return
	}
	b.latest[stored.Key] = after
	e := &event{resource: rc, revision: stored.Revision, before: before, after: after}
	b.events = append(b.events, e)
	b.bytes += e.size()
}

// object returns the Object with the given key, value and revision; nil if value is nil. If this version of the object is in
// memory already, object returns it instead of parsing value.
func (b *backfill) object(rc *resourceCache, key string, value []byte, revision storage.Revision) (*Object, error) {
	if value == nil {
		return nil, nil
	}
	if o := b.latest[key]; o != nil && o.revision == revision {
		return o, nil
	}
	rc.mu.RLock()
	current := rc.objects.get(key)
	rc.mu.RUnlock()
	if current != nil && current.revision == revision {
		return current, nil
	}
	return newObject(rc, key, value, revision)
}

// dropOldest drops the oldest events until the total size of the remaining events is at most maxBytes, and returns the remaining
// events.
func (b *backfill) dropOldest(maxBytes int) []*event {
	for b.bytes > maxBytes {
		b.bytes -= b.events[0].size()
		b.after = b.events[0].revision
		b.events = b.events[1:]
	}
	return b.events
}

// prependEvents inserts earlier, all events with after < revision <= oldHorizon, before the first event of the window. It does
// nothing if the horizon is no longer oldHorizon, because the window was trimmed during the backfill.
func (rc *resourceCache) prependEvents(earlier []*event, after, oldHorizon storage.Revision) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	if rc.horizon != oldHorizon {
		return
	}
	for _, e := range earlier {
		rc.addBytes(e.size())
	}
	rc.all.events.prepend(earlier)
	rc.horizon = after
}
