package registry

import (
	"cmp"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/schema"
	"github.com/cadastre/cadastre/strategic"
)

// Endpoint is where the objects of a resource are read and written at one version: the objects themselves, or a
// subresource. It is immutable and safe for concurrent use.
type Endpoint struct {
	Kind        *api.Kind
	Version     string
	Subresource string
	// BodyKind and BodyVersion are the kind and apiVersion of request and response bodies.
	BodyKind, BodyVersion string

	// subresource and projection are nil where the endpoint has none.
	subresource *Subresource
	projection  projection
	engine      *apply.Engine
	// admission is the endpoint's part of the admission chain.
	admission *admission.Endpoint
	strategy  Strategy
	// body has the values of bodies, values those of objects at the endpoint's version, stored those of stored objects.
	body, values, stored Values
	// objectVersion is the apiVersion of objects at the endpoint, storedVersion that of stored objects.
	objectVersion, storedVersion string
	// topology is the merge topology of objects at the endpoint's version.
	topology *schema.Type
	// empty is a body without any field that a client has set.
	empty document.Value
	// strategies are the patch strategies of bodies; nil if the type has none.
	patchStrategies func() *strategic.Type
	oneOfs          func() *builtin.OneOfs
	// form converts stored objects to those of the endpoint; nil if they are the same. objectForm converts stored
	// objects of a custom resource to the endpoint's version; it differs from form at projections.
	form, objectForm *watchcache.Form
	evolving         Evolving // nil for built-in resources
}

type endpointKey struct {
	registry             *Registry
	version, subresource string
}

// Endpoint returns the endpoint of a resource at a version; subresource is "" for the resource itself.
func (r *Registry) Endpoint(kind *api.Kind, version, subresource string) (*Endpoint, error) {
	key := endpointKey{r, version, subresource}
	if e, ok := kind.Cache.Load(key); ok {
		return e.(*Endpoint), nil
	}
	e, err := r.newEndpoint(kind, key)
	if err != nil {
		return nil, err
	}
	cached, _ := kind.Cache.LoadOrStore(key, e)
	return cached.(*Endpoint), nil
}

func (r *Registry) newEndpoint(k *api.Kind, key endpointKey) (*Endpoint, error) {
	e := &Endpoint{
		Kind: k, Version: key.version, Subresource: key.subresource, BodyKind: k.Name,
		subresource: r.subresources[key.subresource], strategy: r.Strategies[k.StoreName()],
	}
	e.objectVersion, e.storedVersion = k.APIVersion(key.version), k.StoredVersion()
	if e.evolving, _ = k.Definition.(Evolving); e.evolving != nil {
		e.storedVersion = e.objectVersion // objects are converted when they are loaded, and when they are committed
		e.objectForm = r.newForm(func(stored apply.Object) (apply.Object, error) { return e.fromStorage(stored) })
	}
	e.BodyVersion = e.objectVersion
	body := apischema.GroupVersionKind{}
	if s := e.subresource; s != nil {
		if body = s.Body; !body.Empty() {
			e.BodyVersion, e.BodyKind = s.Body.ToAPIVersionAndKind()
		}
		if s.project != nil {
			e.projection = s.project(e)
		}
	}
	e.admission = r.Admission.Endpoint(admission.NewResource(k, key.version, key.subresource, body))
	if err := e.setValues(); err != nil {
		return nil, err
	}
	e.empty = e.body.Empty()
	e.patchStrategies = sync.OnceValue(func() *strategic.Type { return patchStrategiesOf(e.BodyVersion, e.BodyKind) })
	e.form = r.formOf(e)
	e.topology, _ = k.Topology(e.objectVersion)
	e.oneOfs = sync.OnceValue(func() *builtin.OneOfs { return e.values.OneOfs(e.topology) })
	var err error
	if e.isProjected() {
		e.engine, err = api.BodyEngine(e.subresource.Body, api.EngineOptions{Unset: r.Unset})
	} else {
		e.engine, err = k.Engine(e.Subresource, api.EngineOptions{Unset: r.Unset, Default: e.values.Default})
	}
	return e, err
}

func (e *Endpoint) setValues() (err error) {
	if e.values, err = valuesOf(e.Kind, e.objectVersion); err != nil {
		return err
	}
	if e.stored, err = valuesOf(e.Kind, e.storedVersion); err != nil {
		return err
	}
	e.body = e.values
	if s := e.subresource; s != nil && !s.Body.Empty() {
		e.body, err = builtinValues(s.Body.Group, s.Body.Version, s.Body.Kind)
	}
	return err
}

