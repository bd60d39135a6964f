package namespace

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// atOnce is how many objects are deleted at once, so that they share the wait for the disk.
const atOnce = 16

// remains is what is left in a namespace: how many of each kind, and how many have each finalizer.
type remains struct {
	mu                sync.Mutex
	kinds, finalizers map[string]int
}

func (m *remains) isNothing() bool { return len(m.kinds) == 0 }

// empty deletes what is in a namespace, and returns what waits. Pods go first: what they are
// guarded by, such as network policies, must not go before them.
func (r *Remover) empty(ctx context.Context, namespace string) (*remains, error) {
	left := &remains{kinds: map[string]int{}, finalizers: map[string]int{}}
	pods, _ := r.Objects.Kinds.Resource("", "v1", "pods")
	if err := r.emptyOf(ctx, namespace, pods, left); err != nil || !left.isNothing() {
		return left, err
	}
	seen := map[string]bool{pods.StoreName(): true}
	for _, kind := range r.Objects.Kinds.All() {
		if !kind.Namespaced || kind.CreateOnly || seen[kind.StoreName()] {
			continue
		}
		seen[kind.StoreName()] = true
		if err := r.emptyOf(ctx, namespace, kind, left); err != nil {
			return left, err
		}
	}
	return left, nil
}

// emptyOf deletes the objects of a kind.
func (r *Remover) emptyOf(ctx context.Context, namespace string, kind *api.Kind, left *remains) error {
	list, err := r.Objects.Cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: kind.StoreName(), Namespace: namespace}, Freshness: watchcache.Latest})
	if err != nil || len(list.Objects) == 0 {
		return err
	}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, object := range list.Objects {
		group.Go(func() error { return r.deleteOne(ctx, kind, object, left) })
	}
	return group.Wait()
}

// deleteOne deletes an object, or notes that it waits. Time that was given to an object is over when
// it has passed: there may be nobody who would say so.
func (r *Remover) deleteOne(ctx context.Context, kind *api.Kind, object *watchcache.Object, left *remains) error {
	endpoint, err := r.Objects.Endpoint(kind, kind.Versions[0], "")
	if err != nil {
		return err
	}
	d := r.deletion(object.Namespace(), object.Name(), endpoint)
	d.HasGracePeriod = r.isLate(object)
	deleted, err := r.Objects.Delete(ctx, d)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || !deleted.Pending {
		return err
	}
	left.mu.Lock()
	defer left.mu.Unlock()
	left.kinds[kind.Resource+"."+kind.Group]++
	if doc, err := deleted.Object.WithoutManagedFields(); err == nil {
		for _, f := range doc.Lookup("metadata", "finalizers").Items() {
			left.finalizers[f.Text()]++
		}
	}
	return nil
}

// isLate reports whether an object should have been gone by now.
func (r *Remover) isLate(object *watchcache.Object) bool {
	doc, err := object.WithoutManagedFields()
	if err != nil {
		return false
	}
	when, err := time.Parse(time.RFC3339, doc.Lookup("metadata", "deletionTimestamp").Text())
	return err == nil && r.Objects.Now().After(when)
}
