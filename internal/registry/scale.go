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

// scaleSubresource is the subresource scale, whose bodies are of the kind Scale. Writes to it change the replicas of the object
// and the managed fields entries that own them.
func scaleSubresource() *Subresource {
	return &Subresource{
		Name:    "scale",
		Verbs:   []string{"get", "patch", "update"},
		Body:    schema.FromAPIVersionAndKind(api.ScaleVersion, "Scale"),
		project: func(e *Endpoint) projection { return scaleProjection{e} },
	}
}

// scaleProjection is the projection of objects to their Scale.
type scaleProjection struct{ e *Endpoint }

func (s scaleProjection) project(stored document.Value) (document.Value, error) {
	return s.e.Kind.ScaleOf(stored)
}

func (s scaleProjection) projectEntries(entries []apply.Entry) ([]apply.Entry, error) {
	return s.e.Kind.ScaleEntries(entries)
}

// complete returns a Scale with defaults, and without spec.replicas if it is 0. As in Kubernetes, whose JSON of a Scale omits
// 0, an update to 0 therefore removes replicas from the managed fields entries of all field managers.
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

// withMarkers implements projection. The default of spec.replicas of the Scale is that of the object: 1 for a Deployment, the
// schema's default for a custom resource.
func (s scaleProjection) withMarkers(live document.Value) (projection, *apply.Engine, error) {
	byDefault := s.e.Kind.ReplicasOf(s.e.values.Default(s.e.Kind.WithoutReplicas(live)))
	engine, err := api.BodyEngine(s.e.subresource.Body, api.EngineOptions{Unset: true, Default: func(body document.Value) document.Value {
		if byDefault.IsAbsent() || !body.Lookup("spec", "replicas").IsAbsent() {
			return body
		}
		spec := body.Get("spec")
		if spec.Kind() != document.Map {
			spec = document.NewMap()
		}
		return body.With("spec", spec.With("replicas", byDefault))
	}})
	return unsetScaleProjection{s, s.e.Kind.ReplicasOf(live)}, engine, err
}

// unsetScaleProjection is the projection for a configuration with unset markers. In its bodies 0 replicas are not omitted, so
// that an absent spec.replicas means that the object has no such field.
type unsetScaleProjection struct {
	scaleProjection
	replicas document.Value // of the live object
}

// project implements projection.
func (s unsetScaleProjection) project(stored document.Value) (document.Value, error) {
	body, err := s.scaleProjection.project(stored)
	if n, ok := s.replicas.Int64(); err == nil && ok && n == 0 {
		body = body.With("spec", body.Get("spec").With("replicas", s.replicas))
	}
	return body, err
}

// apply implements projection. It removes the replicas of the object if the body has none.
func (s unsetScaleProjection) apply(obj, body document.Value) document.Value {
	if body.Lookup("spec", "replicas").IsAbsent() {
		return s.e.Kind.WithoutReplicas(obj)
	}
	return s.scaleProjection.apply(obj, body)
}

// projectionError returns the 400 for an object without a projection, for instance because its selector is malformed.
func projectionError(err error) error { return apierrors.NewBadRequest(err.Error()) }

// CheckScale returns a 500 if the Scale of a custom resource is read and the object lacks the field at specReplicasPath, as
// Kubernetes does: a controller could not distinguish the missing field from 0 replicas. A write to the Scale sets the field.
// For other endpoints CheckScale returns nil.
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
