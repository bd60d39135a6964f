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
	// atOnce is how many objects are judged at once, so that those that are deleted share the wait for
	// the disk.
	atOnce = 64
	// How long the collector waits before it tries again what was refused, at first and at most.
	firstWait = 20 * time.Millisecond
	lastWait  = time.Minute
	// kindsWait is how often it looks whether other kinds are served.
	kindsWait = 500 * time.Millisecond
)

// ignored is the kind that the collector does not look at, as in Kubernetes: there are many events, and none
// has an owner.
const ignored = "core/events"

// Collector collects garbage.
type Collector struct {
	Objects *registry.Registry
	// User is who deletes, Manager as whom it is known in managedFields.
	User    user.Info
	Manager string
	Log     *slog.Logger

	index index
	queue *workqueue.Queue[task]

	mu sync.Mutex
	// unknown are the keys of dependants whose owners are of kinds that are not served.
	unknown map[string]struct{}
}

// task is something to do: to judge the object at a key, or all that depends on an owner that is gone.
type task struct{ key, goneUID string }

// Run collects garbage until the context ends.
func (c *Collector) Run(ctx context.Context) {
	c.queue = workqueue.NewQueue[task](firstWait, lastWait)
	defer c.Objects.Cache.Observe(c)()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.followKinds(ctx) })
	c.queue.Run(ctx, atOnce, c.do)
}

// Begin forgets all: what there is is told anew.
func (c *Collector) Begin() {
	c.index.reset()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unknown = map[string]struct{}{}
}

// Changed notes what happened to an object, and who is to be judged therefore.
func (c *Collector) Changed(before, after *watchcache.Object) {
	object := after
	if object == nil {
		object = before
	}
	if object.Kind() == ignored {
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
		c.forget(before)
	case isAwaited(after) && !(before != nil && isAwaited(before)):
		c.queue.Add(task{key: after.Key()})
	}
}

func ownersOf(object *watchcache.Object) string {
	if object == nil {
		return ""
	}
	return object.OwnerReferences()
}

// isAwaited reports whether an object that is to be deleted waits for the collector.
func isAwaited(object *watchcache.Object) bool {
	return object.AwaitedBy(registry.OrphanFinalizer) || object.AwaitedBy(registry.ForegroundFinalizer)
}

// forget notes that an object is gone.
func (c *Collector) forget(object *watchcache.Object) {
	if uid := object.UID(); c.index.gone(uid) {
		c.queue.Add(task{goneUID: strings.Clone(uid)}) // it must not keep the object alive
	}
	if object.OwnerReferences() != "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.unknown, object.Key())
	}
}

// do does a task, and reports whether that is done.
func (c *Collector) do(ctx context.Context, t task) bool {
	if t.goneUID != "" {
		c.judgeAll(c.index.dependants(t.goneUID))
		return true
	}
	err := c.judge(ctx, t.key)
	switch {
	case err == nil, errors.Is(err, watchcache.ErrClosed), ctx.Err() != nil, apierrors.IsNotFound(err):
		return true
	case errors.Is(err, errUnknownKind):
		c.mu.Lock()
		defer c.mu.Unlock()
		c.unknown[t.key] = struct{}{}
		return true
	case apierrors.IsConflict(err), errors.Is(err, registry.ErrPrecondition), errors.Is(err, errNewDependant):
		return false // it is judged again as it is now
	}
	c.Log.Warn("cannot collect garbage yet", "key", t.key, "error", err)
	return false
}

func (c *Collector) judgeAll(keys []string) {
	for _, key := range keys {
		c.queue.Add(task{key: key})
	}
}

// followKinds judges dependants again when other kinds are served.
func (c *Collector) followKinds(ctx context.Context) {
	ticker := time.NewTicker(kindsWait)
	defer ticker.Stop()
	for before := c.Objects.Kinds.All(); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now := c.Objects.Kinds.All(); !isSame(before, now) {
			before = now
			c.judgeUnknown()
		}
	}
}

// isSame reports whether nothing has changed in a register: each change makes a new list.
func isSame(a, b []*api.Kind) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

func (c *Collector) judgeUnknown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.unknown {
		c.queue.Add(task{key: key})
	}
	clear(c.unknown)
}
