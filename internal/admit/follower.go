package admit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/store"
)

// retryLoad is how long to wait before a kind that can't be followed is tried again.
const retryLoad = time.Second

// A Follower knows all objects of some kinds, which are few, and tells when they change.
type Follower struct {
	cache   *cache.Cache
	log     *slog.Logger
	changed func(kind string, objects map[string]*cache.Object)

	mu    sync.Mutex
	there map[string]map[string]*cache.Object // by kind and name
	// seen are the revisions up to which changed has been told of all of a kind; lost are the kinds that can't be
	// followed at present. moved is closed when any of this changes.
	seen  map[string]store.Revision
	lost  map[string]bool
	moved chan struct{}

	life    context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Follow follows kinds that have no namespaces. Changed is called with all objects of a kind, never twice at once, before
// Follow returns and whenever they change; it must not keep the map.
func Follow(ctx context.Context, c *cache.Cache, log *slog.Logger, kinds []string, changed func(kind string, objects map[string]*cache.Object)) (*Follower, error) {
	f := &Follower{
		cache: c, log: log, changed: changed, there: map[string]map[string]*cache.Object{},
		seen: map[string]store.Revision{}, lost: map[string]bool{}, moved: make(chan struct{}),
	}
	f.life, f.stop = context.WithCancel(context.Background())
	for _, kind := range kinds {
		f.seen[kind] = 0
		watcher, err := f.load(ctx, kind)
		if unreadable := (*cache.UnreadableError)(nil); err != nil && !errors.As(err, &unreadable) {
			f.Close()
			return nil, err
		}
		f.running.Go(func() { f.follow(kind, watcher) })
	}
	return f, nil
}

// Close ends following.
func (f *Follower) Close() {
	f.stop()
	f.running.Wait()
}

// load tells of all that there is of a kind, and returns what tells of what comes next.
func (f *Follower) load(ctx context.Context, kind string) (*cache.Watcher, error) {
	watcher, err := f.cache.Watch(ctx, cache.WatchOptions{Selection: cache.Selection{Kind: kind}, InitialState: true})
	if err != nil {
		f.lose(kind, err)
		return nil, err
	}
	objects := map[string]*cache.Object{}
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			watcher.Close()
			f.lose(kind, err)
			return nil, err
		}
		for _, e := range events {
			if e.Type == cache.InitialEnd {
				f.replace(kind, objects, e.Revision)
				return watcher, nil
			}
			objects[e.Object.Name()] = e.Object
		}
	}
}

// lose notes that a kind can't be followed: all stays as it was.
func (f *Follower) lose(kind string, err error) {
	if f.life.Err() != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.lost[kind] {
		f.log.Error("cannot read all that says who has a say in writes: it is left as it was", "kind", kind, "error", err)
	}
	f.lost[kind] = true
	f.move()
}

func (f *Follower) replace(kind string, objects map[string]*cache.Object, revision store.Revision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.there[kind], f.lost[kind], f.seen[kind] = objects, false, revision
	f.changed(kind, objects)
	f.move()
}

// move wakes who waits. The caller holds the lock.
func (f *Follower) move() {
	close(f.moved)
	f.moved = make(chan struct{})
}

// follow goes on until the Follower is closed. The watcher is nil if the kind could not be loaded.
func (f *Follower) follow(kind string, watcher *cache.Watcher) {
	for f.life.Err() == nil {
		if watcher == nil {
			select {
			case <-time.After(retryLoad):
			case <-f.life.Done():
			}
		} else if errors.Is(f.tell(kind, watcher), cache.ErrClosed) {
			return
		}
		var err error
		if watcher, err = f.load(f.life, kind); errors.Is(err, cache.ErrClosed) {
			return
		}
	}
	if watcher != nil {
		watcher.Close()
	}
}

// tell tells of events until the watcher ends.
func (f *Follower) tell(kind string, watcher *cache.Watcher) error {
	defer watcher.Close()
	for {
		events, err := watcher.Next(f.life)
		if err != nil {
			return err
		}
		f.take(kind, events)
	}
}

func (f *Follower) take(kind string, events []cache.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	isChanged := false
	for _, e := range events {
		f.seen[kind] = e.Revision
		switch {
		case e.Object == nil:
			continue
		case e.Type == cache.Deleted:
			delete(f.there[kind], e.Object.Name())
		default:
			f.there[kind][e.Object.Name()] = e.Object
		}
		isChanged = true
	}
	if isChanged {
		f.changed(kind, f.there[kind])
	}
	f.move()
}

// Sync waits until what was written to a kind up to a revision counts. Whoever answers a writer calls it before, so that
// the writer's next request is judged by what it wrote. For other kinds it does nothing.
func (f *Follower) Sync(ctx context.Context, kind string, revision store.Revision) error {
	if f == nil {
		return nil
	}
	for {
		f.mu.Lock()
		seen, isFollowed := f.seen[kind]
		there, moved := !isFollowed || seen >= revision || f.lost[kind], f.moved
		f.mu.Unlock()
		if there {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		case <-f.life.Done():
			return cache.ErrClosed
		}
	}
}
