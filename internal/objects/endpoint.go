package objects

import (
	"cmp"
	"sync"

	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/rules"
	"github.com/cadastre/cadastre/schema"
	"github.com/cadastre/cadastre/strategic"
)

// status is the subresource that has rules of its own; scale is the one that is not an object of the kind.
const (
	status = "status"
	scale  = "scale"
)

// Endpoint is where the objects of a kind are read and written at one version: the objects
// themselves, or a part of them, a subresource.
type Endpoint struct {
	Kind        *kinds.Kind
	Version     string
	Subresource string
	// BodyKind and BodyVersion are what is sent to and from the endpoint has as kind and
	// apiVersion.
	BodyKind, BodyVersion string

	engine *apply.Engine
	// body has the rules for what is sent to the endpoint, values those of the objects at its
	// version, stored those of the objects as they are stored.
	body, values, stored Values
	// objectVersion is the apiVersion of objects here, storedVersion that at which they are stored.
	objectVersion, storedVersion string
	// topology is how objects at this version merge.
	topology *schema.Type
	// keepUnset returns what was sent with the unset fields of the object that it replaces.
	keepUnset func(doc, before document.Value) document.Value
	// empty is what is sent to the endpoint if nobody has set anything in it.
	empty document.Value
	// strategies are how patches merge what is sent here; nil if nothing says so.
	strategies func() *strategic.Type
	// oneOfs are the fields that exclude each other.
	oneOfs func() *rules.OneOfs
	// extra is what the kind gets beside what all get.
	extra Extra
	// form is how objects are shown here; nil if that is how they are stored. objectForm is how they are
	// shown at this version, if their definition may have changed since: the two differ for scales.
	form, objectForm *cache.Form
	evolving         Evolving // nil if the kind is built in
}

type endpointName struct {
	of                   *Objects
	version, subresource string
}

// Endpoint returns the endpoint of a kind at a version.
func (o *Objects) Endpoint(kind *kinds.Kind, version, subresource string) (*Endpoint, error) {
	name := endpointName{o, version, subresource}
	if e, ok := kind.Kept.Load(name); ok {
		return e.(*Endpoint), nil
	}
	e, err := o.newEndpoint(kind, name)
	if err != nil {
		return nil, err
	}
	there, _ := kind.Kept.LoadOrStore(name, e)
	return there.(*Endpoint), nil
}

func (o *Objects) newEndpoint(k *kinds.Kind, name endpointName) (*Endpoint, error) {
	e := &Endpoint{Kind: k, Version: name.version, Subresource: name.subresource, BodyKind: k.Name}
	e.objectVersion, e.storedVersion = k.APIVersion(name.version), k.StoredVersion()
	if e.evolving, _ = k.Definition.(Evolving); e.evolving != nil {
		e.storedVersion = e.objectVersion // it is converted when it is read, and when it is written
		e.objectForm = o.newForm(func(stored apply.Object) (apply.Object, error) { return e.current(stored) })
	}
	e.BodyVersion = e.objectVersion
	if e.Subresource == scale {
		e.BodyKind, e.BodyVersion = "Scale", kinds.ScaleVersion
	}
	var err error
	if e.values, err = valuesOf(k, e.objectVersion); err != nil {
		return nil, err
	}
	if e.stored, err = valuesOf(k, e.storedVersion); err != nil {
		return nil, err
	}
	e.body = e.values
	if e.Subresource == scale {
		if e.body, err = builtinValues("autoscaling", "v1", "Scale"); err != nil {
			return nil, err
		}
	}
	e.empty, e.extra = e.body.Empty(), o.Extras[k.StoreName()]
	e.strategies = sync.OnceValue(func() *strategic.Type { return strategiesOf(e.BodyVersion, e.BodyKind) })
	e.form = o.formOf(e)
	e.topology, _ = k.Topology(e.objectVersion)
	e.oneOfs = sync.OnceValue(func() *rules.OneOfs { return e.values.OneOfs(e.topology) })
	e.keepUnset = func(doc, before document.Value) document.Value {
		if e.Subresource == scale {
			return doc // which is not an object of the kind
		}
		return e.values.KeepUnset(doc, before, e.topology)
	}
	e.engine, err = k.Engine(e.Subresource, kinds.EngineOptions{Unset: o.Unset, Default: e.values.Default})
	return e, err
}

