package garbagecollector

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

var (
	// errUnknownKind means that the kind of an object or of its owner is not served, so the owner may exist. The dependent is
	// reconciled when the kind is served.
	errUnknownKind = errors.New("the kind of an owner is not served")
	// errNamespacedOwner means that a cluster-scoped object has a namespaced owner. Such an object is never deleted.
	errNamespacedOwner = errors.New("a cluster-scoped object has a namespaced owner")
	// errNewDependent means that a dependent was created while the owner's dependents were orphaned. The reconciliation of the
	// owner is retried.
	errNewDependent = errors.New("the owner got a new dependent while its dependents were orphaned")
)

// subject is an object that is being reconciled, with its kind.
type subject struct {
	*watchcache.Object
	kind *api.Kind
}

// find returns the object with the key; nil without an error if it does not exist. It returns errUnknownKind if the kind
// of the object is not served.
func (c *Collector) find(ctx context.Context, objectKey string) (*subject, error) {
	key, err := watchcache.ParseKey(objectKey)
	if err != nil {
		return nil, err
	}
	object, err := c.Objects.Cache.Get(ctx, key, watchcache.Any)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kind := c.servedKind(key.Kind)
	if kind == nil {
		return nil, errUnknownKind
	}
	return &subject{object, kind}, nil
}

// servedKind returns the kind of the resource with a name in the form GROUP/RESOURCE; nil if the resource is not served.
func (c *Collector) servedKind(name string) *api.Kind {
	group, resource, _ := strings.Cut(name, "/")
	if group == "core" {
		group = ""
	}
	kind, _ := c.Objects.Kinds.Resource(group, "", resource)
	return kind
}

// reconcile reconciles the object with the key. For an object that is being deleted with the orphan or foregroundDeletion
// finalizer, it orphans or deletes the dependents. It deletes an object without existing owners. From an object with an
// existing owner it removes the references to owners that do not exist or are waiting.
func (c *Collector) reconcile(ctx context.Context, key string) error {
	object, err := c.find(ctx, key)
	if err != nil || object == nil {
		return err
	}
	switch {
	case object.AwaitsFinalizer(registry.OrphanFinalizer):
		return c.orphanDependents(ctx, object)
	case object.AwaitsFinalizer(registry.ForegroundFinalizer):
		return c.deleteDependents(ctx, object)
	case object.IsDeleting():
		return nil // the object's dependents are reconciled after its deletion
	}
	owners, err := c.classifyOwners(ctx, object)
	switch {
	case errors.Is(err, errNamespacedOwner):
		return nil // a retry is useless, because the scope of a kind does not change
	case err != nil:
		return err
	case len(owners.solid) > 0:
		return c.removeOwnerReferences(ctx, object, append(owners.dangling, owners.waiting...))
	case len(owners.waiting) > 0 && c.index.hasDependents(object.UID()):
		return c.deleteInForeground(ctx, object)
	case len(owners.dangling)+len(owners.waiting) > 0:
		return c.delete(ctx, object, propagationOf(object))
	}
	return nil
}

// classifiedOwners are the UIDs in an object's ownerReferences, grouped by the state of the owner: solid owners exist, dangling
// owners do not exist, and waiting owners are being deleted in the foreground.
type classifiedOwners struct{ solid, dangling, waiting []string }

// classifyOwners looks up the owners of an object and groups them by their state.
func (c *Collector) classifyOwners(ctx context.Context, object *subject) (w classifiedOwners, err error) {
	for _, r := range references(object.Object) {
		owner, err := c.owner(ctx, object, r)
		switch {
		case err != nil:
			return w, err
		case owner == nil:
			w.dangling = append(w.dangling, r.uid)
		case owner.AwaitsFinalizer(registry.ForegroundFinalizer):
			w.waiting = append(w.waiting, r.uid)
		default:
			w.solid = append(w.solid, r.uid)
		}
	}
	return w, nil
}

