package objects

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// A scale is a small object that stands for a large one. What is written to it is written to the
// other: the replicas, and who owns them.

// withoutZero returns a scale as Kubernetes reads it: a scale to nothing has no replicas, so that who
// writes it takes them from their owners and does not own them.
func withoutZero(scale document.Value) document.Value {
	spec := scale.Get("spec")
	if n, ok := spec.Get("replicas").Int64(); !ok || n != 0 {
		return scale
	}
	return scale.With("spec", spec.Without("replicas"))
}

// throughScale has something done to the scale of the object that is there, and does the same to
// the object.
func (w *writing) throughScale(do func(apply.Object) (apply.Result, error)) error {
	var before apply.Object
	var err error
	if before.Document, err = w.Endpoint.Kind.ScaleOf(w.stored); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if before.Entries, err = w.Endpoint.Kind.ScaleEntries(w.before.Entries); err != nil {
		return err
	}
	result, err := do(before)
	if err != nil {
		return w.engineError(err)
	}
	after := result.Object
	w.scaleBefore, w.scaleEntries = before, after.Entries
	if document.Equal(before.Document, after.Document) && sameOwners(before.Entries, after.Entries) {
		w.after = w.before
		return nil
	}
	w.after.Document = w.Endpoint.Kind.Scaled(w.before.Document, after.Document)
	w.after.Entries, err = w.Endpoint.Kind.ScaledEntries(w.before.Entries, after.Entries, w.Endpoint.objectVersion)
	return err
}
