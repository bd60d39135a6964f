package registry

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/schema"
)

// policyMerger merges the apply configurations of MutatingAdmissionPolicies into the bodies of an endpoint. Unlike the engine of
// the endpoint, its engine always accepts unset markers.
type policyMerger struct {
	engine *apply.Engine
	// topology returns the merge topology of bodies at an apiVersion.
	topology func(apiVersion string) (*schema.Type, bool)
}

// newPolicyMerger returns the policyMerger for an endpoint of a kind. body is the type of its bodies; if it is empty, bodies
// are objects of the kind. It returns an error if the type has no merge topology, for instance Eviction, as in
// kube-apiserver.
func newPolicyMerger(k *api.Kind, body apischema.GroupVersionKind) (m policyMerger, err error) {
	isBinding := body == bindingType || body.Empty() && k.Group == bindingType.Group && k.Name == bindingType.Kind
	switch {
	case isBinding:
		t := bindingTopology()
		m.topology = func(apiVersion string) (*schema.Type, bool) { return t, apiVersion == bindingType.Version }
		m.engine, err = apply.New(apply.Options{Versions: apply.OneVersion(bindingType.Version, t), Unset: true, NoZeroKeys: true})
	case body.Empty():
		m.topology = k.Topology
		m.engine, err = k.Engine("", api.EngineOptions{Unset: true})
	default:
		m.topology = func(string) (*schema.Type, bool) { return api.BuiltinTopology(body.Group, body.Version, body.Kind) }
		m.engine, err = api.BodyEngine(body, api.EngineOptions{Unset: true})
	}
	return m, err
}

// bindingType is the type of Bindings. It has no topology among the built-in kinds, because Bindings are never stored.
var bindingType = apischema.GroupVersionKind{Version: "v1", Kind: "Binding"}

// bindingTopology returns the merge topology of Bindings, composed of topologies of other kinds.
func bindingTopology() *schema.Type {
	event, _ := api.BuiltinTopology("", "v1", "Event")
	fieldOf := func(name, source string) schema.Field {
		field, _ := event.Map.Find(source)
		return schema.Field{Name: name, Type: field.Type}
	}
	return &schema.Type{Map: &schema.Map{Fields: []schema.Field{
		fieldOf("apiVersion", "apiVersion"), fieldOf("kind", "kind"), fieldOf("metadata", "metadata"), fieldOf("target", "involvedObject"),
	}}}
}

// Merge implements admission.Converter.
func (c converter) Merge(doc, config document.Value) (document.Value, error) {
	m, err := c.endpoint.policyMerger()
	if err != nil {
		return doc, fmt.Errorf("failed to convert patch object to typed object: no corresponding type for %s", kindOf(doc))
	}
	version := doc.Get("apiVersion").Text()
	t, ok := m.topology(version)
	if !ok {
		return doc, noSchema(doc)
	}
	object, err := apply.SplitObject(doc)
	if err != nil {
		object.Document = doc.With("metadata", doc.Get("metadata").Without("managedFields")) // a warning reports the error after admission
	}
	if !config.Lookup("metadata", "managedFields").IsAbsent() {
		return doc, atomicError(".metadata.managedFields")
	}
	if object.Document, config, err = c.policyConfiguration(object.Document, config); err != nil {
		return doc, err
	}
	merged, err := m.engine.Merge(object, config, version)
	if merged.Document.Get("stringData").Len() == 0 {
		merged.Document = merged.Document.Without("stringData")
	}
	var invalid *apply.InvalidError
	switch {
	case errors.As(err, &invalid):
		return doc, fmt.Errorf("failed to convert patch object to typed object: %s", problemsOf(invalid))
	case errors.Is(err, apply.ErrVersionGone):
		return doc, noSchema(doc)
	case err != nil:
		return doc, err
	}
	if atomics := atomicFields("", t, config); len(atomics) > 0 {
		return doc, atomicError(atomics...)
	}
	if !slices.Equal(merged.Entries, object.Entries) {
		return whole(merged, "")
	}
	managed := doc.Lookup("metadata", "managedFields")
	if managed.IsAbsent() {
		return merged.Document, nil
	}
	return merged.Document.With("metadata", merged.Document.Get("metadata").With("managedFields", managed)), nil
}

