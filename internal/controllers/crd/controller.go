package crd

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/controllers/managedfields"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// retryInterval is the wait before a failed watch or a failed deletion of objects is retried.
const retryInterval = time.Second

// Options are the dependencies of a Controller.
type Options struct {
	Objects *registry.Registry
	// Webhooks calls conversion webhooks.
	Webhooks crd.Webhooks
	// Migrator migrates managed fields when a CRD changes. Its Run method must be running while Controller.Run is running.
	Migrator *managedfields.Migrator
	// Manager is the field manager of the controller's writes.
	Manager string
	Log     *slog.Logger
}

// Controller watches CustomResourceDefinitions and serves the resources that they define.
type Controller struct {
	Options
	// groups contains all existing CRDs, by API group and name. Only Load and Run use it, so it needs no lock.
	groups  map[string]map[string]*definition
	running sync.WaitGroup

	mu sync.Mutex
	// deleting is the set of names of the CRDs whose objects are being deleted. It is guarded by mu.
	deleting map[string]bool
}

// New returns a controller. Call Load, then Run.
func New(options Options) *Controller {
	return &Controller{Options: options, groups: map[string]map[string]*definition{}, deleting: map[string]bool{}}
}

// definition is the controller's state of a CustomResourceDefinition.
type definition struct {
	*crd.Definition
	object *watchcache.Object
	// served is the registered kind of the CRD; nil if the CRD is not served. In that case stopped is the kind that was served
	// last, whose writes may still be in flight; nil if there was none.
	served, stopped *managedfields.Migration
}

// lastServed returns the kind that is served or, if the CRD is not served, the kind that was served last; nil if the
// CRD was never served.
func (d *definition) lastServed() *managedfields.Migration {
	if d.served != nil {
		return d.served
	}
	return d.stopped
}

// Load registers the kinds of all established CRDs. If the managed fields of a kind's objects have to be migrated, writes
// to the kind are blocked until the Migrator has migrated them.
func (c *Controller) Load(ctx context.Context) error {
	list, err := c.Objects.Cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: crd.Definitions}, Freshness: watchcache.Latest})
	if err != nil {
		return err
	}
	migrations, err := c.Migrator.Load(ctx)
	if err != nil {
		return err
	}
	var all []*api.Kind
	for _, object := range list.Objects {
		d, err := c.parse(object)
		if err != nil {
			c.Log.Error("cannot parse a CustomResourceDefinition", "name", object.Name(), "error", err)
			migrations.KeepNamed(object.Name())
			continue
		}
		if kind := d.NewKind(nil, c.Webhooks); d.IsTrue(crd.Established) && c.canServe(kind) {
			d.served = migrations.Resume(kind, list.Revision)
			all = append(all, kind)
		}
		migrations.Keep(d.UID)
	}
	migrations.Finish(ctx)
	return c.Objects.Kinds.Add(all...)
}

// parse parses a stored CustomResourceDefinition and adds it to groups, where it replaces the previous CRD of the
// same name and takes over its served and stopped kinds.
func (c *Controller) parse(object *watchcache.Object) (*definition, error) {
	parsed, err := crd.ParseStored(object)
	if err != nil {
		return nil, err
	}
	d := &definition{Definition: parsed, object: object}
	group := c.groups[d.Group]
	if group == nil {
		group = map[string]*definition{}
		c.groups[d.Group] = group
	}
	if before := group[d.Name]; before != nil {
		d.served, d.stopped = before.served, before.stopped
	}
	group[d.Name] = d
	return d, nil
}

// Run watches CRDs until the context ends or the watch cache is closed. Call it once, after Load.
func (c *Controller) Run(ctx context.Context) {
	defer c.running.Wait()
	for ctx.Err() == nil {
		err := c.watch(ctx)
		if errors.Is(err, watchcache.ErrClosed) || ctx.Err() != nil {
			return
		}
		if !errors.Is(err, watchcache.ErrTooOld) {
			c.Log.Error("cannot watch CustomResourceDefinitions, retrying", "error", err)
			sleep(ctx, retryInterval)
		}
	}
}

