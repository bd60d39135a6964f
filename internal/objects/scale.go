package objects

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
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

// CheckScale refuses to show the scale of a custom resource that does not say how large it shall be, as Kubernetes does: a controller
// would take it for one that shall be nothing. Who writes the scale says so, and is shown it.
func (o *Objects) CheckScale(e *Endpoint, object *cache.Object) error {
	if e.Subresource != scale || e.evolving == nil {
		return nil
	}
	at, err := o.objectAt(e, object)
	if err != nil {
		return err
	}
	parsed, err := o.parsed(at)
	if err != nil {
		return StoreError(err)
	}
	path := e.Kind.Definition.Subresources(e.Version).Scale.Replicas
	if parsed.Document.Lookup(path...).IsAbsent() {
		return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", "."+strings.Join(path, ".")))
	}
	return nil
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
	w.scaleBefore, w.scaleAfter = before, after
	if document.Equal(before.Document, after.Document) && sameOwners(before.Entries, after.Entries) {
		w.after = w.before
		return nil
	}
	w.after.Document = w.Endpoint.Kind.Scaled(w.before.Document, after.Document)
	w.after.Entries, err = w.Endpoint.Kind.ScaledEntries(w.before.Entries, after.Entries, w.Endpoint.objectVersion)
	return err
}

// checkScaled refuses the scale of another object. Other objects have no uid but theirs when they are validated. Kubernetes does not
// look at it in patches of the scales of custom resources, nor in what webhooks make of these.
func (w *writing) checkScaled(after document.Value) error {
	if w.Endpoint.Subresource != scale {
		return nil
	}
	resource := w.Endpoint.resource()
	resource.Resource += "/" + scale
	return w.checkUID(after, resource)
}
