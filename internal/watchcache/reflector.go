package watchcache

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// runReflector applies the store's commits to the cache until the context ends or the store is closed. If the watch of the store
// fails, runReflector opens a new watch.
func (c *Cache) runReflector(ctx context.Context, w storage.Watcher) {
	for {
		err := c.consumeWatch(ctx, w)
		w.Close()
		if ctx.Err() != nil || errors.Is(err, storage.ErrClosed) {
			c.end()
			return
		}
		c.options.Log.Warn("cache: watch of the store failed; retrying", "error", err)
		if w, err = c.resume(ctx, err); err != nil {
			c.end()
			return
		}
	}
}

// consumeWatch applies the batches of w, the watch of the store, until w fails, and returns its error.
func (c *Cache) consumeWatch(ctx context.Context, w storage.Watcher) error {
	for {
		batch, err := w.Next(ctx)
		if err != nil {
			return err
		}
		c.applyBatch(batch)
	}
}

// resume opens a new watch of the store that starts after progress. If the history after progress is compacted, resume first
// reloads all objects. It retries with exponential backoff, and returns an error only if the cache or the store is closed.
func (c *Cache) resume(ctx context.Context, reason error) (storage.Watcher, error) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		var w storage.Watcher
		var err error
		if errors.Is(reason, storage.ErrCompacted) {
			w, err = c.loadAndWatch(ctx)
		} else {
			w, err = c.store.Watch(ctx, "", c.progress.revision())
		}
		switch {
		case err == nil:
			return w, nil
		case ctx.Err() != nil || errors.Is(err, storage.ErrClosed):
			return nil, err
		}
		reason = err
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// end closes done and wakes all waiting readers and watchers, which then return ErrClosed.
func (c *Cache) end() {
	close(c.done)
	c.progress.close()
	for rc := range c.allResources() {
		rc.wakeAll()
	}
}

// applyBatch applies a batch of commits:
//
//  1. values are parsed into objects
//  2. each resource applies its changes, and observers are notified
//  3. progress advances, which unblocks writers and readers that wait for it
//  4. watchers are woken
//  5. the window is trimmed
func (c *Cache) applyBatch(batch storage.Batch) {
	changes := map[*resourceCache][]change{}
	for _, e := range batch.Events {
		name, _, ok := cutResource(e.Key)
		if !ok {
			c.options.Log.Error("cache: ignoring a key that does not name an object", "key", e.Key)
			continue
		}
		rc := c.resource(name)
		changes[rc] = append(changes[rc], c.parseEvent(rc, e))
	}
	var wake wakers
	c.applyChanges(changes, &wake)
	c.progress.advance(batch.Revision)
	wake.wakeAll()
	c.trim()
}

// applyChanges applies the changes to each resource, and then notifies the observers.
func (c *Cache) applyChanges(changes map[*resourceCache][]change, wake *wakers) {
	c.notifyMu.Lock()
	defer c.notifyMu.Unlock()
	events := c.eventBuffer[:0]
	for rc, list := range changes {
		events = rc.applyChanges(list, events, wake)
	}
	c.notifyObservers(events)
	if clear(events); cap(events) <= maxIdleBuffer {
		c.eventBuffer = events
	}
}

// parseEvent converts e, an event of the store, into a change of the resource. If the value of e is unreadable, it sets the err
// of the change.
func (c *Cache) parseEvent(rc *resourceCache, e storage.Event) change {
	made := change{key: e.Key, revision: e.Revision}
	if e.IsDelete() {
		return made
	}
	if made.object = c.pending.take(rc, e); made.object != nil {
		return made
	}
	if made.object, made.err = readObject(rc, storage.Item{Key: e.Key, Value: e.Value, Revision: e.Revision, Err: e.Err}); made.err != nil {
		c.options.Log.Error("cache: an unreadable object was written; its resource cannot be listed until the object is deleted or replaced", "error", made.err)
	}
	return made
}

// trim drops events until the event window is within its limit. It always drops the oldest event of the resource whose events
// take the most memory, so that a busy resource does not evict the events of quiet resources.
func (c *Cache) trim() {
	limit := int64(c.options.WindowBytes)
	if c.windowBytes.Load() <= limit {
		return
	}
	kinds := slices.Collect(c.allResources())
	for c.windowBytes.Load() > limit {
		slices.MaxFunc(kinds, func(a, b *resourceCache) int { return cmp.Compare(a.bytes.Load(), b.bytes.Load()) }).dropFirst()
	}
}

// allResources iterates over the resources that are in the cache at the time of the call.
func (c *Cache) allResources() iter.Seq[*resourceCache] {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Values(maps.Clone(c.resources))
}
