package namespace

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/controllers/workqueue"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Kind is the name of the resource namespaces in the watch cache, in the form GROUP/RESOURCE.
const Kind = "core/namespaces"

// finalizer is the value in spec.finalizers of a namespace that this controller removes.
const finalizer = "kubernetes"

// minBackoff and maxBackoff are the bounds of the exponential backoff between attempts to empty a namespace. maxBackoff is
// also the wait before a failed watch is restarted.
const (
	minBackoff = 20 * time.Millisecond
	maxBackoff = time.Second
)

// Controller deletes terminating namespaces.
type Controller struct {
	Objects *registry.Registry
	// User is the user of the controller's writes, Manager their field manager.
	User    user.Info
	Manager string
	Log     *slog.Logger

	// queue is the workqueue of the names of terminating namespaces.
	queue *workqueue.Queue[string]
}

// Run watches namespaces and processes the workqueue until the context ends or the cache is closed.
func (c *Controller) Run(ctx context.Context) {
	c.queue = workqueue.NewQueue[string](minBackoff, maxBackoff)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		defer cancel()
		c.watchNamespaces(ctx)
	})
	c.queue.Run(ctx, workers, c.process)
}

// watchNamespaces watches namespaces, and restarts a failed watch, until the context ends or the cache is closed.
func (c *Controller) watchNamespaces(ctx context.Context) {
	for ctx.Err() == nil {
		err := c.watch(ctx)
		if errors.Is(err, watchcache.ErrClosed) || ctx.Err() != nil {
			return
		}
		if !errors.Is(err, watchcache.ErrTooOld) {
			c.Log.Error("cannot watch namespaces; retrying", "error", err)
			sleep(ctx, maxBackoff)
		}
	}
}

// watch enqueues all terminating namespaces, and then each terminating namespace that changes, until the watch fails. It
// never returns nil.
func (c *Controller) watch(ctx context.Context) error {
	watcher, err := c.Objects.Cache.Watch(ctx, watchcache.WatchOptions{Selection: watchcache.Selection{Kind: Kind}, InitialState: true, Freshness: watchcache.Any})
	if err != nil {
		return err
	}
	defer watcher.Close()
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Object != nil && e.Type != watchcache.Deleted && e.Object.IsDeleting() {
				c.queue.Add(e.Object.Name())
			}
		}
	}
}

// process reconciles a namespace and logs the error, if any. It reports whether the namespace is done; the workqueue retries a
// namespace that is not done.
func (c *Controller) process(ctx context.Context, name string) (isDone bool) {
	isDone, err := c.reconcile(ctx, name)
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !errors.Is(err, watchcache.ErrClosed) {
		c.Log.Warn("cannot delete a namespace; retrying", "namespace", name, "error", err)
	}
	return isDone
}

// sleep waits for the duration or until the context ends.
func sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// reconcile deletes the content of a terminating namespace, and removes the controller's finalizer when the namespace is
// empty. isDone is false if the namespace must be retried.
func (c *Controller) reconcile(ctx context.Context, name string) (isDone bool, err error) {
	namespace, err := c.Objects.Cache.Get(ctx, watchcache.Key{Kind: Kind, Name: name}, watchcache.Latest)
	if errors.Is(err, storage.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if !namespace.IsDeleting() {
		return true, nil
	}
	doc, err := namespace.WithoutManagedFields() // an update whose body has no managedFields does not change them
	if err != nil {
		return false, err
	}
	var kept []document.Value
	for _, f := range doc.Lookup("spec", "finalizers").Items() {
		if f.Text() != finalizer {
			kept = append(kept, f)
		}
	}
	switch finalizers := doc.Lookup("spec", "finalizers").Len(); {
	case finalizers == 0 && doc.Lookup("metadata", "finalizers").Len() == 0:
		_, err := c.Objects.Delete(ctx, c.deletion("", name, c.namespaces("")))
		return err == nil, err
	case len(kept) == finalizers:
		return true, nil // the controller has removed its finalizer already
	}
	if left, err := c.deleteContent(ctx, name); !left.isEmpty() || err != nil {
		return false, errors.Join(err, c.writeConditions(ctx, doc, left, err))
	}
	doc = doc.With("spec", doc.Get("spec").With("finalizers", document.NewList(kept...)))
	_, err = c.Objects.Update(ctx, c.request(name, c.namespaces("finalize"), doc))
	return err == nil || apierrors.IsNotFound(err), err
}

// namespaces returns the endpoint of namespaces, or of the named subresource of namespaces if subresource is not "".
func (c *Controller) namespaces(subresource string) *registry.Endpoint {
	kind, _ := c.Objects.Kinds.Resource("", "v1", "namespaces")
	endpoint, err := c.Objects.Endpoint(kind, "v1", subresource)
	if err != nil {
		panic(err) // cannot happen: namespaces are built in
	}
	return endpoint
}

// request returns a write request for a namespace, as the controller's user and field manager.
func (c *Controller) request(name string, endpoint *registry.Endpoint, doc document.Value) *registry.Request {
	return &registry.Request{
		Endpoint: endpoint, Name: name, Body: registry.Body{Text: doc.JSON()},
		User: c.User, Manager: c.Manager, FieldValidation: registry.Ignore, Warn: func(string) {},
	}
}

// deletion returns a request for the background deletion of an object.
func (c *Controller) deletion(namespace, name string, endpoint *registry.Endpoint) *registry.Deletion {
	return &registry.Deletion{Endpoint: endpoint, Namespace: namespace, Name: name, Propagation: registry.Background}
}
