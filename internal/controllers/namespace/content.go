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

// workers is the number of namespaces that are processed concurrently, and the maximum number of objects of a resource in
// one namespace that are deleted concurrently. Concurrent deletions share the store's group commits.
const workers = 16

// remaining counts the objects of a namespace that still exist after their deletion was requested: per resource, as
// RESOURCE.GROUP, and per finalizer. The maps are guarded by mu.
type remaining struct {
	mu                sync.Mutex
	kinds, finalizers map[string]int
}

func (r *remaining) isEmpty() bool { return len(r.kinds) == 0 }

// deleteContent deletes the objects in a namespace, and counts the objects that still exist because of a finalizer or a grace
// period. It deletes pods first. It deletes other objects, such as NetworkPolicies that protect the pods, only when no pod is
// left.
func (c *Controller) deleteContent(ctx context.Context, namespace string) (*remaining, error) {
	left := &remaining{kinds: map[string]int{}, finalizers: map[string]int{}}
	pods, _ := c.Objects.Kinds.Resource("", "v1", "pods")
	if err := c.deleteResource(ctx, namespace, pods, left); err != nil || !left.isEmpty() {
		return left, err
	}
	seen := map[string]bool{pods.StoreName(): true}
	for _, kind := range c.Objects.Kinds.All() {
		if !kind.Namespaced || kind.CreateOnly || seen[kind.StoreName()] {
			continue
		}
		seen[kind.StoreName()] = true
		if err := c.deleteResource(ctx, namespace, kind, left); err != nil {
			return left, err
		}
	}
	return left, nil
}

// deleteResource deletes the objects of one resource in a namespace, and adds the number of objects that still exist to left.
func (c *Controller) deleteResource(ctx context.Context, namespace string, kind *api.Kind, left *remaining) error {
	list, err := c.Objects.Cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: kind.StoreName(), Namespace: namespace}, Freshness: watchcache.Latest})
	if err != nil || len(list.Objects) == 0 {
		return err
	}
	var group errgroup.Group
	group.SetLimit(workers)
	for _, object := range list.Objects {
		group.Go(func() error { return c.deleteOne(ctx, kind, object, left) })
	}
	return group.Wait()
}

// deleteOne deletes an object, and adds the object to the counts in left if it still exists afterwards. An object whose grace
// period has expired is deleted immediately, because there may be no kubelet that confirms its termination.
func (c *Controller) deleteOne(ctx context.Context, kind *api.Kind, object *watchcache.Object, left *remaining) error {
	endpoint, err := c.Objects.Endpoint(kind, kind.Versions[0], "")
	if err != nil {
		return err
	}
	d := c.deletion(object.Namespace(), object.Name(), endpoint)
	d.HasGracePeriod = c.gracePeriodExpired(object)
	deleted, err := c.Objects.Delete(ctx, d)
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

// gracePeriodExpired reports whether the deletionTimestamp of an object is in the past.
func (c *Controller) gracePeriodExpired(object *watchcache.Object) bool {
	doc, err := object.WithoutManagedFields()
	if err != nil {
		return false
	}
	when, err := time.Parse(time.RFC3339, doc.Lookup("metadata", "deletionTimestamp").Text())
	return err == nil && c.Objects.Now().After(when)
}
