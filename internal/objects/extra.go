package objects

import (
	"context"
	"errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/store"
)

// Extra is what a kind gets that depends on other objects. Each part may be nil.
type Extra struct {
	// Amend gives an object what the system sets in view of the live one and of other objects. What
	// is set here nobody owns. It is not for subresources.
	Amend func(ctx context.Context, obj, live document.Value) (document.Value, error)
	// Reserve gives an object what no other object may have, and returns the writes that make it so: they
	// are done with the object's own, or not at all. Nobody has looked yet whether the object is right. The
	// live object is absent on create; the object is when the live one goes, with all that it holds. If one
	// of the writes is lost to another writer, Reserve is asked again. Dry runs reserve nothing.
	Reserve func(ctx context.Context, obj, live document.Value, dryRun bool) (document.Value, []store.Write, error)
	// MayWrite refuses objects that are right, in view of the live one and of others. It is not asked about
	// subresources.
	MayWrite func(ctx context.Context, obj, live document.Value) error
	// Mark marks an object as deleted in the kind's own way, with what it waits for; ok is false if that has
	// been done before.
	Mark func(doc document.Value) (marked document.Value, ok bool)
	// MayDelete refuses deletions.
	MayDelete func(name string) error
}

// amend has the kind's extra amend an object.
func (w *writing) amend(ctx context.Context, doc document.Value) (document.Value, error) {
	if w.Endpoint.extra.Amend == nil || w.Endpoint.Subresource != "" {
		return doc, nil
	}
	return w.Endpoint.extra.Amend(ctx, doc, w.stored)
}

// reserve has the kind's extra reserve what the object needs, and let go of what it does not.
func (w *writing) reserve(ctx context.Context) (err error) {
	w.reserved = nil
	if w.Endpoint.extra.Reserve == nil {
		return nil
	}
	over := isOver(w.Endpoint.Kind, w.after.Document)
	w.after.Document, w.reserved, err = w.Endpoint.extra.Reserve(ctx, w.after.Document, w.stored, w.DryRun || over)
	if err == nil && over { // it is refused like any other, but what it asks for is not kept
		_, w.reserved, err = w.Endpoint.extra.Reserve(ctx, document.Value{}, w.stored, w.DryRun)
	}
	w.checked = w.after.Document // what was reserved is checked, too
	return err
}

// released returns the writes that let go of what an object holds that is to be deleted.
func (d *Deletion) released(ctx context.Context, doc document.Value) ([]store.Write, error) {
	reserve := d.Endpoint.extra.Reserve
	if reserve == nil {
		return nil, nil
	}
	_, writes, err := reserve(ctx, document.Value{}, doc, d.DryRun)
	return writes, err
}

// lostRace reports whether a commit was lost to another one, and is to be tried again: the object
// has changed, and the client did not say which version it means, or something is taken that was
// to be reserved, or the namespace has changed.
func (w *writing) lostRace(ctx context.Context, err error) bool {
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) || ctx.Err() != nil {
		return false
	}
	return conflict.Key != w.key().String() || !w.once
}

// DraftCreation does all of a creation but the commit, for objects that are written together with
// another one.
func (o *Objects) DraftCreation(ctx context.Context, r *Request) (store.Write, error) {
	body, err := r.read(document.Value{})
	if err != nil {
		return store.Write{}, err
	}
	w := &writing{all: o, Request: r, change: func(w *writing) error { return w.create(ctx, body) }}
	if err := w.change(w); err != nil {
		return store.Write{}, err
	}
	if err := w.finish(ctx); err != nil {
		return store.Write{}, err
	}
	if err := w.check(ctx); err != nil {
		return store.Write{}, err
	}
	return w.ownWrite()
}

// ownWrite is the write of the object itself.
func (w *writing) ownWrite() (change store.Write, err error) {
	stored := w.after
	if evolving := w.Endpoint.evolving; evolving != nil {
		if stored.Document, err = evolving.Stored(stored.Document); err != nil {
			return change, err
		}
	}
	change = store.Write{Key: w.key().String(), Value: jsonOf(stored)}
	if w.live != nil {
		change.Expected = w.live.Revision()
	}
	return change, nil
}
