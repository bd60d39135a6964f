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

// Options configure a cache. The zero value is usable.
type Options struct {
	// Fields returns the selectable fields of a resource (GROUP/RESOURCE), in addition to metadata.name and metadata.namespace; nil
	// means that no resource has more fields. It is called when a resource is used for the first time, and its result must not
	// change later.
	Fields func(kind string) []Field
	// WindowBytes is the maximum memory that the event window keeps alive, in bytes; 0 means 64 MiB, a negative number
	// disables the window.
	WindowBytes int
	// FormBytes is the maximum memory of cached forms, in bytes; 0 means 64 MiB, a negative number disables the caching of
	// forms.
	FormBytes int
	// PaceGC makes the cache adapt GOGC to the size of the live heap, for processes whose memory is mostly the cache. It has
	// no effect if the environment variable GOGC is set.
	PaceGC bool
	// FutureWait is the maximum time that a read waits for a revision in the future; 0 means 3 s.
	FutureWait time.Duration
	// Log is the logger for messages to the operator; nil means slog.Default.
	Log *slog.Logger
}

const (
	defaultWindowBytes = 64 << 20
	defaultFormBytes   = 64 << 20
	// defaultFutureWait is kube-apiserver's timeout for a resourceVersion in the future.
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

// Cache is a watch cache of a store. It is safe for concurrent use.
type Cache struct {
	options  Options
	store    storage.Store
	forms    forms
	progress progress
	pending  pendingCommits
	// windowBytes is the memory in bytes that the events of all resources keep alive.
	windowBytes atomic.Int64
	// notifyMu is held while objects change and observers are notified. eventBuffer is memory that is reused for the events of
	// each batch.
	notifyMu    sync.Mutex
	observers   []Observer
	eventBuffer []*event

	mu sync.RWMutex
	// resources contains the resources that have had objects, events or watchers. base is the revision after which the map is
	// complete: a resource that is not in the map has had no event after base.
	resources map[string]*resourceCache
	base      storage.Revision

	// Close calls stop, which cancels runCtx and so ends the goroutines that the WaitGroup running counts. done is closed when
	// the reflector has ended, either because of Close or because the store was closed.
	runCtx  context.Context
	stop    context.CancelFunc
	done    chan struct{}
	closing sync.Once
	running sync.WaitGroup
}

// Open loads all objects of a store and starts the reflector. The caller closes the cache first and then the store.
func Open(ctx context.Context, s storage.Store, options Options) (*Cache, error) {
	c := &Cache{options: options.withDefaults(), store: s, resources: map[string]*resourceCache{}, done: make(chan struct{})}
	c.forms.limit, c.forms.memory = c.options.FormBytes, memoryInUse
	c.runCtx, c.stop = context.WithCancel(context.Background())
	c.running.Go(func() { c.watchMemory(c.runCtx) })
	watcher, err := c.loadAndWatch(ctx)
	if err != nil {
		c.stop()
		c.running.Wait()
		return nil, err
	}
	at := c.progress.revision()
	c.running.Go(func() { c.runReflector(c.runCtx, watcher) })
	c.running.Go(func() { c.backfillWindow(c.runCtx, at) })
	return c, nil
}

// Close ends all watches with ErrClosed and waits for all goroutines of the cache. It does not close the store.
func (c *Cache) Close() {
	c.closing.Do(func() {
		c.stop()
		c.running.Wait()
	})
}

// closedError returns ErrClosed if the reflector has ended, and nil if it has not.
func (c *Cache) closedError() error {
	select {
	case <-c.done:
		return ErrClosed
	default:
		return nil
	}
}

// resource returns the resourceCache of the named resource. It creates and stores one if there is none.
func (c *Cache) resource(name string) *resourceCache {
	rc, known := c.lookup(name)
	if known {
		return rc
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if there := c.resources[name]; there != nil {
		return there
	}
	rc.last, rc.horizon = c.base, c.base
	c.resources[name] = rc
	return rc
}

// lookup returns the resourceCache of the named resource, and known = true. If there is none, it returns an empty resourceCache
// and known = false; it does not store this resourceCache, so that requests for resources that do not exist use no memory.
func (c *Cache) lookup(name string) (rc *resourceCache, known bool) {
	c.mu.RLock()
	rc, base := c.resources[name], c.base
	c.mu.RUnlock()
	if rc != nil {
		return rc, true
	}
	return newResourceCache(name, c.options.Fields(name), &c.forms, &c.windowBytes, base), false
}

// Commit commits all writes atomically to the store. When it returns, reads from the cache include the writes or, after a
// conflict, the writes of other clients that caused the conflict. It returns the written objects; nil for deletes and for
// writes with Keep.
func (c *Cache) Commit(ctx context.Context, writes ...storage.Write) ([]*Object, storage.Revision, error) {
	if err := c.closedError(); err != nil {
		return nil, 0, err
	}
	writes = slices.Clone(writes)
	made := make([]*Object, len(writes))
	for i := range writes {
		var err error
		writes[i].Value = trimCapacity(writes[i].Value)
		if made[i], err = c.parseWrite(&writes[i]); err != nil {
			return nil, 0, err
		}
	}
	c.pending.add(made)
	defer c.pending.drop(made)
	revision, err := c.store.Commit(ctx, writes...)
	if conflict := (*storage.ConflictError)(nil); errors.As(err, &conflict) {
		// The caller will read the object again and retry, so the cache must include the write that caused the conflict.
		if err := c.waitFresh(ctx, Latest); err != nil {
			return nil, 0, err
		}
	}
	if err != nil {
		return nil, 0, translateError(err)
	}
	// The write is committed, but it is acknowledged only when reads return it.
	if err := c.progress.wait(ctx, revision); err != nil {
		return nil, 0, &storage.UnknownError{Err: err}
	}
	for i, o := range made {
		made[i] = c.committedObject(o, revision)
	}
	return made, revision, nil
}

// IsStale reports whether the stored bytes of an object would change if it were written unchanged, for instance because the store now
// encrypts it with another key. It returns false if the store cannot tell.
func (c *Cache) IsStale(ctx context.Context, o *Object) bool {
	checker, ok := c.store.(storage.StaleChecker)
	if !ok {
		return false
	}
	stale, err := checker.IsStale(ctx, o.key)
	return err == nil && stale
}

// parseWrite parses w.Value. It returns an error if the cache could not index the key, name or labels of the object; the caller
// guarantees that w.Value is valid JSON. It also sets w.Seen if w.Expected is the item's current revision in the cache.
func (c *Cache) parseWrite(w *storage.Write) (*Object, error) {
	key, err := ParseKey(w.Key)
	if err != nil {
		return nil, err
	}
	progress := c.progress.revision() // progress is read before the lookup: rc is then complete up to progress
	rc, _ := c.lookup(key.Kind)
	if rc.hasRevision(w.Key, w.Expected) {
		w.Seen = progress
	}
	if w.Value == nil {
		return nil, nil
	}
	return newObject(rc, w.Key, w.Value, 0)
}

// committedObject returns the object that the commit at revision wrote: the object in the cache, which readers and watchers
// share, or a copy of o if a later commit has already replaced the object in the cache.
func (c *Cache) committedObject(o *Object, revision storage.Revision) *Object {
	if o == nil {
		return nil
	}
	rc, _ := c.lookup(o.resource.name)
	rc.mu.RLock()
	defer rc.mu.RUnlock()
	if now := rc.objects.get(o.key); now != nil && now.revision == revision {
		return now
	}
	return o.committed(revision)
}
