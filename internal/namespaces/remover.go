package namespaces

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
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

// Extra returns what namespaces get beside what all kinds get: some can't be deleted.
func Extra() objects.Extra {
	return objects.Extra{MayDelete: func(name string) error {
		switch name {
		case "default", "kube-system", "kube-public":
			return apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, name, errors.New("this namespace may not be deleted"))
		}
		return nil
	}}
}

// Remover removes namespaces that are to be deleted.
type Remover struct {
	Objects *objects.Objects
	// User is who deletes, Manager as whom it is known in managedFields.
	User    *identity.User
	Manager string
	Log     *slog.Logger

	mu sync.Mutex
	// busy are the namespaces that are being removed; the value says whether they changed since.
	busy    map[string]bool
	running sync.WaitGroup
}

// Run removes namespaces until the context ends or the cache is closed.
func (r *Remover) Run(ctx context.Context) {
	r.busy = map[string]bool{}
	defer r.running.Wait()
	for ctx.Err() == nil {
		err := r.follow(ctx)
		if errors.Is(err, cache.ErrClosed) || ctx.Err() != nil {
			return
		}
		if !errors.Is(err, cache.ErrTooOld) {
			r.Log.Error("cannot see which namespaces are to be removed", "error", err)
			sleep(ctx, lastWait)
		}
	}
}

// follow looks at all namespaces, and at all that changes.
func (r *Remover) follow(ctx context.Context) error {
	watcher, err := r.Objects.Cache.Watch(ctx, cache.WatchOptions{Selection: cache.Selection{Kind: Kind}, InitialState: true, Freshness: cache.Any})
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
			if e.Object != nil && e.Type != cache.Deleted && isTerminating(e.Object) {
				r.start(ctx, e.Object.Name())
			}
		}
	}
}

func isTerminating(namespace *cache.Object) bool {
	parsed, err := namespace.Parsed()
	return err == nil && !parsed.Document.Lookup("metadata", "deletionTimestamp").IsAbsent()
}

// start begins to remove a namespace, unless that has begun already.
func (r *Remover) start(ctx context.Context, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, isBusy := r.busy[name]
	r.busy[name] = isBusy
	if !isBusy {
		r.running.Go(func() { r.remove(ctx, name) })
	}
}

// finished ends the removal of a namespace, unless it changed meanwhile.
func (r *Remover) finished(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[name] {
		r.busy[name] = false
		return false
	}
	delete(r.busy, name)
	return true
}

// remove removes a namespace, as far as that is up to the remover.
func (r *Remover) remove(ctx context.Context, name string) {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		isDone, err := r.step(ctx, name)
		if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !errors.Is(err, cache.ErrClosed) {
			r.Log.Warn("cannot remove a namespace yet", "namespace", name, "error", err)
		}
		if isDone && r.finished(name) {
			return
		}
		if !sleep(ctx, wait) {
			return
		}
	}
}

// sleep reports whether there was the time for it.
func sleep(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// step does what can be done now to remove a namespace. It is done if the rest is up to others.
func (r *Remover) step(ctx context.Context, name string) (isDone bool, err error) {
	namespace, err := r.Objects.Cache.Get(ctx, cache.Key{Kind: Kind, Name: name}, cache.Latest)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if !isTerminating(namespace) {
		return true, nil
	}
	doc, err := document.ParseJSONLimited(namespace.AppendJSON(nil), document.Limits{MaxBytes: -1})
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
func (r *Remover) namespaces(subresource string) *objects.Endpoint {
	kind, _ := r.Objects.Kinds.Resource("", "v1", "namespaces")
	endpoint, err := r.Objects.Endpoint(kind, "v1", subresource)
	if err != nil {
		panic(err) // it is built in
	}
	return endpoint
}

func (r *Remover) request(name string, endpoint *objects.Endpoint, doc document.Value) *objects.Request {
	return &objects.Request{
		Endpoint: endpoint, Name: name, Body: objects.Body{Text: doc.JSON()},
		User: r.User, Manager: r.Manager, Validation: objects.Ignore, Warn: func(string) {},
	}
}

func (r *Remover) deletion(namespace, name string, endpoint *objects.Endpoint) *objects.Deletion {
	return &objects.Deletion{Endpoint: endpoint, Namespace: namespace, Name: name, Dependants: objects.Background}
}