// owner returns the owner that an ownerReference of the object refers to; nil without an error if it does not exist. An
// object with the same name but another UID is not the owner.
func (c *Collector) owner(ctx context.Context, object *subject, r reference) (*watchcache.Object, error) {
	version, err := r.groupVersion()
	kind, isServed := c.Objects.Kinds.Kind(version.Group, version.Version, r.kind)
	if err != nil || !isServed || kind.CreateOnly {
		if c.index.isDeleted(r.uid) {
			return nil, nil // the owner was deleted before its kind was unregistered
		}
		return nil, errUnknownKind
	}
	key := watchcache.Key{Kind: kind.StoreName(), Name: r.name}
	if kind.Namespaced {
		key.Namespace = object.Namespace()
	}
	if kind.Namespaced && key.Namespace == "" {
		c.reportOwnerInOtherNamespace(ctx, object, kind, r)
		return nil, errNamespacedOwner
	}
	owner, err := c.Objects.Cache.Get(ctx, key, watchcache.Any)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	if err == nil && owner.UID() == r.uid {
		return owner, nil
	}
	if kind.Namespaced && !c.index.isDeleted(r.uid) {
		c.reportOwnerInOtherNamespace(ctx, object, kind, r)
	}
	return nil, nil
}

// propagationOf returns the propagation policy for the deletion of an object, according to its finalizers: Orphan or
// Foreground if it has the finalizer of that policy, otherwise Background.
func propagationOf(object *subject) registry.Propagation {
	doc, err := object.WithoutManagedFields()
	if err != nil {
		return registry.Background
	}
	for _, f := range doc.Lookup("metadata", "finalizers").Items() {
		switch f.Text() {
		case registry.OrphanFinalizer:
			return registry.Orphan
		case registry.ForegroundFinalizer:
			return registry.Foreground
		}
	}
	return registry.Background
}

// deleteInForeground deletes an object that has dependents and a waiting owner. If one of its dependents is waiting, too,
// the objects may own each other in a cycle and would block each other forever; therefore blockOwnerDeletion is removed
// from the object's ownerReferences first.
func (c *Collector) deleteInForeground(ctx context.Context, object *subject) error {
	for _, key := range c.index.dependents(object.UID()) {
		dependent, err := c.find(ctx, key)
		if err != nil && !errors.Is(err, errUnknownKind) {
			return err
		}
		if dependent == nil || !dependent.AwaitsFinalizer(registry.ForegroundFinalizer) {
			continue
		}
		if err := c.patchMetadata(ctx, object, "ownerReferences", withoutBlocking); err != nil {
			return err
		}
		if object, err = c.find(ctx, object.Key()); err != nil || object == nil {
			return err
		}
		break
	}
	return c.delete(ctx, object, registry.Foreground)
}

// deleteDependents enqueues the dependents of an owner that is being deleted in the foreground. If no dependent blocks the
// owner, it removes the owner's foregroundDeletion finalizer.
func (c *Collector) deleteDependents(ctx context.Context, owner *subject) error {
	for _, key := range c.index.dependents(owner.UID()) {
		// A dependent that is being deleted is enqueued only when it changes: objects that wait for each other would enqueue each
		// other forever.
		dependent, err := c.find(ctx, key)
		if err != nil || dependent != nil && !dependent.IsDeleting() {
			c.queue.Add(task{key: key})
		}
	}
	if c.index.waitUntilUnblocked(owner.UID(), owner.Key()) {
		return nil
	}
	return c.removeFinalizer(ctx, owner, registry.ForegroundFinalizer)
}

// orphanDependents removes the references to an owner from its dependents, and then the owner's orphan finalizer. It
// returns errNewDependent if an object refers to the owner afterwards.
func (c *Collector) orphanDependents(ctx context.Context, owner *subject) error {
	var group errgroup.Group
	group.SetLimit(workers)
	uid := owner.UID()
	for _, key := range c.index.dependents(uid) {
		group.Go(func() error {
			dependent, err := c.find(ctx, key)
			if err != nil || dependent == nil {
				return err
			}
			return c.removeOwnerReferences(ctx, dependent, []string{uid})
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("orphaning dependents: %w", err)
	}
	if c.index.hasDependents(uid) {
		return errNewDependent
	}
	return c.removeFinalizer(ctx, owner, registry.OrphanFinalizer)
}

// removeOwnerReferences removes the ownerReferences with the UIDs from an object.
func (c *Collector) removeOwnerReferences(ctx context.Context, object *subject, uids []string) error {
	if len(uids) == 0 {
		return nil
	}
	return c.patchMetadata(ctx, object, "ownerReferences", func(list document.Value) document.Value { return withoutOwners(list, uids) })
}
