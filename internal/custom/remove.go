package custom

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

// deletedAtOnce is how many objects are deleted at once, so that they share the wait for the disk.
const deletedAtOnce = 32

func (r *reading) hasFinalizer() bool { return slices.Contains(r.finalizers, cleanup) }

// startRemoving begins to delete the objects of a definition, unless that has begun. It waits for those who still
// create some by the kind that was last served before it was closed, which may be nil.
func (c *Controller) startRemoving(ctx context.Context, name string, before *kinds.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.removing[name] {
		return
	}
	c.removing[name] = true
	c.running.Go(func() {
		if before != nil && !before.IsClosed {
			end(before)
		}
		c.remove(ctx, name)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.removing, name)
	})
}

// remove deletes the objects of a definition, and lets it go. It tries again until that is done.
func (c *Controller) remove(ctx context.Context, name string) {
	for ctx.Err() == nil {
		err := c.tryRemove(ctx, name)
		switch {
		case err == nil || errors.Is(err, cache.ErrClosed):
			return
		case !isRace(err):
			c.Log.Warn("cannot remove a CustomResourceDefinition yet", "name", name, "error", err)
			sleep(ctx, lastWait)
		}
	}
}

func (c *Controller) tryRemove(ctx context.Context, name string) error {
	object, err := c.Objects.Cache.Get(ctx, cache.Key{Kind: Definitions, Name: name}, cache.Latest)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := readDefinition(object)
	if err != nil {
		return err
	}
	d := &defined{reading: r, object: object}
	if !d.hasFinalizer() {
		return nil
	}
	done := condition{"Terminating", false, "NeverEstablished", "resource was never established"}
	if d.isTrue(established) {
		if done, err = c.removeObjects(ctx, d); err != nil {
			return err
		}
	}
	return c.touch(ctx, d, "status", func(doc document.Value) document.Value {
		kept := slices.DeleteFunc(texts(doc.Lookup("metadata", "finalizers")), func(f string) bool { return f == cleanup })
		metadata := doc.Get("metadata").With("finalizers", textList(kept))
		if len(kept) == 0 {
			metadata = metadata.Without("finalizers")
		}
		return withConditions(doc.With("metadata", metadata), c.Objects.Now(), done)
	})
}

// removeObjects deletes all objects of a definition, and waits until they are gone.
func (c *Controller) removeObjects(ctx context.Context, d *defined) (condition, error) {
	underWay := condition{"Terminating", true, "InstanceDeletionInProgress", "CustomResource deletion is in progress"}
	err := c.touch(ctx, d, "status", func(doc document.Value) document.Value { return withConditions(doc, c.Objects.Now(), underWay) })
	if err != nil {
		return underWay, err
	}
	kind := c.kindOf(d, nil)
	if there, _ := c.Objects.Kinds.Resource(kind.Group, "", kind.Resource); there != nil && !there.Custom {
		return condition{"Terminating", false, "OverlappingBuiltInResource", "instances overlap with built-in resources in storage"}, nil
	}
	done := condition{"Terminating", false, "InstanceDeletionCompleted", "removed all instances"}
	return done, c.removeAll(ctx, kind)
}

// removeAll deletes the objects of a kind until there are none.
func (c *Controller) removeAll(ctx context.Context, kind *kinds.Kind) error {
	endpoint, err := c.Objects.Endpoint(kind, kind.Definition.(*definition).store, "")
	if err != nil {
		return err
	}
	selection := cache.Selection{Kind: kind.StoreName()}
	for {
		list, err := c.Objects.Cache.List(ctx, cache.Query{Selection: selection, Freshness: cache.Latest})
		if err != nil || len(list.Objects) == 0 {
			return err
		}
		watcher, err := c.Objects.Cache.Watch(ctx, cache.WatchOptions{Selection: selection, After: list.Revision})
		if err != nil {
			return err
		}
		err = c.deleteEach(ctx, endpoint, list.Objects)
		if err == nil {
			_, err = watcher.Next(ctx) // what waits for somebody else goes when they are done
		}
		watcher.Close()
		if err != nil {
			return err
		}
	}
}

// deleteEach deletes objects, or marks them as deleted.
func (c *Controller) deleteEach(ctx context.Context, endpoint *objects.Endpoint, all []*cache.Object) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletedAtOnce)
	for _, object := range all {
		group.Go(func() error {
			_, err := c.Objects.Delete(ctx, &objects.Deletion{Endpoint: endpoint, Namespace: object.Namespace(), Name: object.Name()})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
	return group.Wait()
}
