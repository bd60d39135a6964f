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

// Kind is what the kind of namespaces is called in keys.
const Kind = "core/namespaces"

// finalizer is the remover's own.
const finalizer = "kubernetes"

// How long the remover waits before it looks again at what was still there, at first and at most.
const (
	firstWait = 20 * time.Millisecond
	lastWait  = time.Second
)

// Remover removes namespaces that are to be deleted.
type Remover struct {
	Objects *registry.Registry
	// User is who deletes, Manager as whom it is known in managedFields.
	User    user.Info
	Manager string
	Log     *slog.Logger

	// names are those of the namespaces that are to be removed.
	names *workqueue.Queue[string]
}

// Run removes namespaces until the context ends or the cache is closed.
func (r *Remover) Run(ctx context.Context) {
	r.names = workqueue.NewQueue[string](firstWait, lastWait)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		defer cancel()
		r.followAlways(ctx)
	})
	r.names.Run(ctx, atOnce, r.remove)
}

// followAlways follows until the context ends or the cache is closed.
func (r *Remover) followAlways(ctx context.Context) {
	for ctx.Err() == nil {
		err := r.follow(ctx)
		if errors.Is(err, watchcache.ErrClosed) || ctx.Err() != nil {
			return
		}
		if !errors.Is(err, watchcache.ErrTooOld) {
			r.Log.Error("cannot see which namespaces are to be removed", "error", err)
			sleep(ctx, lastWait)
		}
	}
}

// follow looks at all namespaces, and at all that changes.
func (r *Remover) follow(ctx context.Context) error {
	watcher, err := r.Objects.Cache.Watch(ctx, watchcache.WatchOptions{Selection: watchcache.Selection{Kind: Kind}, InitialState: true, Freshness: watchcache.Any})
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
				r.names.Add(e.Object.Name())
			}
		}
	}
}

// remove removes a namespace, as far as that is up to the remover and can be done now. It reports whether it is.
func (r *Remover) remove(ctx context.Context, name string) (isDone bool) {
	isDone, err := r.step(ctx, name)
	if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !errors.Is(err, watchcache.ErrClosed) {
		r.Log.Warn("cannot remove a namespace yet", "namespace", name, "error", err)
	}
	return isDone
}

// sleep waits, unless the context ends.
func sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// step does what can be done now to remove a namespace. It is done if the rest is up to others.
func (r *Remover) step(ctx context.Context, name string) (isDone bool, err error) {
	namespace, err := r.Objects.Cache.Get(ctx, watchcache.Key{Kind: Kind, Name: name}, watchcache.Latest)
	if errors.Is(err, storage.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if !namespace.IsDeleting() {
		return true, nil
	}
	doc, err := namespace.WithoutManagedFields() // who owned what still does when it is put back
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
		_, err := r.Objects.Delete(ctx, r.deletion("", name, r.namespaces("")))
		return err == nil, err
	case len(kept) == finalizers:
		return true, nil // its own is gone already
	}
	if left, err := r.empty(ctx, name); !left.isNothing() || err != nil {
		return false, errors.Join(err, r.tell(ctx, doc, left, err))
	}
	doc = doc.With("spec", doc.Get("spec").With("finalizers", document.NewList(kept...)))
	_, err = r.Objects.Update(ctx, r.request(name, r.namespaces("finalize"), doc))
	return err == nil || apierrors.IsNotFound(err), err
}

// namespaces is where namespaces are written.
func (r *Remover) namespaces(subresource string) *registry.Endpoint {
	kind, _ := r.Objects.Kinds.Resource("", "v1", "namespaces")
	endpoint, err := r.Objects.Endpoint(kind, "v1", subresource)
	if err != nil {
		panic(err) // it is built in
	}
	return endpoint
}

func (r *Remover) request(name string, endpoint *registry.Endpoint, doc document.Value) *registry.Request {
	return &registry.Request{
		Endpoint: endpoint, Name: name, Body: registry.Body{Text: doc.JSON()},
		User: r.User, Manager: r.Manager, FieldValidation: registry.Ignore, Warn: func(string) {},
	}
}

func (r *Remover) deletion(namespace, name string, endpoint *registry.Endpoint) *registry.Deletion {
	return &registry.Deletion{Endpoint: endpoint, Namespace: namespace, Name: name, Propagation: registry.Background}
}
