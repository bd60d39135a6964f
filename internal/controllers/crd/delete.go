package crd

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/controllers/managedfields"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// parallelDeletes is the maximum number of objects that are deleted concurrently. Concurrent deletions share group commits of
// the store.
const parallelDeletes = 32

// startDeleting deletes the objects of a terminating CRD and then the CRD, in the background, unless the deletion
// of the CRD is already in progress. It first waits for creations in flight that use served, the kind that was served
// last; served is nil if there is no such kind.
func (c *Controller) startDeleting(ctx context.Context, name string, served *managedfields.Migration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deleting[name] {
		return
	}
	c.deleting[name] = true
	c.running.Go(func() {
		if served != nil && !served.Kind.Terminating {
			served.Drain()
		}
		c.delete(ctx, name)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.deleting, name)
	})
}

// delete retries tryDelete until it succeeds, the context ends or the watch cache is closed.
func (c *Controller) delete(ctx context.Context, name string) {
	for ctx.Err() == nil {
		err := c.tryDelete(ctx, name)
		switch {
		case err == nil || errors.Is(err, watchcache.ErrClosed):
			return
		case !isConflictOrClosed(err):
			c.Log.Warn("cannot delete the objects of a CustomResourceDefinition yet, retrying", "name", name, "error", err)
			sleep(ctx, retryInterval)
		}
	}
}

// tryDelete deletes the objects of a CRD, waits until they are gone, and removes the CRD's cleanup
// finalizer. It does nothing if the CRD no longer exists or has no cleanup finalizer.
func (c *Controller) tryDelete(ctx context.Context, name string) error {
	object, err := c.Objects.Cache.Get(ctx, watchcache.Key{Kind: crd.Definitions, Name: name}, watchcache.Latest)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	parsed, err := crd.ParseStored(object)
	if err != nil {
		return err
	}
	d := &definition{Definition: parsed, object: object}
	if !d.HasFinalizer() {
		return nil
	}
	done := crd.Terminating(false, "NeverEstablished", "resource was never established")
	if d.IsTrue(crd.Established) {
		if done, err = c.deleteObjects(ctx, d); err != nil {
			return err
		}
	}
	return c.update(ctx, d, func(doc document.Value) document.Value {
		return crd.WithConditions(crd.WithoutCleanupFinalizer(doc), c.Objects.Now(), done)
	})
}

// deleteObjects deletes all objects of a CRD and waits until they no longer exist. It returns the Terminating
// condition to be written.
func (c *Controller) deleteObjects(ctx context.Context, d *definition) (crd.Condition, error) {
	inProgress := crd.Terminating(true, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
	err := c.update(ctx, d, func(doc document.Value) document.Value { return crd.WithConditions(doc, c.Objects.Now(), inProgress) })
	if err != nil {
		return inProgress, err
	}
	kind := d.NewKind(nil, c.Webhooks)
	if there, _ := c.Objects.Kinds.Resource(kind.Group, "", kind.Resource); there != nil && !there.Custom {
		return crd.Terminating(false, "OverlappingBuiltInResource", "instances overlap with built-in resources in storage"), nil
	}
	done := crd.Terminating(false, "InstanceDeletionCompleted", "removed all instances")
	return done, c.deleteAll(ctx, kind)
}

// deleteAll deletes the objects of a kind until none exists. It waits for objects with finalizers.
func (c *Controller) deleteAll(ctx context.Context, kind *api.Kind) error {
	endpoint, err := c.Objects.Endpoint(kind, kind.Definition.(*crd.Resource).StorageVersion(), "")
	if err != nil {
		return err
	}
	selection := watchcache.Selection{Kind: kind.StoreName()}
	for {
		list, err := c.Objects.Cache.List(ctx, watchcache.Query{Selection: selection, Freshness: watchcache.Latest})
		if err != nil || len(list.Objects) == 0 {
			return err
		}
		watcher, err := c.Objects.Cache.Watch(ctx, watchcache.WatchOptions{Selection: selection, After: list.Revision})
		if err != nil {
			return err
		}
		err = c.deleteEach(ctx, endpoint, list.Objects)
		if err == nil {
			_, err = watcher.Next(ctx)
		}
		watcher.Close()
		if err != nil {
			return err
		}
	}
}

// deleteEach deletes objects concurrently; objects with finalizers only get a deletionTimestamp.
func (c *Controller) deleteEach(ctx context.Context, endpoint *registry.Endpoint, all []*watchcache.Object) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelDeletes)
	for _, object := range all {
		group.Go(func() error {
			_, err := c.Objects.Delete(ctx, &registry.Deletion{Endpoint: endpoint, Namespace: object.Namespace(), Name: object.Name()})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}
