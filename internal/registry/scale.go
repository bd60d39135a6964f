package registry

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// scaleSubresource is the scale of an object: a small object with the number of replicas. Writes to it change the replicas
// of the object, and their owners.
func scaleSubresource() *Subresource {
	return &Subresource{
		Name:    "scale",
		Verbs:   []string{"get", "patch", "update"},
		Body:    schema.FromAPIVersionAndKind(api.ScaleVersion, "Scale"),
		project: func(e *Endpoint) projection { return scaleProjection{e} },
	}
}

// scaleProjection is the projection of the objects of an endpoint to their scales.
type scaleProjection struct{ e *Endpoint }

func (s scaleProjection) project(stored document.Value) (document.Value, error) {
	return s.e.Kind.ScaleOf(stored)
}

func (s scaleProjection) projectEntries(entries []apply.Entry) ([]apply.Entry, error) {
	return s.e.Kind.ScaleEntries(entries)
}

// complete returns a scale with defaults. As in Kubernetes a scale to zero has no replicas: its writer takes them from their
// owners and does not own them.
func (s scaleProjection) complete(body document.Value) document.Value {
	body = s.e.body.Default(body)
	spec := body.Get("spec")
	if n, ok := spec.Get("replicas").Int64(); !ok || n != 0 {
		return body
	}
	return body.With("spec", spec.Without("replicas"))
}

func (s scaleProjection) apply(obj, body document.Value) document.Value {
	return s.e.Kind.WithScale(obj, body)
}

func (s scaleProjection) applyEntries(object, body []apply.Entry) ([]apply.Entry, error) {
	return s.e.Kind.MergeScaleEntries(object, body, s.e.objectVersion)
}

// projectionError returns the error for an object that has no projection, such as one with a malformed selector.
func projectionError(err error) error { return apierrors.NewBadRequest(err.Error()) }

// CheckScale rejects reading the scale of a custom resource that does not have the field of its replicas, as Kubernetes
// does: a controller would take it for a scale of zero. A write to the scale sets the field.
func (r *Registry) CheckScale(e *Endpoint, object *watchcache.Object) error {
	if !e.isProjected() || e.evolving == nil {
		return nil
	}
	at, err := r.objectAt(e, object)
	if err != nil {
		return err
	}
	parsed, err := r.parsed(at)
	if err != nil {
		return StoreError(err)
	}
	path := e.Kind.Definition.ScalePaths(e.Version).Replicas
	if parsed.Document.Lookup(path...).IsAbsent() {
		return apierrors.NewInternalError(fmt.Errorf("the spec replicas field %q does not exist", "."+strings.Join(path, ".")))
	}
	return nil
}
