package objects

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
)

// Patch is a way to change an object by a body: it returns what becomes of the object, which has
// its managedFields and resourceVersion.
type Patch func(object, body document.Value) (document.Value, error)

// Patch changes an object that is there.
func (o *Objects) Patch(ctx context.Context, r *Request, patch Patch) (Result, error) {
	body, err := r.Body.Parse()
	if err != nil {
		return Result{}, err
	}
	w := &writing{all: o, Request: r, change: func(w *writing) error { return w.patch(patch, body) }}
	return w.write(ctx)
}

// patch is the part of the verb. What comes out is treated like an update, save that only a patch
// that sets a resourceVersion is about a certain one.
func (w *writing) patch(patch Patch, body document.Value) error {
	e := w.Endpoint
	if w.live == nil {
		return apierrors.NewNotFound(e.resource(), w.Name)
	}
	shown, err := w.all.At(e, w.live)
	if err != nil {
		return ReadError(err)
	}
	object, err := document.ParseJSON(shown.AppendJSON(nil))
	if err != nil {
		return ReadError(err)
	}
	patched, err := patch(object, body)
	if err != nil {
		return err
	}
	after, err := w.split(patched)
	if err != nil {
		return err
	}
	if after.document, err = w.clean(e.body, after.document); err != nil {
		return err
	}
	if err := w.checkName(after.document); err != nil {
		return err
	}
	return w.replace(after)
}

// MergePatch is RFC 7386: maps are merged, null removes, all else replaces.
func MergePatch(object, body document.Value) (document.Value, error) {
	return mergeJSON(object, body), nil
}

func mergeJSON(object, patch document.Value) document.Value {
	if patch.Kind() != document.Map {
		return patch
	}
	if object.Kind() != document.Map {
		object = document.NewMap()
	}
	for name, value := range patch.Fields() {
		if value.IsNull() {
			object = object.Without(name)
			continue
		}
		object = object.With(name, mergeJSON(object.Get(name), value))
	}
	return object
}
