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

// follow is the follower.
func (c *Cache) follow(ctx context.Context, w storage.Watcher) {
	for {
		err := c.followOne(ctx, w)
		w.Close()
		if ctx.Err() != nil || errors.Is(err, storage.ErrClosed) {
			c.end()
			return
		}
		c.options.Log.Warn("cache: lost sight of the store; trying again", "error", err)
		if w, err = c.resume(ctx, err); err != nil {
			c.end()
			return
		}
	}
}

// followOne takes batches until there are no more.
func (c *Cache) followOne(ctx context.Context, w storage.Watcher) error {
	for {
		batch, err := w.Next(ctx)
		if err != nil {
			return err
		}
		c.take(batch)
	}
}

// resume watches the store again, and first loads it again if the history that is missing was
// forgotten. It fails only when the cache or the store is closed.
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

// end wakes all who wait, since nothing comes any more.
func (c *Cache) end() {
	close(c.done)
	c.progress.close()
	for k := range c.eachKind() {
		k.end()
	}
}

// take does what a batch says:
//
//  1. objects are made of values
//  2. each kind does what concerns it, and observers are told
//  3. progress moves on, for writers and readers that wait for it
//  4. watchers are woken
//  5. the window is made small enough
func (c *Cache) take(batch storage.Batch) {
	changes := map[*kind][]change{}
	for _, e := range batch.Events {
		name, _, ok := cutKind(e.Key)
		if !ok {
			c.options.Log.Error("cache: the store has something that is not an object; it is left alone", "key", e.Key)
			continue
		}
		k := c.kind(name)
		changes[k] = append(changes[k], c.read(k, e))
	}
	var wake wakers
	c.change(changes, &wake)
	c.progress.move(batch.Revision)
	wake.all()
	c.trim()
}

// change has each kind do what concerns it, and tells observers when all is done.
func (c *Cache) change(changes map[*kind][]change, wake *wakers) {
	c.telling.Lock()
	defer c.telling.Unlock()
	events := c.happened[:0]
	for k, list := range changes {
		events = k.change(list, events, wake)
	}
	c.tellObservers(events)
	if clear(events); cap(events) <= fewEvents {
		c.happened = events
	}
}

// read makes a change of what the store tells.
func (c *Cache) read(k *kind, e storage.Event) change {
	made := change{key: e.Key, revision: e.Revision}
	if e.IsDelete() {
		return made
	}
	if made.object = c.pending.take(k, e); made.object != nil {
		return made
	}
	if made.object, made.err = newObject(k, e.Key, e.Value, e.Revision); made.err != nil {
		c.options.Log.Error("cache: an object that can't be read was written; its kind can't be listed until it is deleted or written anew", "error", made.err)
	}
	return made
}

// trim forgets events as long as the window keeps too much alive, the oldest of the kind that
// has most: a kind that changes all the time must not take the past from those that don't.
func (c *Cache) trim() {
	most := int64(c.options.WindowBytes)
	if c.windowBytes.Load() <= most {
		return
	}
	kinds := slices.Collect(c.eachKind())
	for c.windowBytes.Load() > most {
		slices.MaxFunc(kinds, func(a, b *kind) int { return cmp.Compare(a.bytes.Load(), b.bytes.Load()) }).dropFirst()
	}
}

// eachKind goes through the kinds that there are now.
func (c *Cache) eachKind() iter.Seq[*kind] {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Values(maps.Clone(c.kinds))
}
