package cache

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/store"
)

// Options say what a cache keeps. All have a useful zero value.
type Options struct {
	// Fields returns what objects of a kind, GROUP/RESOURCE, can be selected by, beside name
	// and namespace; nil means nothing.
	Fields func(kind string) []Field
	// WindowBytes is how much the window may keep alive; 0 means 64 MiB, a negative number
	// that there is no window.
	WindowBytes int
	// FormBytes is how much the forms of objects may take; 0 means 64 MiB.
	FormBytes int
	// FutureWait is how long a read waits for a revision that has not been; 0 means 3 s.
	FutureWait time.Duration
	// Log gets what an operator should know; nil means slog.Default.
	Log *slog.Logger
}

const (
	defaultWindowBytes = 64 << 20
	defaultFormBytes   = 64 << 20
	// defaultFutureWait is what Kubernetes has, too.
	defaultFutureWait = 3 * time.Second
)

func (o Options) withDefaults() Options {
	if o.Fields == nil {
		o.Fields = func(string) []Field { return nil }
	}
	switch {
	case o.WindowBytes == 0:
		o.WindowBytes = defaultWindowBytes
	case o.WindowBytes < 0:
		o.WindowBytes = 0
	}
	if o.FormBytes == 0 {
		o.FormBytes = defaultFormBytes
	}
	if o.FutureWait == 0 {
		o.FutureWait = defaultFutureWait
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// Cache has the objects of a store in memory. Its methods may be called concurrently.
type Cache struct {
	options  Options
	store    store.Store
	forms    forms
	progress progress
	window   windowSize

	mu sync.RWMutex
	// kinds are those that the store has, or that somebody has asked for. base is the
	// revision that the cache was loaded at: a kind that is not here has had no events since.
	kinds map[string]*kind
	base  store.Revision

	// done is closed when the follower has ended; stop ends it.
	done    chan struct{}
	stop    context.CancelFunc
	closing sync.Once
	running sync.WaitGroup
}

// Open reads all that a store has, and follows it from there. The store stays the caller's: it
// is closed after the cache.
func Open(ctx context.Context, s store.Store, options Options) (*Cache, error) {
	c := &Cache{options: options.withDefaults(), store: s, kinds: map[string]*kind{}, done: make(chan struct{})}
	c.forms.limit, c.forms.memory = c.options.FormBytes, memoryInUse
	following, stop := context.WithCancel(context.Background())
	c.stop = stop
	watcher, err := c.loadAndWatch(ctx, following)
	if err != nil {
		stop()
		return nil, err
	}
	at := c.progress.revision()
	c.running.Go(func() { c.follow(following, watcher) })
	c.running.Go(func() { c.recall(following, at) })
	c.running.Go(func() { c.forms.watchMemory(following) })
	return c, nil
}

// Close ends all watches and waits for the follower.
func (c *Cache) Close() {
	c.closing.Do(func() {
		c.stop()
		c.running.Wait()
	})
}

// openError returns ErrClosed once nothing new comes.
func (c *Cache) openError() error {
	select {
	case <-c.done:
		return ErrClosed
	default:
		return nil
	}
}

// kind returns what there is of a kind, which may be nothing, and is from then on.
func (c *Cache) kind(name string) *kind {
	k, known := c.peek(name)
	if known {
		return k
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if there := c.kinds[name]; there != nil {
		return there
	}
	k.last, k.horizon = c.base, c.base
	c.kinds[name] = k
	return k
}

// peek returns what there is of a kind. If that is nothing, it is not kept: whoever asks for
// what does not exist leaves nothing behind.
func (c *Cache) peek(name string) (k *kind, known bool) {
	c.mu.RLock()
	k, base := c.kinds[name], c.base
	c.mu.RUnlock()
	if k != nil {
		return k, true
	}
	return newKind(name, c.options.Fields(name), &c.forms, &c.window, base), false
}

// Commit does all the writes, or none, as the store does. When it returns, whoever reads from
// the cache sees them, or what they were lost to.
func (c *Cache) Commit(ctx context.Context, writes ...store.Write) (store.Revision, error) {
	if err := c.openError(); err != nil {
		return 0, err
	}
	writes = slices.Clone(writes)
	for i, w := range writes {
		if err := c.check(w); err != nil {
			return 0, err
		}
		writes[i].Value = fit(w.Value)
	}
	revision, err := c.store.Commit(ctx, writes...)
	if conflict := (*store.ConflictError)(nil); errors.As(err, &conflict) {
		// Whoever reads again, to redo the change, must see what it was lost to.
		return 0, errors.Join(err, c.freshen(ctx, Latest))
	}
	if err != nil {
		return 0, err
	}
	// It is done. But it is not acknowledged before it can be read.
	if err := c.progress.wait(ctx, revision); err != nil {
		return 0, &store.UnknownError{Err: err}
	}
	return revision, nil
}

// check refuses to write what could not be read.
func (c *Cache) check(w store.Write) error {
	key, err := ParseKey(w.Key)
	if err != nil || w.IsDelete() {
		return err
	}
	_, err = newObject(c.kind(key.Kind), w.Key, w.Value, 0)
	return err
}
