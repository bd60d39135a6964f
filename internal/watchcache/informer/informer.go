package informer

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Handler receives the objects of the informer's resources. Its methods are never called concurrently.
type Handler interface {
	// Replace receives all objects of a resource. They replace the objects of that resource that the handler received earlier.
	Replace(kind string, objects []*watchcache.Object)
	// Change receives events of a resource, without bookmarks, in the order of their revisions.
	Change(kind string, events []watchcache.Event)
}

// Options configure an informer.
type Options struct {
	Cache   *watchcache.Cache
	Kinds   []string // the resources, as GROUP/RESOURCE; Start lists them in this order
	Handler Handler
	Log     *slog.Logger
	// Description describes the objects in log messages, for instance "RBAC rules".
	Description string
}

// Informer delivers the objects of some resources to a handler. Its methods are safe for concurrent use.
type Informer struct {
	Options

	mu sync.Mutex // mu is also held while a method of the handler is called
	// seen maps each resource to the revision up to which the handler has received all changes. lost contains the resources
	// that cannot be read at present. moved is closed and replaced whenever seen or lost changes.
	seen    map[string]storage.Revision
	failed  map[string]bool
	updated chan struct{}

	runCtx  context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Start lists all resources and then watches them until Close. If an object is unreadable, Start logs that its resource
// cannot be listed and returns no error: the server must start so that the object can be deleted.
func Start(ctx context.Context, o Options) (*Informer, error) {
	i := &Informer{Options: o, seen: map[string]storage.Revision{}, failed: map[string]bool{}, updated: make(chan struct{})}
	i.runCtx, i.stop = context.WithCancel(context.Background())
	for _, kind := range o.Kinds {
		i.seen[kind] = 0
	}
	for _, kind := range o.Kinds {
		watcher, err := i.load(ctx, kind)
		if unreadable := (*watchcache.UnreadableError)(nil); err != nil && !errors.As(err, &unreadable) {
			i.Close()
			return nil, err
		}
		i.running.Go(func() { i.run(kind, watcher) })
	}
	return i, nil
}

// Close stops all watches and waits for the informer's goroutines.
func (i *Informer) Close() {
	i.stop()
	i.running.Wait()
}

// load passes all objects of the given resource to the handler, and returns a watcher of the later changes.
func (i *Informer) load(ctx context.Context, kind string) (*watchcache.Watcher, error) {
	watcher, err := i.Cache.Watch(ctx, watchcache.WatchOptions{Selection: watchcache.Selection{Kind: kind}, InitialState: true})
	if err != nil {
		i.markFailed(kind, err)
		return nil, err
	}
	var objects []*watchcache.Object
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			watcher.Close()
			i.markFailed(kind, err)
			return nil, err
		}
		for _, e := range events {
			if e.Type == watchcache.InitialEnd {
				i.replace(kind, objects, e.Revision)
				return watcher, nil
			}
			objects = append(objects, e.Object)
		}
	}
}

// markFailed records and logs that the given resource cannot be read. The handler keeps the objects that it received
// earlier.
func (i *Informer) markFailed(kind string, err error) {
	if i.runCtx.Err() != nil {
		return // an error after Close is expected
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.failed[kind] && !errors.Is(err, watchcache.ErrClosed) {
		i.Log.Error("cannot list resource; keeping the previous state", "about", i.Description, "resource", kind, "error", err)
	}
	i.failed[kind] = true
	i.notify()
}

func (i *Informer) replace(kind string, objects []*watchcache.Object, revision storage.Revision) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.Handler.Replace(kind, objects)
	i.seen[kind], i.failed[kind] = revision, false
	i.notify()
}

// notify wakes the goroutines that wait in Sync or for Updated. The caller holds i.mu.
func (i *Informer) notify() {
	close(i.updated)
	i.updated = make(chan struct{})
}

// Updated returns a channel that is closed at the next call of a method of the handler.
func (i *Informer) Updated() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.updated
}

// Done returns a channel that is closed when the informer is closed.
func (i *Informer) Done() <-chan struct{} { return i.runCtx.Done() }

// retryDelay is the delay before a resource that could not be read is listed again.
const retryDelay = time.Second

// run watches the given resource, and lists it again when a watch fails, until the informer is closed. watcher is nil if
// Start could not list the resource.
func (i *Informer) run(kind string, watcher *watchcache.Watcher) {
	for i.runCtx.Err() == nil {
		if watcher == nil {
			i.pause()
		} else if errors.Is(i.consume(kind, watcher), watchcache.ErrClosed) {
			return
		}
		var err error
		if watcher, err = i.load(i.runCtx, kind); errors.Is(err, watchcache.ErrClosed) {
			return
		}
	}
	if watcher != nil {
		watcher.Close()
	}
}

func (i *Informer) pause() {
	select {
	case <-time.After(retryDelay):
	case <-i.runCtx.Done():
	}
}

// consume passes the events of watcher to the handler until the watcher fails, and returns the watcher's error.
func (i *Informer) consume(kind string, watcher *watchcache.Watcher) error {
	defer watcher.Close()
	for {
		events, err := watcher.Next(i.runCtx)
		if err != nil {
			return err
		}
		i.change(kind, events)
	}
}

// change passes those events that are not bookmarks to the handler, and advances seen.
func (i *Informer) change(kind string, events []watchcache.Event) {
	var withObject []watchcache.Event
	for _, e := range events {
		if e.Object != nil {
			withObject = append(withObject, e)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(withObject) > 0 {
		i.Handler.Change(kind, withObject)
	}
	i.seen[kind] = events[len(events)-1].Revision
	i.notify()
}

// Sync waits until the handler has received all changes of the given resource up to and including revision, so that an
// acknowledged write takes effect for all later requests. It returns immediately if the informer is nil, or does not watch
// the resource, or cannot read it.
func (i *Informer) Sync(ctx context.Context, kind string, revision storage.Revision) error {
	if i == nil {
		return nil
	}
	for {
		i.mu.Lock()
		seen, isFollowed := i.seen[kind]
		synced, updated := !isFollowed || seen >= revision || i.failed[kind], i.updated
		i.mu.Unlock()
		if synced {
			return nil
		}
		select {
		case <-updated:
		case <-ctx.Done():
			return ctx.Err()
		case <-i.runCtx.Done():
			return watchcache.ErrClosed
		}
	}
}
