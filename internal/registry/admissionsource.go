package registry

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// source implements the methods of admission.Source that mutating and validating admission share.
type source struct {
	*write
	live *loaded
}

// Options implements admission.Source. An update or apply that creates the object has CreateOptions, and a patch or apply of
// an existing object has UpdateOptions.
func (s source) Options() runtime.Object {
	var dryRun []string
	if s.DryRun {
		dryRun = []string{metav1.DryRunAll}
	}
	if s.live.object == nil {
		return &metav1.CreateOptions{
			TypeMeta: optionsType("CreateOptions"),
			DryRun:   dryRun, FieldManager: s.Parameters.FieldManager, FieldValidation: s.Parameters.FieldValidation,
		}
	}
	return &metav1.UpdateOptions{
		TypeMeta: optionsType("UpdateOptions"),
		DryRun:   dryRun, FieldManager: s.Parameters.FieldManager, FieldValidation: s.Parameters.FieldValidation,
	}
}

// optionsType returns the TypeMeta of CreateOptions, UpdateOptions or DeleteOptions.
func optionsType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: metav1.SchemeGroupVersion.String(), Kind: kind}
}

// OldWhole implements admission.Source.
func (s source) OldWhole() (document.Value, error) {
	if s.live.object == nil {
		return document.Value{}, nil
	}
	return s.wholeAt(s.Endpoint, s.live.object)
}

// Convert implements admission.Converter.
func (s source) Convert(doc document.Value, from, to string) (document.Value, error) {
	return converter{s.Endpoint}.Convert(doc, from, to)
}

// Read implements admission.Converter.
func (s source) Read(doc document.Value, apiVersion string) (read document.Value, unknown []string, err error) {
	return converter{s.Endpoint}.Read(doc, apiVersion)
}

// Merge implements admission.Converter.
func (s source) Merge(doc, config document.Value) (document.Value, error) {
	return converter{s.Endpoint}.Merge(doc, config)
}

// Decode implements admission.Converter.
func (s source) Decode(doc document.Value) (document.Value, error) {
	return converter{s.Endpoint}.Decode(doc)
}

// Default implements admission.Converter.
func (s source) Default(doc document.Value) document.Value { return converter{s.Endpoint}.Default(doc) }

// mutateSource is the admission.Source of mutating admission.
type mutateSource struct {
	source
	merged  merged
	entries []apply.Entry
}

// fieldsSetAfterMutation are the metadata fields of a new object that the server sets or removes after mutating admission.
// Webhooks receive the object without them.
var fieldsSetAfterMutation = []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}

// Whole implements admission.Source.
func (s *mutateSource) Whole(obj document.Value) (document.Value, error) {
	if p := s.merged.projected; p != nil {
		return whole(apply.Object{Document: obj, Entries: p.after.Entries}, s.merged.resourceVersion)
	}
	if s.live.object == nil {
		metadata := obj.Get("metadata")
		for _, name := range fieldsSetAfterMutation {
			metadata = metadata.Without(name)
		}
		if c := s.verb.create; c != nil && c.generateName != "" {
			metadata = metadata.Without("name")
		}
		obj = obj.With("metadata", metadata)
	}
	return whole(apply.Object{Document: obj, Entries: s.entries}, s.merged.resourceVersion)
}

// OldWhole implements admission.Source.
func (s *mutateSource) OldWhole() (document.Value, error) {
	if p := s.merged.projected; p != nil {
		return whole(p.before, s.live.revision())
	}
	return s.source.OldWhole()
}

// validateSource is the admission.Source of validating admission.
type validateSource struct {
	source
	entries []apply.Entry
}

// Whole implements admission.Source.
func (s *validateSource) Whole(obj document.Value) (document.Value, error) {
	return whole(apply.Object{Document: obj, Entries: s.entries}, s.live.revision())
}

// whole returns an object as clients read it: with managedFields, and with revision as its resourceVersion unless revision is
// "".
func whole(object apply.Object, revision string) (document.Value, error) {
	doc, err := document.ParseJSONLimited(encodeJSON(object), anySize)
	if err != nil || revision == "" {
		return doc, err
	}
	return doc.With("metadata", doc.Get("metadata").With("resourceVersion", document.NewString(revision))), nil
}

// wholeAt returns a stored object as clients read it at an endpoint, with managedFields and resourceVersion.
func (r *Registry) wholeAt(e *Endpoint, object *watchcache.Object) (document.Value, error) {
	converted, err := r.At(e, object)
	if err != nil {
		return document.Value{}, StoreError(err)
	}
	doc, err := document.ParseJSONLimited(converted.AppendJSON(nil), anySize)
	if err != nil {
		return doc, StoreError(err)
	}
	return doc, nil
}