// resource names the endpoint's objects in errors.
func (e *Endpoint) resource() apischema.GroupResource { return kindResource(e.Kind) }

// errorKind names what breaks rules: the scale of a built-in kind, but of a custom resource the object itself.
func (e *Endpoint) errorKind() apischema.GroupKind {
	if e.Kind.Custom {
		return apischema.GroupKind{Group: e.Kind.Group, Kind: e.Kind.Name}
	}
	return apischema.FromAPIVersionAndKind(e.BodyVersion, e.BodyKind).GroupKind()
}

// errorKindOf names what breaks rules as a custom resource names itself, which may be what is wrong with it.
func (e *Endpoint) errorKindOf(doc document.Value) apischema.GroupKind {
	named := e.errorKind()
	if e.isCustomObject() {
		named.Kind = cmp.Or(doc.Get("kind").Text(), named.Kind)
	}
	return named
}

func kindResource(k *kinds.Kind) apischema.GroupResource {
	return apischema.GroupResource{Group: k.Group, Resource: k.Resource}
}

// whole returns what was sent as a whole object in the way that is stored.
func (e *Endpoint) whole(doc document.Value) document.Value {
	if e.Subresource == scale {
		return withoutZero(e.body.Default(doc))
	}
	return e.Kind.Fold(e.body.Default(doc))
}

// fromStored returns a document that is stored at the version of objects here.
func (e *Endpoint) fromStored(doc document.Value) (document.Value, error) {
	return e.Kind.Convert(doc, e.storedVersion, e.objectVersion)
}

// toStored returns a document as it is stored.
func (e *Endpoint) toStored(doc document.Value) (document.Value, error) {
	return e.Kind.Convert(doc, e.objectVersion, e.storedVersion)
}

// asStored returns a document as it will be read at its version when it was stored: what a version keeps in
// annotations follows from other fields, and belongs to who writes these.
func (e *Endpoint) asStored(doc document.Value) (document.Value, error) {
	if e.objectVersion == e.storedVersion {
		return doc, nil
	}
	stored, err := e.toStored(doc)
	if err != nil {
		return doc, err
	}
	return e.fromStored(stored)
}

// formOf returns how objects are shown at an endpoint.
func (o *Objects) formOf(e *Endpoint) *cache.Form {
	switch {
	case e.Subresource == scale:
		return o.newForm(e.showScale)
	case e.evolving != nil:
		return e.objectForm
	case e.objectVersion == e.storedVersion:
		return nil
	}
	return o.newForm(func(stored apply.Object) (apply.Object, error) {
		doc, err := e.fromStored(stored.Document)
		return apply.Object{Document: doc, Entries: stored.Entries}, err
	})
}

// newForm returns the form that shows objects in another way.
func (o *Objects) newForm(show func(stored apply.Object) (apply.Object, error)) *cache.Form {
	return cache.NewForm(func(object *cache.Object) (any, int, error) {
		parsed, err := o.parsed(object)
		if err != nil {
			return nil, 0, err
		}
		if parsed, err = show(parsed); err != nil {
			return nil, 0, err
		}
		shown, err := o.draft(object, parsed)
		if err != nil {
			return nil, 0, err
		}
		return shown, len(shown.Text()), nil
	})
}

// current returns a stored object at the version of objects here, as its definition has it now.
func (e *Endpoint) current(stored apply.Object) (apply.Object, error) {
	doc, err := e.evolving.At(stored.Document, e.Version)
	return apply.Object{Document: doc, Entries: stored.Entries}, err
}

// showScale returns the scale of a stored object. Who owns what is shown by the object only.
func (e *Endpoint) showScale(stored apply.Object) (shown apply.Object, err error) {
	if e.evolving != nil {
		if stored, err = e.current(stored); err != nil {
			return shown, err
		}
	}
	shown.Document, err = e.Kind.ScaleOf(stored.Document)
	return shown, err
}
