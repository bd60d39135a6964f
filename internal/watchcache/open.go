package watchcache

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
)

// Options say what a cache keeps. All have a useful zero value.
type Options struct {
	// Fields returns what objects of a kind, GROUP/RESOURCE, can be selected by, beside name
	// and namespace; nil means nothing. It is asked when a kind is first met: what it answers
	// later does not count.
	Fields func(kind string) []Field
	// WindowBytes is how much the window may keep alive; 0 means 64 MiB, a negative number
	// that there is no window.
	WindowBytes int
	// FormBytes is how much the forms of objects may take; 0 means 64 MiB, a negative number
	// that none is kept.
	FormBytes int
	// PaceGC has the cache set how often the collector runs, for programs whose memory is
	// mostly that of a cache, unless GOGC is set.
	PaceGC bool
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
	store    storage.Store
	forms    forms
	progress progress
	pending  pendingCommits
	// windowBytes is how much the events of all kinds keep alive.
	windowBytes atomic.Int64
	// telling is held while objects change and observers are told of it. happened is room for what
	// they are told.
	telling   sync.Mutex
	observers []Observer
	happened  []*event

	mu sync.RWMutex
	// kinds are those that have had objects or events, and those that somebody watches. base
	// is the revision after which all events are known: a kind that is not here has had none
	// since.
	kinds map[string]*kind
	base  storage.Revision

	// life ends when the cache is closed, by stop, and with it all that is running. done is
	// closed when the follower has ended, be it since the store was closed.
	life    context.Context
	stop    context.CancelFunc
	done    chan struct{}
	closing sync.Once
	running sync.WaitGroup
}

// Open reads all that a store has, and follows it from there. The store stays the caller's: it
// is closed after the cache.
func Open(ctx context.Context, s storage.Store, options Options) (*Cache, error) {
	c := &Cache{options: options.withDefaults(), store: s, kinds: map[string]*kind{}, done: make(chan struct{})}
	c.forms.limit, c.forms.memory = c.options.FormBytes, memoryInUse
	c.life, c.stop = context.WithCancel(context.Background())
	c.running.Go(func() { c.watchMemory(c.life) })
	watcher, err := c.loadAndWatch(ctx)
	if err != nil {
		c.stop()
		c.running.Wait()
		return nil, err
	}
	at := c.progress.revision()
	c.running.Go(func() { c.follow(c.life, watcher) })
	c.running.Go(func() { c.recall(c.life, at) })
	return c, nil
}

// Close ends all watches, and waits for all that runs.
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
	return newKind(name, c.options.Fields(name), &c.forms, &c.windowBytes, base), false
}

// Commit does all the writes, or none, as the store does. When it returns, whoever reads from
// the cache sees them, or what they were lost to. It returns the objects that were written, nil
// for those that were deleted or kept.
func (c *Cache) Commit(ctx context.Context, writes ...storage.Write) ([]*Object, storage.Revision, error) {
	if err := c.openError(); err != nil {
		return nil, 0, err
	}
	writes = slices.Clone(writes)
	made := make([]*Object, len(writes))
	for i := range writes {
		var err error
		writes[i].Value = fit(writes[i].Value)
		if made[i], err = c.check(&writes[i]); err != nil {
			return nil, 0, err
		}
	}
	c.pending.add(made)
	defer c.pending.drop(made)
	revision, err := c.store.Commit(ctx, writes...)
	if conflict := (*storage.ConflictError)(nil); errors.As(err, &conflict) {
		// Whoever reads again, to redo the change, must see what it was lost to.
		if err := c.freshen(ctx, Latest); err != nil {
			return nil, 0, err
		}
	}
	if err != nil {
		return nil, 0, fromStore(err)
	}
	// It is done. But it is not acknowledged before it can be read.
	if err := c.progress.wait(ctx, revision); err != nil {
		return nil, 0, &storage.UnknownError{Err: err}
	}
	for i, o := range made {
		made[i] = c.written(o, revision)
	}
	return made, revision, nil
}

// check refuses what the cache could not find its way in: wrong keys, names or labels. That the rest
// is JSON is up to who made it. It tells the store what is known of the key.
func (c *Cache) check(w *storage.Write) (*Object, error) {
	key, err := ParseKey(w.Key)
	if err != nil {
		return nil, err
	}
	progress := c.progress.revision() // a kind that has been seen until here is known
	k, _ := c.peek(key.Kind)
	if k.has(w.Key, w.Expected) {
		w.Seen = progress
	}
	if w.Value == nil {
		return nil, nil
	}
	return newObject(k, w.Key, w.Value, 0)
}

// written returns an object that was written at a revision: the one that readers and watchers get,
// unless it has been replaced already.
func (c *Cache) written(o *Object, revision storage.Revision) *Object {
	if o == nil {
		return nil
	}
	k, _ := c.peek(o.kind.name)
	k.mu.RLock()
	defer k.mu.RUnlock()
	if now := k.objects.get(o.key); now != nil && now.revision == revision {
		return now
	}
	return o.committed(revision)
}