// converter implements admission.Converter for the request bodies of an endpoint.
type converter struct{ endpoint *Endpoint }

// Convert implements admission.Converter.
func (c converter) Convert(doc document.Value, from, to string) (document.Value, error) {
	switch {
	case from == to:
		return doc, nil
	case c.endpoint.evolving != nil:
		return c.endpoint.evolving.ConvertUnpruned(doc, to)
	}
	return c.endpoint.Kind.Convert(doc, from, to)
}

// Read implements admission.Converter. Unknown fields of a built-in kind are dropped without a warning, because the client
// did not send them. Unknown fields of a custom resource are retained until it is stored, as in kube-apiserver.
func (c converter) Read(doc document.Value, apiVersion string) (read document.Value, unknown []string, err error) {
	if doc, err = c.withType(doc, apiVersion); err != nil {
		return doc, nil, err
	}
	values, err := c.values(doc.Get("apiVersion").Text())
	if err != nil {
		return doc, nil, nil // the conversion of the object fails later and returns the error
	}
	read, unknown, err = readSilently(values, doc)
	if err == nil && c.endpoint.isCustomObject() {
		return doc, nil, nil
	}
	return read, unknown, err
}

// Decode implements admission.Converter.
func (c converter) Decode(doc document.Value) (document.Value, error) {
	decoded, _, err := readSilently(c.endpoint.body, doc)
	if err != nil {
		return doc, err
	}
	return c.endpoint.body.Default(decoded), nil
}

// readSilently decodes an object without warnings and returns the paths of unknown fields. It is for objects that webhooks
// and policies return. managedFields are retained without being decoded.
func readSilently(values Values, doc document.Value) (read document.Value, unknown []string, err error) {
	metadata := doc.Get("metadata")
	managed := metadata.Get("managedFields")
	read, unknown, err = values.DecodeWith(doc.With("metadata", metadata.Without("managedFields")), builtin.DecodeOptions{})
	if err != nil || managed.IsAbsent() {
		return read, unknown, err
	}
	return read.With("metadata", read.Get("metadata").With("managedFields", managed)), unknown, nil
}

// withType returns an error if a webhook or policy has changed the kind of an object, or has set an apiVersion that does not exist. If an
// object of a built-in kind lacks kind or apiVersion, withType sets them. For custom resources it only requires a kind;
// validation and conversion check the apiVersion.
func (c converter) withType(doc document.Value, apiVersion string) (document.Value, error) {
	e := c.endpoint
	if !e.Kind.Custom {
		for name, expected := range map[string]string{"kind": e.BodyKind, "apiVersion": apiVersion} {
			if doc.Get(name).Text() == "" {
				doc = doc.With(name, document.NewString(expected))
			}
		}
	}
	if version, kind := doc.Get("apiVersion").Text(), doc.Get("kind").Text(); !c.accepts(version, kind) {
		return doc, fmt.Errorf("a webhook or policy made %s %s of the object: expected %s %s", version, kind, apiVersion, e.BodyKind)
	}
	return doc, nil
}

// accepts reports whether a webhook may return an object with this apiVersion and kind.
func (c converter) accepts(version, kind string) bool {
	e := c.endpoint
	switch {
	case e.isCustomObject():
		return kind != ""
	case kind != e.BodyKind:
		return false
	case version == e.BodyVersion || e.isProjected():
		return version == e.BodyVersion
	}
	_, ok := e.Kind.Topology(version)
	return ok
}

// Default implements admission.Converter.
func (c converter) Default(doc document.Value) document.Value {
	values, err := c.values(doc.Get("apiVersion").Text())
	if err != nil {
		return doc
	}
	return values.Default(doc)
}

// values returns the schema of the endpoint's kind at the given apiVersion, or an error if the kind has no such version.
func (c converter) values(apiVersion string) (Values, error) {
	switch apiVersion {
	case c.endpoint.BodyVersion:
		return c.endpoint.body, nil
	case c.endpoint.storedVersion:
		return c.endpoint.stored, nil
	}
	return valuesOf(c.endpoint.Kind, apiVersion)
}

// checkReturnedNulls returns a 422 if a webhook has set nulls that the schema of a custom resource does not allow. Nulls that
// clients send are dropped when the body is decoded.
func (e *Endpoint) checkReturnedNulls(doc document.Value) error {
	if !e.isCustomObject() || !hasNull(doc) {
		return nil
	}
	var errs field.ErrorList
	for _, err := range e.values.Validate(e.values.Default(doc), document.Value{}) {
		if err.Type == field.ErrorTypeTypeInvalid {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return api.Invalid(e.errorKind(), doc.Lookup("metadata", "name").Text(), errs)
}
