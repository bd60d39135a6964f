package crd

import (
	"context"

	"github.com/cadastre/cadastre/internal/api"
)

// serve registers the kind of a CRD, unless the same kind is registered already. In the background it waits for
// writes in flight that use the replaced kind, and migrates managed fields to the new schemas.
func (c *Controller) serve(ctx context.Context, d *definition) {
	var before *api.Kind
	if d.served != nil {
		before = d.served.Kind
		if d.IsServedBy(before) {
			return
		}
	}
	kind := d.NewKind(before, c.Webhooks)
	switch {
	case !c.canServe(kind):
		c.stopServing(d)
		return
	case before != nil && before.Resource != kind.Resource:
		c.Objects.Kinds.Remove(before.Group, before.Resource)
	}
	migration := c.Migrator.Prepare(ctx, kind)
	if err := c.Objects.Kinds.Add(kind); err != nil {
		migration.Cancel()
		c.Log.Error("cannot serve a custom resource", "name", d.Name, "error", err)
		return
	}
	replaced := d.lastServed()
	d.served, d.stopped = migration, nil
	c.Migrator.Track(migration)
	c.running.Go(func() { c.Migrator.Start(migration, replaced) })
}

// canServe reports whether a kind can be registered: it must have a served version, and no built-in kind of the group may
// have its resource name or kind name.
func (c *Controller) canServe(kind *api.Kind) bool {
	if len(kind.Versions) == 0 {
		return false
	}
	there, _ := c.Objects.Kinds.Resource(kind.Group, "", kind.Resource)
	if there == nil {
		there, _ = c.Objects.Kinds.Kind(kind.Group, "", kind.Name)
	}
	return there == nil || there.Custom
}

// stopServing unregisters the kind of a CRD and rejects further writes that use it. It does nothing if the
// definition is not served.
func (c *Controller) stopServing(d *definition) {
	if d.served == nil {
		return
	}
	kind := d.served.Kind
	c.Objects.Kinds.Remove(kind.Group, kind.Resource)
	d.served, d.stopped = nil, d.served
	c.running.Go(kind.WriteGate.Close)
}
