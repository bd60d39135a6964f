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

// Endpoint is a resource, or a subresource of it, at one API version. It holds the state that all requests to the endpoint share.
// It is immutable and safe for concurrent use.
type Endpoint struct {
	Kind        *api.Kind
	Version     string
	Subresource string
	// BodyKind and BodyVersion are the kind and apiVersion of request and response bodies.
	BodyKind, BodyVersion string

	// subresource implements the subresource; it is nil for the resource itself. projection converts between objects and bodies
	// of another kind; it is nil if bodies are objects of the resource.
	subresource *Subresource
	projection  projection
	engine      *apply.Engine
	// policyMerger merges the apply configurations of policies into bodies.
	policyMerger func() (policyMerger, error)
	// admission holds the plugins of the admission chain that handle the endpoint.
	admission *admission.Endpoint
	strategy  Strategy
	// body decodes, defaults and validates request bodies, values objects at the endpoint's version, and stored objects at the
	// storage version.
	body, values, stored Values
	// objectVersion is the apiVersion of objects at the endpoint. storedVersion is the apiVersion of stored objects; for
	// custom resources, which are converted when they are loaded and committed, it equals objectVersion.
	objectVersion, storedVersion string
	// topology is the merge topology of objects at the endpoint's version.
	topology *schema.Type
	// empty is the result of decoding the body {}: it contains the fields without omitempty, which Go always encodes.
	empty document.Value
	// patchStrategies returns the strategic merge patch metadata of bodies; nil if their kind has no Go type.
	patchStrategies func() *strategic.Type
	oneOfs          func() *builtin.OneOfs
	// form converts stored objects to the bodies of the endpoint; nil if no conversion is needed. objectForm converts stored
	// custom resources to the endpoint's version; nil for built-in resources. The two differ if the endpoint has a projection.
	form, objectForm *watchcache.Form
	// evolving converts custom resources from and to the storage version; nil for built-in resources.
	evolving Evolving
}

// endpointKey is the key of an endpoint in the cache of its kind.
type endpointKey struct {
	registry             *Registry
	version, subresource string
}

// Endpoint returns the endpoint of a resource at a version, from a cache or newly created; subresource is "" for the resource
// itself. It returns an error if the kind has no schema at the version.
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
		e.storedVersion = e.objectVersion // custom resources are converted when they are loaded and when they are committed
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
	e.policyMerger = sync.OnceValues(func() (policyMerger, error) { return newPolicyMerger(k, body) })
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

// retainZeroValues returns a body with the fields of the replaced object that have zero values, such as "" and []. A client that
// decodes an object into Go structs and sends it back omits these fields without an intended change.
func (e *Endpoint) retainZeroValues(doc, before document.Value) document.Value {
	if e.isProjected() {
		return doc
	}
	return e.values.RetainZeroValues(doc, before, e.topology)
}

// resource returns the group and resource that API statuses about the endpoint's objects name.
func (e *Endpoint) resource() apischema.GroupResource { return kindResource(e.Kind) }

// errorKind returns the group and kind that validation errors name: those of the body, except that errors about custom
// resources always name the group and kind of the object.
func (e *Endpoint) errorKind() apischema.GroupKind {
	if e.Kind.Custom {
		return apischema.GroupKind{Group: e.Kind.Group, Kind: e.Kind.Name}
	}
	return apischema.FromAPIVersionAndKind(e.BodyVersion, e.BodyKind).GroupKind()
}

// errorKindOf returns the group and kind that validation errors about a document name. For a custom resource it is the kind
// in the document, even if it is not the endpoint's.
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

// complete returns the body of a create or update request with defaults, and with fields that have several representations
// converted to the representation that is stored.
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

// roundTrip converts a document to the storage version and back, which returns it as clients read it after the write.
// Conversion to the storage version may add annotations that preserve fields of other versions; in the result, these
// annotations belong to the field manager that writes the fields.
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

// formOf returns the watch cache form that converts stored objects to bodies of an endpoint; nil if no conversion is needed.
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

// newForm returns a watch cache form that calls convert on the parsed stored object and encodes its result.
func (r *Registry) newForm(convert func(stored apply.Object) (apply.Object, error)) *watchcache.Form {
	return watchcache.NewForm(func(object *watchcache.Object) (any, int, error) {
		parsed, err := r.parsed(object)
		if err != nil {
			return nil, 0, err
		}
		if parsed, err = convert(parsed); err != nil {
			return nil, 0, err
		}
		converted, err := r.unstoredVersion(object, parsed)
		if err != nil {
			return nil, 0, err
		}
		return converted, len(converted.Text()), nil
	})
}

// fromStorage converts a stored custom resource to the endpoint's version according to the current CustomResourceDefinition.
func (e *Endpoint) fromStorage(stored apply.Object) (apply.Object, error) {
	doc, err := e.evolving.FromStorage(stored.Document, e.Version)
	return apply.Object{Document: doc, Entries: stored.Entries}, err
}

// projectStored returns the projection of a stored object, such as its Scale. The result has no managedFields.
func (e *Endpoint) projectStored(stored apply.Object) (body apply.Object, err error) {
	if e.evolving != nil {
		if stored, err = e.fromStorage(stored); err != nil {
			return body, err
		}
	}
	body.Document, err = e.projection.project(stored.Document)
	return body, err
}
