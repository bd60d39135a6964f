package garbagecollector

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/controllers/workqueue"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache"
)

const (
	// workers is the number of workers of the workqueue, and the maximum number of an owner's dependents that are
	// orphaned concurrently. Concurrent writes share the store's group commits.
	workers = 64
	// minBackoff and maxBackoff are the bounds of the exponential backoff of failed tasks.
	minBackoff = 20 * time.Millisecond
	maxBackoff = time.Minute
	// kindsInterval is the interval of checks for newly served kinds.
	kindsInterval = 500 * time.Millisecond
)

// ignoredResource is the resource that the collector ignores, as Kubernetes' garbage collector does: Events are numerous
// and are not owned by other objects.
const ignoredResource = "core/events"

// Collector is the garbage collector. It implements watchcache.Observer.
type Collector struct {
	Objects *registry.Registry
	// User is the user of the collector's writes, Manager their field manager.
	User    user.Info
	Manager string
	Log     *slog.Logger

	index index
	queue *workqueue.Queue[task]

	mu sync.Mutex
	// unknown is the set of keys of the dependents that have an owner whose kind is not served. It is guarded by mu.
	unknown map[string]struct{}
}

// task is an item of the workqueue: either the key of an object to reconcile, or the UID of a deleted owner whose
// dependents are to be reconciled.
type task struct{ key, deletedOwnerUID string }

// Run observes the cache and processes the workqueue until the context ends.
func (c *Collector) Run(ctx context.Context) {
	c.queue = workqueue.NewQueue[task](minBackoff, maxBackoff)
	defer c.Objects.Cache.Observe(c)()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.watchKinds(ctx) })
	c.queue.Run(ctx, workers, c.process)
}

// Reset implements watchcache.Observer: it discards the index.
func (c *Collector) Reset() {
	c.index.reset()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unknown = map[string]struct{}{}
}

// Changed implements watchcache.Observer: it updates the index and enqueues the objects that the change may affect.
func (c *Collector) Changed(before, after *watchcache.Object) {
	object := after
	if object == nil {
		object = before
	}
	if object.Kind() == ignoredResource {
		return
	}
	if was, is := ownersOf(before), ownersOf(after); was != is {
		for _, owner := range c.index.change(object.Key(), parseReferences(was), parseReferences(is)) {
			c.queue.Add(task{key: owner})
		}
		if after != nil {
			c.queue.Add(task{key: after.Key()})
		}
	}
	switch {
	case after == nil:
		c.handleDeleted(before)
	case awaitsCollector(after) && !(before != nil && awaitsCollector(before)):
		c.queue.Add(task{key: after.Key()})
	}
}

// ownersOf returns metadata.ownerReferences of an object in JSON; "" if it has none or is nil.
func ownersOf(object *watchcache.Object) string {
	if object == nil {
		return ""
	}
	return object.OwnerReferences()
}

// awaitsCollector reports whether an object is being deleted and has a finalizer that the collector removes: orphan or
// foregroundDeletion.
func awaitsCollector(object *watchcache.Object) bool {
	return object.AwaitsFinalizer(registry.OrphanFinalizer) || object.AwaitsFinalizer(registry.ForegroundFinalizer)
}

// handleDeleted handles the deletion of an object: it enqueues a task for the object's dependents, if it has any.
func (c *Collector) handleDeleted(object *watchcache.Object) {
	if uid := object.UID(); c.index.markDeleted(uid) {
		c.queue.Add(task{deletedOwnerUID: strings.Clone(uid)}) // a substring would retain the object's text in memory
	}
	if object.OwnerReferences() != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.unknown, object.Key())
	}
}

// process processes a task of the workqueue. It reports whether the task is done; the workqueue retries a task that is not
// done, with backoff.
func (c *Collector) process(ctx context.Context, t task) bool {
	if t.deletedOwnerUID != "" {
		c.enqueueAll(c.index.dependents(t.deletedOwnerUID))
		return true
	}
	err := c.reconcile(ctx, t.key)
	switch {
	case err == nil, errors.Is(err, watchcache.ErrClosed), ctx.Err() != nil, apierrors.IsNotFound(err):
		return true
	case errors.Is(err, errUnknownKind):
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unknown[t.key] = struct{}{}
		return true
	case apierrors.IsConflict(err), errors.Is(err, registry.ErrPrecondition), errors.Is(err, errNewDependent):
		return false // the object has changed: the task is retried with the current object
	}
	c.Log.Warn("cannot garbage collect an object; retrying", "key", t.key, "error", err)
	return false
}

func (c *Collector) enqueueAll(keys []string) {
	for _, key := range keys {
		c.queue.Add(task{key: key})
	}
}

// watchKinds enqueues the dependents of owners of unknown kinds whenever the set of served kinds changes, until the context
// ends.
func (c *Collector) watchKinds(ctx context.Context) {
	ticker := time.NewTicker(kindsInterval)
	defer ticker.Stop()
	for before := c.Objects.Kinds.All(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now := c.Objects.Kinds.All(); !isSameList(before, now) {
			before = now
			c.enqueueUnknown()
		}
	}
}

// isSameList reports whether the lists a and b share their memory, and so are equal: the register allocates a new list for each
// change of the served kinds.
func isSameList(a, b []*api.Kind) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// enqueueUnknown enqueues all dependents of owners of unknown kinds, and clears the set unknown.
func (c *Collector) enqueueUnknown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.unknown {
		c.queue.Add(task{key: key})
	}
	clear(c.unknown)
}