// policyConfiguration returns the configuration of a policy with the kind and apiVersion of the object. The markers for a Secret are
// completed as in an apply, see withTextMarkers, which changes the object as well.
func (c converter) policyConfiguration(object, config document.Value) (document.Value, document.Value, error) {
	var err error
	invalid := &apply.InvalidError{}
	if text := config.Get("stringData"); c.endpoint.isSecret() && isMarker(text) {
		invalid.Fields = append(invalid.Fields, apply.FieldError{Path: fieldset.Names("stringData"), Problem: "expected values, received an unset marker, " +
			"which has no effect, because the server moves stringData to data; unset data"})
	} else if c.endpoint.isSecret() {
		if object, config, err = withTextMarkers(object, config); err != nil {
			errors.As(err, &invalid)
		}
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if isMarker(config.Get(name)) {
			invalid.Fields = append(invalid.Fields, apply.FieldError{Path: fieldset.Names(name),
				Problem: "expected a value, received an unset marker; this field identifies the object and can't be unset"})
		}
		config = config.With(name, object.Get(name))
	}
	if len(invalid.Fields) > 0 {
		return object, config, fmt.Errorf("failed to convert patch object to typed object: %s", problemsOf(invalid))
	}
	return object, config, nil
}

// Merge implements admission.Converter. If the configuration unsets spec.replicas of a Scale, the object gets the default.
func (s *mutateSource) Merge(doc, config document.Value) (document.Value, error) {
	merged, err := s.source.Merge(doc, config)
	if err != nil || s.merged.projected == nil || doc.Lookup("spec", "replicas").IsAbsent() || !merged.Lookup("spec", "replicas").IsAbsent() {
		return merged, err
	}
	e := s.Endpoint
	n := e.Kind.DefaultReplicas(s.live.current.Document, e.values.Default)
	return merged.With("spec", merged.Get("spec").With("replicas", n)), nil
}

// noSchema returns the 503 of kube-apiserver for an object of a kind whose schema is not known.
func noSchema(doc document.Value) error {
	return apierrors.NewServiceUnavailable(fmt.Sprintf(
		"Resource kind %s not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.", kindOf(doc)))
}

// kindOf returns the apiVersion and kind in a document.
func kindOf(doc document.Value) apischema.GroupVersionKind {
	return apischema.FromAPIVersionAndKind(doc.Get("apiVersion").Text(), doc.Get("kind").Text())
}

// problemsOf returns the problems of an invalid configuration in one line.
func problemsOf(invalid *apply.InvalidError) string {
	problems := make([]string, len(invalid.Fields))
	for i, field := range invalid.Fields {
		problems[i] = field.Error()
	}
	return strings.Join(problems, "; ")
}

// atomicError returns the error for an apply configuration that sets atomic maps, lists or structs at paths.
func atomicError(paths ...string) error {
	return fmt.Errorf("invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: %s", strings.Join(paths, ", "))
}

// atomicFields returns the paths of the atomic maps and lists that a valid configuration sets, except those that it unsets.
// As in kube-apiserver, the apply configuration of a policy must not set them, because it would replace the whole map or
// list.
func atomicFields(path string, t *schema.Type, v document.Value) (atomics []string) {
	switch {
	case t == nil || !v.Get(apply.UnsetMarkerKey).IsAbsent():
	case v.Kind() == document.Map && t.Map != nil:
		if t.Map.Atomic {
			atomics = append(atomics, path)
		}
		for name, field := range v.Fields() {
			if declared, ok := t.Map.Find(name); ok {
				atomics = append(atomics, atomicFields(path+"."+name, declared.Type, field)...)
			}
		}
	case v.Kind() == document.List && t.List != nil:
		if t.List.Relationship == schema.Atomic {
			atomics = append(atomics, path)
		}
		for i, item := range v.Items() {
			atomics = append(atomics, atomicFields(path+"["+strconv.Itoa(i)+"]", t.List.Item, item)...)
		}
	}
	return atomics
}
