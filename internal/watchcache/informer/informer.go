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
	// About describes the objects in log messages, for instance "RBAC rules".
	About string
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
	f := &Informer{Options: o, seen: map[string]storage.Revision{}, failed: map[string]bool{}, updated: make(chan struct{})}
	f.runCtx, f.stop = context.WithCancel(context.Background())
	for _, kind := range o.Kinds {
		f.seen[kind] = 0
	}
	for _, kind := range o.Kinds {
		watcher, err := f.load(ctx, kind)
		if unreadable := (*watchcache.UnreadableError)(nil); err != nil && !errors.As(err, &unreadable) {
			f.Close()
			return nil, err
		}
		f.running.Go(func() { f.run(kind, watcher) })
	}
	return f, nil
}

// Close stops all watches and waits for the informer's goroutines.
func (f *Informer) Close() {
	f.stop()
	f.running.Wait()
}

// load passes all objects of a resource to the handler, and returns a watcher of the changes after that list.
func (f *Informer) load(ctx context.Context, kind string) (*watchcache.Watcher, error) {
	watcher, err := f.Cache.Watch(ctx, watchcache.WatchOptions{Selection: watchcache.Selection{Kind: kind}, InitialState: true})
	if err != nil {
		f.markFailed(kind, err)
		return nil, err
	}
	var objects []*watchcache.Object
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			watcher.Close()
			f.markFailed(kind, err)
			return nil, err
		}
		for _, e := range events {
			if e.Type == watchcache.InitialEnd {
				f.replace(kind, objects, e.Revision)
				return watcher, nil
			}
			objects = append(objects, e.Object)
		}
	}
}

// markFailed records and logs that a resource cannot be read. The handler keeps the objects that it received earlier.
func (f *Informer) markFailed(kind string, err error) {
	if f.runCtx.Err() != nil {
		return // an error after Close is expected
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.failed[kind] && !errors.Is(err, watchcache.ErrClosed) {
		f.Log.Error("cannot list resource; keeping the previous state", "about", f.About, "resource", kind, "error", err)
	}
	f.failed[kind] = true
	f.notify()
}

func (f *Informer) replace(kind string, objects []*watchcache.Object, revision storage.Revision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Handler.Replace(kind, objects)
	f.seen[kind], f.failed[kind] = revision, false
	f.notify()
}

// notify wakes the goroutines that wait in Sync or for Updated. The caller holds f.mu.
func (f *Informer) notify() {
	close(f.updated)
	f.updated = make(chan struct{})
}

// Updated returns a channel that is closed at the next call of a method of the handler.
func (f *Informer) Updated() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.updated
}

// Done returns a channel that is closed when the informer is closed.
func (f *Informer) Done() <-chan struct{} { return f.runCtx.Done() }

// retryLoad is the delay before a resource that could not be read is listed again.
const retryLoad = time.Second

// run lists and watches a resource until the informer is closed. watcher is nil if Start could not list the resource.
func (f *Informer) run(kind string, watcher *watchcache.Watcher) {
	for f.runCtx.Err() == nil {
		if watcher == nil {
			f.pause()
		} else if errors.Is(f.consume(kind, watcher), watchcache.ErrClosed) {
			return
		}
		var err error
		if watcher, err = f.load(f.runCtx, kind); errors.Is(err, watchcache.ErrClosed) {
			return
		}
	}
	if watcher != nil {
		watcher.Close()
	}
}

func (f *Informer) pause() {
	select {
	case <-time.After(retryLoad):
	case <-f.runCtx.Done():
	}
}

// consume passes the events of a watcher to the handler until the watcher fails, and returns its error.
func (f *Informer) consume(kind string, watcher *watchcache.Watcher) error {
	defer watcher.Close()
	for {
		events, err := watcher.Next(f.runCtx)
		if err != nil {
			return err
		}
		f.change(kind, events)
	}
}

// change passes events other than bookmarks to the handler, and advances seen.
func (f *Informer) change(kind string, events []watchcache.Event) {
	var withObject []watchcache.Event
	for _, e := range events {
		if e.Object != nil {
			withObject = append(withObject, e)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(withObject) > 0 {
		f.Handler.Change(kind, withObject)
	}
	f.seen[kind] = events[len(events)-1].Revision
	f.notify()
}

// Sync waits until the handler has received all changes of a resource up to a revision, so that an acknowledged write takes
// effect for all later requests. It returns immediately for resources that the informer does not watch or cannot read, and
// for a nil informer.
func (f *Informer) Sync(ctx context.Context, kind string, revision storage.Revision) error {
	if f == nil {
		return nil
	}
	for {
		f.mu.Lock()
		seen, isFollowed := f.seen[kind]
		synced, updated := !isFollowed || seen >= revision || f.failed[kind], f.updated
		f.mu.Unlock()
		if synced {
			return nil
		}
		select {
		case <-updated:
		case <-ctx.Done():
			return ctx.Err()
		case <-f.runCtx.Done():
			return watchcache.ErrClosed
		}
	}
}
