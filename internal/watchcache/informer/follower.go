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

// A Keeper makes something of all objects of the kinds.
type Keeper interface {
	// Replace has all objects of a kind, in the place of those that there were.
	Replace(kind string, objects []*watchcache.Object)
	// Change has what happened to objects of a kind.
	Change(kind string, events []watchcache.Event)
}

// Options are what is followed, and who keeps it.
type Options struct {
	Cache  *watchcache.Cache
	Kinds  []string // the keeper is told of them in this order at the start
	Keeper Keeper
	Log    *slog.Logger
	// About is what the objects say, for the log.
	About string
}

// A Follower tells a keeper of objects as they change.
type Follower struct {
	Options

	mu sync.Mutex // also while the keeper is told
	// seen are the revisions up to which the keeper has been told of all of a kind; lost are the kinds that can't be
	// followed at present. moved is closed when any of this changes.
	seen  map[string]storage.Revision
	lost  map[string]bool
	moved chan struct{}

	life    context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Start follows until Close. A kind with an object that is not readable does not keep it from that: whoever is to
// delete the object needs a server.
func Start(ctx context.Context, o Options) (*Follower, error) {
	f := &Follower{Options: o, seen: map[string]storage.Revision{}, lost: map[string]bool{}, moved: make(chan struct{})}
	f.life, f.stop = context.WithCancel(context.Background())
	for _, kind := range o.Kinds {
		f.seen[kind] = 0
	}
	for _, kind := range o.Kinds {
		watcher, err := f.load(ctx, kind)
		if unreadable := (*watchcache.UnreadableError)(nil); err != nil && !errors.As(err, &unreadable) {
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
func (f *Follower) load(ctx context.Context, kind string) (*watchcache.Watcher, error) {
	watcher, err := f.Cache.Watch(ctx, watchcache.WatchOptions{Selection: watchcache.Selection{Kind: kind}, InitialState: true})
	if err != nil {
		f.lose(kind, err)
		return nil, err
	}
	var objects []*watchcache.Object
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			watcher.Close()
			f.lose(kind, err)
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

// lose notes that a kind can't be followed: all stays as it was.
func (f *Follower) lose(kind string, err error) {
	if f.life.Err() != nil {
		return // nobody asks any more
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.lost[kind] && !errors.Is(err, watchcache.ErrClosed) {
		f.Log.Error("cannot read all that says "+f.About+": it is left as it was", "kind", kind, "error", err)
	}
	f.lost[kind] = true
	f.move()
}

func (f *Follower) replace(kind string, objects []*watchcache.Object, revision storage.Revision) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Keeper.Replace(kind, objects)
	f.seen[kind], f.lost[kind] = revision, false
	f.move()
}

// move wakes who waits. The caller holds the lock.
func (f *Follower) move() {
	close(f.moved)
	f.moved = make(chan struct{})
}

// Moved returns a channel that is closed when the keeper has been told of something more.
func (f *Follower) Moved() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.moved
}

// Done returns a channel that is closed when following has ended.
func (f *Follower) Done() <-chan struct{} { return f.life.Done() }

// retryLoad is how long to wait before a kind that can't be followed is tried again.
const retryLoad = time.Second

// follow goes on until the Follower is closed. The watcher is nil if the kind could not be loaded.
func (f *Follower) follow(kind string, watcher *watchcache.Watcher) {
	for f.life.Err() == nil {
		if watcher == nil {
			f.pause()
		} else if errors.Is(f.tell(kind, watcher), watchcache.ErrClosed) {
			return
		}
		var err error
		if watcher, err = f.load(f.life, kind); errors.Is(err, watchcache.ErrClosed) {
			return
		}
	}
	if watcher != nil {
		watcher.Close()
	}
}

func (f *Follower) pause() {
	select {
	case <-time.After(retryLoad):
	case <-f.life.Done():
	}
}

// tell tells of events until the watcher ends.
func (f *Follower) tell(kind string, watcher *watchcache.Watcher) error {
	defer watcher.Close()
	for {
		events, err := watcher.Next(f.life)
		if err != nil {
			return err
		}
		f.change(kind, events)
	}
}

// change tells of events, but not of those that only say how far the kind is.
func (f *Follower) change(kind string, events []watchcache.Event) {
	var about []watchcache.Event
	for _, e := range events {
		if e.Object != nil {
			about = append(about, e)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(about) > 0 {
		f.Keeper.Change(kind, about)
	}
	f.seen[kind] = events[len(events)-1].Revision
	f.move()
}

// Sync waits until what was written to a kind up to a revision counts. Whoever answers a writer calls it before, so that
// the writer's next request is judged by what it wrote. For other kinds it does nothing.
func (f *Follower) Sync(ctx context.Context, kind string, revision storage.Revision) error {
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
			return watchcache.ErrClosed
		}
	}
}
