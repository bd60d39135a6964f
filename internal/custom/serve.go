package custom

import (
	"context"

	"github.com/cadastre/cadastre/internal/kinds"
)

// serve puts the kind that a definition defines into the register, unless it is there already.
func (c *Controller) serve(ctx context.Context, d *defined) {
	before := d.kind
	if before != nil && d.defines(before) {
		return
	}
	kind := c.kindOf(d, before)
	switch {
	case !c.mayServe(kind):
		c.stopServing(d)
		return
	case before == nil:
		before = d.stopped
	case before.Resource != kind.Resource:
		c.Objects.Kinds.Remove(before.Group, before.Resource)
	}
	release := c.hold(ctx, kind)
	if err := c.Objects.Kinds.Add(kind); err != nil {
		release()
		c.Log.Error("cannot serve a custom kind", "name", d.name, "error", err)
		return
	}
	d.kind, d.stopped = kind, nil
	c.startTakingPlace(ctx, before, kind, release)
}

// mayServe reports whether a kind can be served: some version of it is, and no built-in kind is in its place.
func (c *Controller) mayServe(kind *kinds.Kind) bool {
	if len(kind.Versions) == 0 {
		return false
	}
	there, _ := c.Objects.Kinds.Resource(kind.Group, "", kind.Resource)
	if there == nil {
		there, _ = c.Objects.Kinds.Named(kind.Group, "", kind.Name)
	}
	return there == nil || there.Custom
}

// settled notes that from now on all that is written is as a kind has it.
func (c *Controller) settled(ctx context.Context, kind *kinds.Kind) {
	revision, err := c.Objects.Cache.Revision(ctx)
	if err != nil {
		return // it works all the same, but looks at every object
	}
	kind.Definition.(*definition).since.Store(int64(revision))
}

// stopServing takes the kind of a definition out of the register.
func (c *Controller) stopServing(d *defined) {
	if d.kind == nil {
		return
	}
	c.Objects.Kinds.Remove(d.kind.Group, d.kind.Resource)
	kind := d.kind
	d.kind, d.stopped = nil, kind
	c.running.Go(kind.Uses.End)
}

// defines reports whether a kind is what the definition defines now.
func (d *defined) defines(kind *kinds.Kind) bool {
	of := kind.Definition.(*definition)
	return of.uid == d.uid && of.generation == d.generation && of.accepted.equal(d.accepted) && kind.IsClosed == d.isTerminating
}

// kindOf makes the kind that a definition defines. What it has in common with the kind before, which may be nil,
// is not made again.
func (c *Controller) kindOf(d *defined, before *kinds.Kind) *kinds.Kind {
	var old *definition
	if before != nil {
		old = before.Definition.(*definition)
	}
	r := *d.reading
	n := r.accepted
	of := newDefinition(&r, old, newConverter(&r, c.Webhooks))
	return &kinds.Kind{
		Group: r.group, Name: n.kind, Resource: n.plural, SingularName: n.singular, ListKind: n.listKind,
		ShortNames: n.shortNames, Categories: n.categories, Versions: r.served(), Namespaced: r.namespaced,
		StoredAt: r.group + "/" + of.store, Deprecated: r.deprecations(),
		Traits: kinds.Traits{PutVersioned: true},
		Custom: true, IsClosed: r.isTerminating, Definition: of, Uses: kinds.NewUses(),
	}
}