// retainUnset returns a body that replaces an object with the fields that the object holds unset.
func (e *Endpoint) retainUnset(doc, before document.Value) document.Value {
	if e.isProjected() {
		return doc
	}
	return e.values.RetainUnset(doc, before, e.topology)
}

// resource names the endpoint's resource in errors.
func (e *Endpoint) resource() apischema.GroupResource { return kindResource(e.Kind) }

// errorKind names the kind in validation errors: that of the body, for custom resources always that of the object.
func (e *Endpoint) errorKind() apischema.GroupKind {
	if e.Kind.Custom {
		return apischema.GroupKind{Group: e.Kind.Group, Kind: e.Kind.Name}
	}
	return apischema.FromAPIVersionAndKind(e.BodyVersion, e.BodyKind).GroupKind()
}

// errorKindOf names the kind in validation errors of a document. A custom resource names its own kind, which may be wrong.
func (e *Endpoint) errorKindOf(doc document.Value) apischema.GroupKind {
	named := e.errorKind()
	if e.isCustomObject() {
		named.Kind = cmp.Or(doc.Get("kind").Text(), named.Kind)
	}
	return named
}

func kindResource(k *api.Kind) apischema.GroupResource {
	return apischema.GroupResource{Group: k.Group, Resource: k.Resource}
}

// complete returns a body that was sent whole as decoding leaves it: with defaults, and with deprecated fields folded into
// those that are stored.
func (e *Endpoint) complete(doc document.Value) document.Value {
	if e.isProjected() {
		return e.projection.complete(doc)
	}
	return e.Kind.Normalize(e.body.Default(doc))
}

// fromStored converts a stored document to the endpoint's version.
func (e *Endpoint) fromStored(doc document.Value) (document.Value, error) {
	return e.Kind.Convert(doc, e.storedVersion, e.objectVersion)
}

// toStored converts a document of the endpoint's version to the storage version.
func (e *Endpoint) toStored(doc document.Value) (document.Value, error) {
	return e.Kind.Convert(doc, e.objectVersion, e.storedVersion)
}

// roundTrip returns a document as it is read after it was stored. Annotations in which a version keeps fields of another
// follow from the fields, and belong to the writer of these.
func (e *Endpoint) roundTrip(doc document.Value) (document.Value, error) {
	if e.objectVersion == e.storedVersion {
		return doc, nil
	}
	stored, err := e.toStored(doc)
	if err != nil {
		return doc, err
	}
	return e.fromStored(stored)
}

// formOf returns the form of stored objects at an endpoint.
func (r *Registry) formOf(e *Endpoint) *watchcache.Form {
	switch {
	case e.isProjected():
		return r.newForm(e.projectStored)
	case e.evolving != nil:
		return e.objectForm
	case e.objectVersion == e.storedVersion:
		return nil
	}
	return r.newForm(func(stored apply.Object) (apply.Object, error) {
		doc, err := e.fromStored(stored.Document)
		return apply.Object{Document: doc, Entries: stored.Entries}, err
	})
}

// newForm returns the form of the watch cache for objects that convert converts from the stored ones.
func (r *Registry) newForm(convert func(stored apply.Object) (apply.Object, error)) *watchcache.Form {
	return watchcache.NewForm(func(object *watchcache.Object) (any, int, error) {
		parsed, err := r.parsed(object)
		if err != nil {
			return nil, 0, err
		}
		if parsed, err = convert(parsed); err != nil {
			return nil, 0, err
		}
		shown, err := r.unstoredVersion(object, parsed)
		if err != nil {
			return nil, 0, err
		}
		return shown, len(shown.Text()), nil
	})
}

// current converts a stored custom resource to the endpoint's version, by the current definition.
func (e *Endpoint) fromStorage(stored apply.Object) (apply.Object, error) {
	doc, err := e.evolving.FromStorage(stored.Document, e.Version)
	return apply.Object{Document: doc, Entries: stored.Entries}, err
}

// projectStored returns the projection of a stored object. It has no managedFields.
func (e *Endpoint) projectStored(stored apply.Object) (body apply.Object, err error) {
	if e.evolving != nil {
		if stored, err = e.fromStorage(stored); err != nil {
			return body, err
		}
	}
	body.Document, err = e.projection.project(stored.Document)
	return body, err
}