// sleep returns after the duration, or earlier when the context ends.
func sleep(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// watch handles all existing CRDs, then each change of a CRD, until the watch fails. It never returns nil.
func (c *Controller) watch(ctx context.Context) error {
	watcher, err := c.Objects.Cache.Watch(ctx, watchcache.WatchOptions{Selection: watchcache.Selection{Kind: crd.Definitions}, InitialState: true, Freshness: watchcache.Any})
	if err != nil {
		return err
	}
	defer watcher.Close()
	seen := map[string]bool{} // the names of the CRDs in the initial state; nil once it is complete
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range events {
			switch {
			case e.Type == watchcache.InitialEnd:
				c.handleMissing(ctx, seen)
				seen = nil
			case e.Object == nil:
			case e.Type == watchcache.Deleted:
				c.handleDeleted(ctx, e.Object)
			default:
				if seen != nil {
					seen[e.Object.Name()] = true
				}
				c.handleChanged(ctx, e.Object)
			}
		}
	}
}

// handleMissing calls handleDeleted for the CRDs that were deleted while no watch was open: the CRDs in groups
// whose names are not in seen. seen contains the names in the initial state of the watch.
func (c *Controller) handleMissing(ctx context.Context, seen map[string]bool) {
	for _, group := range c.groups {
		for name, d := range group {
			if !seen[name] {
				c.handleDeleted(ctx, d.object)
			}
		}
	}
}

// handleChanged handles a CRD that was created or updated.
func (c *Controller) handleChanged(ctx context.Context, object *watchcache.Object) {
	d, err := c.parse(object)
	if err != nil {
		c.Log.Error("cannot parse a CustomResourceDefinition", "name", object.Name(), "error", err)
		return
	}
	names, last := d.AcceptedNames, d.lastServed()
	c.reconcile(ctx, d)
	if !names.Equal(d.AcceptedNames) {
		c.reconcileOthers(ctx, d)
	}
	if d.Terminating && d.HasFinalizer() {
		c.startDeleting(ctx, d.Name, last)
	}
}

// handleDeleted unregisters the kind of a deleted CRD, and reconciles the CRDs of its group whose names
// may have conflicted with it.
func (c *Controller) handleDeleted(ctx context.Context, object *watchcache.Object) {
	for _, group := range c.groups {
		if d := group[object.Name()]; d != nil {
			delete(group, object.Name())
			c.stopServing(d)
			c.Migrator.Delete(ctx, d.Definition)
			c.reconcileOthers(ctx, d)
			return
		}
	}
}

// reconcileOthers reconciles the other CRDs in the group of changed that have requested names which are not accepted.
func (c *Controller) reconcileOthers(ctx context.Context, changed *definition) {
	for _, d := range c.groups[changed.Group] {
		if d.Name != changed.Name && !d.RequestedNames.Equal(d.AcceptedNames) {
			c.reconcile(ctx, d)
		}
	}
}

// reconcile accepts the names of a CRD, registers its kind, and then writes the status of the CRD. Because of this
// order, a client that reads the condition Established=True finds the resource in discovery and at its path.
func (c *Controller) reconcile(ctx context.Context, d *definition) {
	var group []*crd.Definition
	for _, other := range c.groups[d.Group] {
		group = append(group, other.Definition)
	}
	accepted, conditions := d.Decide(group)
	isWritten := accepted.Equal(d.AcceptedNames) && d.HasConditions(conditions)
	d.AcceptedNames = accepted
	if slices.ContainsFunc(conditions, func(c crd.Condition) bool { return c.Type == crd.Established && c.True }) {
		c.serve(ctx, d)
	}
	if isWritten {
		return
	}
	if err := c.writeStatus(ctx, d, conditions); err != nil && !isConflictOrClosed(err) && ctx.Err() == nil {
		c.Log.Error("cannot write the status of a CustomResourceDefinition", "name", d.Name, "error", err)
	}
}

// isConflictOrClosed reports whether a write failed because the CRD has changed, in which case another watch event
// follows, or because the watch cache is closed. Callers do not log these errors.
func isConflictOrClosed(err error) bool {
	var conflict *storage.ConflictError
	return errors.As(err, &conflict) || errors.Is(err, watchcache.ErrClosed)
}
