package registry

import (
	"context"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/storage"
)

// Strategy is the behaviour of one resource that its api.Kind does not describe. Each function may be nil. The
// functions are called concurrently, and again if a commit loses a race.
type Strategy struct {
	// Prepare returns the object with fields that depend on the live object and belong to the server. Fields that it
	// sets have no owner. It is not called for subresources. The live object is absent on create.
	Prepare func(obj, live document.Value) document.Value
	// Allocate returns the object with values that no other object may have, such as a cluster IP, and the writes that
	// reserve them: they are committed in one transaction with the object. It comes before validation. An absent obj
	// releases the reservations of live. A dry run must reserve nothing.
	Allocate func(ctx context.Context, a *Allocation, obj, live document.Value) (document.Value, []storage.Write, error)
	// MarkDeleted replaces the marking of deleted objects for this resource; ok is false if the object is marked already.
	MarkDeleted func(doc document.Value) (marked document.Value, ok bool)
	// CheckDelete rejects the deletion of an object.
	CheckDelete func(name string) error
}

// Allocation is the context of a call of Strategy.Allocate.
type Allocation struct {
	*Registry
	DryRun bool
}

// allocate runs the resource's allocation on a prepared object.
func (w *write) allocate(ctx context.Context, live *loaded, p *prepared) (*prepared, error) {
	allocate := w.Endpoint.strategy.Allocate
	if allocate == nil {
		return p, nil
	}
	// The last write of an object whose deletion is complete is validated like any other, but it allocates nothing.
	final := isDeletionComplete(w.Endpoint.Kind, p.object.Document)
	doc, writes, err := allocate(ctx, &Allocation{w.Registry, w.DryRun || final}, p.object.Document, live.stored)
	if err == nil && final {
		_, writes, err = allocate(ctx, &Allocation{w.Registry, w.DryRun}, document.Value{}, live.stored)
	}
	allocated := *p
	allocated.object.Document, allocated.validated, allocated.allocations = doc, doc, writes
	return &allocated, err
}

// releases returns the writes that release the reservations of a deleted object.
func (r *Registry) releases(ctx context.Context, d *Deletion, doc document.Value) ([]storage.Write, error) {
	allocate := d.Endpoint.strategy.Allocate
	if allocate == nil {
		return nil, nil
	}
	_, writes, err := allocate(ctx, &Allocation{r, d.DryRun}, document.Value{}, doc)
	return writes, err
}
