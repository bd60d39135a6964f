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
	// errUnknownKind is for owners of kinds that are not served: nobody knows whether they exist.
	errUnknownKind = errors.New("the kind of an owner is not served")
	// errNoPlace is for owners that are in a namespace, of objects that are not.
	errNoPlace = errors.New("an owner is in a namespace, and the object is in none")
	// errNewDependant is for owners that got dependants while theirs were orphaned.
	errNewDependant = errors.New("something new depends on it")
)

// subject is an object that is judged.
type subject struct {
	*watchcache.Object
	kind *api.Kind
}

// find returns the object with a key; nil if there is none.
func (c *Collector) find(ctx context.Context, text string) (*subject, error) {
	key, err := watchcache.ParseKey(text)
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
	kind := c.kindAt(key.Kind)
	if kind == nil {
		return nil, errUnknownKind
	}
	return &subject{object, kind}, nil
}

// kindAt returns the kind that is called so in keys.
func (c *Collector) kindAt(name string) *api.Kind {
	group, resource, _ := strings.Cut(name, "/")
	if group == "core" {
		group = ""
	}
	kind, _ := c.Objects.Kinds.Resource(group, "", resource)
	return kind
}

// judge finds out what is to be done with an object, and does it.
func (c *Collector) judge(ctx context.Context, key string) error {
	object, err := c.find(ctx, key)
	if err != nil || object == nil {
		return err
	}
	switch {
	case object.AwaitedBy(registry.OrphanFinalizer):
		return c.orphan(ctx, object)
	case object.AwaitedBy(registry.ForegroundFinalizer):
		return c.clearAway(ctx, object)
	case object.IsDeleting():
		return nil // when it is gone, its dependants are judged
	}
	owners, err := c.weigh(ctx, object)
	switch {
	case errors.Is(err, errNoPlace):
		return nil // that does not change
	case err != nil:
		return err
	case len(owners.solid) > 0:
		return c.release(ctx, object, append(owners.dangling, owners.waiting...))
	case len(owners.waiting) > 0 && c.index.hasDependants(object.UID()):
		return c.deleteInForeground(ctx, object)
	case len(owners.dangling)+len(owners.waiting) > 0:
		return c.delete(ctx, object, formerly(object))
	}
	return nil
}

// weighed are the uids of the owners of an object.
type weighed struct{ solid, dangling, waiting []string }

// weigh finds out which of an object's owners there are.
func (c *Collector) weigh(ctx context.Context, object *subject) (w weighed, err error) {
	for _, r := range references(object.Object) {
		owner, err := c.owner(ctx, object, r)
		switch {
		case err != nil:
			return w, err
		case owner == nil:
			w.dangling = append(w.dangling, r.uid)
		case owner.AwaitedBy(registry.ForegroundFinalizer):
			w.waiting = append(w.waiting, r.uid)
		default:
			w.solid = append(w.solid, r.uid)
		}
	}
	return w, nil
}

// owner returns the owner that a reference names; nil if there is none. One that has the name but another
// uid is another one.
func (c *Collector) owner(ctx context.Context, object *subject, r reference) (*watchcache.Object, error) {
	version, err := r.groupVersion()
	kind, isServed := c.Objects.Kinds.Kind(version.Group, version.Version, r.kind)
	if err != nil || !isServed || kind.CreateOnly {
		if c.index.isGone(r.uid) {
			return nil, nil // its kind went with it
		}
		return nil, errUnknownKind
	}
	key := watchcache.Key{Kind: kind.StoreName(), Name: r.name}
	if kind.Namespaced {
		key.Namespace = object.Namespace()
	}
	if kind.Namespaced && key.Namespace == "" {
		c.reportElsewhere(ctx, object, kind, r)
		return nil, errNoPlace
	}
	owner, err := c.Objects.Cache.Get(ctx, key, watchcache.Any)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	if err == nil && owner.UID() == r.uid {
		return owner, nil
	}
	if kind.Namespaced && !c.index.isGone(r.uid) {
		c.reportElsewhere(ctx, object, kind, r)
	}
	return nil, nil
}

// formerly is what the finalizers of an object that is not deleted yet say about its dependants.
func formerly(object *subject) registry.Propagation {
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

// deleteInForeground deletes an object that has dependants, and whose owner waits. If a dependant waits as
// well, they may wait for each other: then the object no longer blocks.
func (c *Collector) deleteInForeground(ctx context.Context, object *subject) error {
	for _, key := range c.index.dependants(object.UID()) {
		dependant, err := c.find(ctx, key)
		if err != nil && !errors.Is(err, errUnknownKind) {
			return err
		}
		if dependant == nil || !dependant.AwaitedBy(registry.ForegroundFinalizer) {
			continue
		}
		if err := c.change(ctx, object, "ownerReferences", unblocked); err != nil {
			return err
		}
		if object, err = c.find(ctx, object.Key()); err != nil || object == nil {
			return err
		}
		break
	}
	return c.delete(ctx, object, registry.Foreground)
}

// clearAway has the dependants of an object that waits for them deleted. If none blocks it, it may go.
func (c *Collector) clearAway(ctx context.Context, owner *subject) error {
	for _, key := range c.index.dependants(owner.UID()) {
		// Those that are being deleted are judged when that changes. To judge them now would go on for ever where
		// objects wait for each other.
		dependant, err := c.find(ctx, key)
		if err != nil || dependant != nil && !dependant.IsDeleting() {
			c.queue.Add(task{key: key})
		}
	}
	if c.index.await(owner.UID(), owner.Key()) {
		return nil
	}
	return c.finalize(ctx, owner, registry.ForegroundFinalizer)
}

// orphan takes the references to an owner from its dependants, and then lets it go.
func (c *Collector) orphan(ctx context.Context, owner *subject) error {
	var group errgroup.Group
	group.SetLimit(atOnce)
	uid := owner.UID()
	for _, key := range c.index.dependants(uid) {
		group.Go(func() error {
			dependant, err := c.find(ctx, key)
			if err != nil || dependant == nil {
				return err
			}
			return c.release(ctx, dependant, []string{uid})
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("orphan what depends on it: %w", err)
	}
	if c.index.hasDependants(uid) {
		return errNewDependant
	}
	return c.finalize(ctx, owner, registry.OrphanFinalizer)
}

// release takes the references to some owners from an object.
func (c *Collector) release(ctx context.Context, object *subject, uids []string) error {
	if len(uids) == 0 {
		return nil
	}
	return c.change(ctx, object, "ownerReferences", func(list document.Value) document.Value { return without(list, uids) })
}
