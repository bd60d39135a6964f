package watchcache

import (
	"context"
	"errors"

	"github.com/cadastre/cadastre/internal/storage"
)

// pageSize is how many items are read from the store at a time, pagesAhead how many pages while
// objects are made of those before.
const (
	pageSize   = 1024
	pagesAhead = 4
)

// state is the objects of a kind as they are loaded.
type state struct {
	objects    tree
	unreadable map[string]error
}

// loadAndWatch reads all that the store has, and watches it from there.
func (c *Cache) loadAndWatch(ctx context.Context) (storage.Watcher, error) {
	for {
		var w storage.Watcher
		at, err := c.load(ctx)
		if err == nil {
			w, err = c.store.Watch(ctx, "", at)
		}
		if !errors.Is(err, storage.ErrCompacted) {
			return w, err
		}
		// History was forgotten meanwhile.
	}
}

// load reads all that the store has, and returns the revision at which it did.
func (c *Cache) load(ctx context.Context) (storage.Revision, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pages := make(chan storage.Page, pagesAhead)
	failed := make(chan error, 1)
	go func() {
		defer close(pages)
		failed <- c.readPages(ctx, pages)
	}()
	states := map[*kind]*state{}
	var at storage.Revision
	for page := range pages {
		at = page.Revision
		for _, item := range page.Items {
			c.loadItem(states, item)
		}
	}
	if err := <-failed; err != nil {
		return 0, err
	}
	c.start(states, at)
	return at, nil
}

// readPages reads page after page, all at the revision of the first.
func (c *Cache) readPages(ctx context.Context, pages chan<- storage.Page) error {
	r := storage.Range{Limit: pageSize}
	for {
		page, err := c.store.List(ctx, r)
		if err != nil {
			return err
		}
		select {
		case pages <- page:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !page.More {
			return nil
		}
		r.After, r.Revision = page.Items[len(page.Items)-1].Key, page.Revision
	}
}

// loadItem makes an object of an item.
func (c *Cache) loadItem(states map[*kind]*state, item storage.Item) {
	name, _, ok := cutKind(item.Key)
	if !ok {
		c.options.Log.Error("cache: the store has something that is not an object; it is left alone", "key", item.Key)
		return
	}
	k := c.kind(name)
	s := states[k]
	if s == nil {
		s = &state{unreadable: map[string]error{}}
		states[k] = s
	}
	o, err := newObject(k, item.Key, item.Value, item.Revision)
	if err != nil {
		c.options.Log.Error("cache: the store has an object that can't be read; its kind can't be listed until it is deleted or written anew", "error", err)
		s.unreadable[item.Key] = err
		return
	}
	s.objects.set(o)
}

// start puts what was loaded in the place of all that was there.
func (c *Cache) start(states map[*kind]*state, at storage.Revision) {
	c.telling.Lock()
	defer c.telling.Unlock()
	c.mu.Lock()
	c.base = at
	c.mu.Unlock()
	for k := range c.eachKind() {
		s := states[k]
		if s == nil {
			s = &state{unreadable: map[string]error{}}
		}
		k.replace(s.objects, s.unreadable, at)
	}
	for _, o := range c.observers {
		c.tellAll(o)
	}
	c.progress.move(at)
}
