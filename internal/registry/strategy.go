package registry

import (
	"context"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/storage"
)

// Strategy extends the write pipeline for one resource with behaviour that its api.Kind does not describe. Each function may
// be nil. The functions are called concurrently, and once per attempt of a write that is retried after a conflict.
type Strategy struct {
	// Prepare returns the object with the fields that the server sets, which may depend on the live object. These fields
	// belong to no field manager. live is absent on create. Prepare is not called for writes to subresources.
	Prepare func(obj, live document.Value) document.Value
	// Allocate returns the object with values that must be unique among objects, such as a cluster IP, and the writes that
	// reserve these values. The writes are committed in one transaction with the object. It is called before validation. If
	// obj is absent, the writes release the reservations of live. In a dry run Allocate must not return writes.
	Allocate func(ctx context.Context, a *Allocation, obj, live document.Value) (document.Value, []storage.Write, error)
	// MarkDeleted returns the object marked as deleted, instead of setting deletionTimestamp and finalizers as for other
	// resources; ok is false if the object is marked already.
	MarkDeleted func(doc document.Value) (marked document.Value, ok bool)
	// CheckDelete returns an API status if the object of that name must not be deleted.
	CheckDelete func(name string) error
}

// Allocation is the context of a call of Strategy.Allocate.
type Allocation struct {
	*Registry
	DryRun bool
}

// allocate calls the Allocate function of the resource's strategy, and returns the prepared object with the allocated values
// and the writes that reserve them. Without such a function it returns p.
func (w *write) allocate(ctx context.Context, live *loaded, p *prepared) (*prepared, error) {
	allocate := w.Endpoint.strategy.Allocate
	if allocate == nil {
		return p, nil
	}
	// A write that completes the deletion of the object is validated like any other, but allocates nothing and releases the
	// reservations.
	final := isDeletionComplete(w.Endpoint.Kind, p.object.Document)
	doc, writes, err := allocate(ctx, &Allocation{w.Registry, w.DryRun || final}, p.object.Document, live.stored)
	if err == nil && final {
		_, writes, err = allocate(ctx, &Allocation{w.Registry, w.DryRun}, document.Value{}, live.stored)
	}
	allocated := *p
	allocated.object.Document, allocated.validated, allocated.allocations = doc, doc, writes
	return &allocated, err
}

// releases returns the writes that release the reservations of an object that is deleted; nil if its resource has none.
func (r *Registry) releases(ctx context.Context, d *Deletion, doc document.Value) ([]storage.Write, error) {
	allocate := d.Endpoint.strategy.Allocate
	if allocate == nil {
		return nil, nil
	}
	_, writes, err := allocate(ctx, &Allocation{r, d.DryRun}, document.Value{}, doc)
	return writes, err
}
