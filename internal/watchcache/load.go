package watchcache

import (
	"context"
	"errors"

	"github.com/cadastre/cadastre/internal/storage"
)

// pageSize is the maximum number of items in a page when the store is listed. pagesAhead is the number of pages that are read
// ahead while objects are parsed.
const (
	pageSize   = 1024
	pagesAhead = 4
)

// state holds the objects of a resource, and the errors of unreadable objects, while the store is being loaded.
type state struct {
	objects    tree
	unreadable map[string]error
}

// loadAndWatch loads all objects, and opens a watch of the store that starts after the revision of the load.
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
		// The revision of the list was compacted before the watch was opened; the loop lists again.
	}
}

// load replaces the contents of the cache with the objects of the store, and returns the revision at which they were listed.
func (c *Cache) load(ctx context.Context) (storage.Revision, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	pages := make(chan storage.Page, pagesAhead)
	failed := make(chan error, 1)
	go func() {
		defer close(pages)
		failed <- c.readPages(ctx, pages)
	}()
	states := map[*resourceCache]*state{}
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

// readPages lists the store page by page, all pages at the revision of the first page, and sends them to a channel.
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

// loadItem parses item, an item of the store, and adds the object or the parse error to the state of its resource in states.
func (c *Cache) loadItem(states map[*resourceCache]*state, item storage.Item) {
	name, _, ok := cutResource(item.Key)
	if !ok {
		c.options.Log.Error("cache: ignoring a key that does not name an object", "key", item.Key)
		return
	}
	rc := c.resource(name)
	s := states[rc]
	if s == nil {
		s = &state{unreadable: map[string]error{}}
		states[rc] = s
	}
	o, err := readObject(rc, item)
	if err != nil {
		c.options.Log.Error("cache: the store contains an unreadable object; its resource cannot be listed until the object is deleted or replaced", "error", err)
		s.unreadable[item.Key] = err
		return
	}
	s.objects.set(o)
}

// start replaces the objects of all resources with the loaded objects in states, notifies the observers, and sets progress to
// revision, at which the objects were loaded.
func (c *Cache) start(states map[*resourceCache]*state, revision storage.Revision) {
	c.notifyMu.Lock()
	defer c.notifyMu.Unlock()
	c.mu.Lock()
	c.base = revision
	c.mu.Unlock()
	for rc := range c.allResources() {
		s := states[rc]
		if s == nil {
			s = &state{unreadable: map[string]error{}}
		}
		rc.replace(s.objects, s.unreadable, revision)
	}
	for _, o := range c.observers {
		c.notifyAll(o)
	}
	c.progress.advance(revision)
}
