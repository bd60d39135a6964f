package structural

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/schema"
)

// Options are the properties of a CustomResourceDefinition's version that Compile needs besides the schema.
type Options struct {
	Group, Version, Kind string
	Namespaced           bool
	// Preserve is spec.preserveUnknownFields: it disables pruning regardless of the schema.
	Preserve bool
	// Scale holds the JSON paths of the scale subresource; nil if the version has no scale subresource.
	Scale *Scale
}

// Scale holds JSON paths in the notation of CustomResourceDefinitions, such as .spec.replicas. LabelSelector may be empty.
type Scale struct {
	SpecReplicas, StatusReplicas, LabelSelector string
}

// Type is the compiled schema of a custom resource at one version. It is safe for concurrent use.
type Type struct {
	options  Options
	root     *node
	metadata *builtin.Type
	topology *schema.Type
	rules    *ruleset // rules is nil if the schema has no CEL rules.
}

// Metadata returns the built-in type ObjectMeta, which describes the metadata of all objects.
func (t *Type) Metadata() *builtin.Type { return t.metadata }

// Compile compiles the schema of one version of a valid CustomResourceDefinition, spec.versions[].schema.openAPIV3Schema. If
// the schema is absent or null, all values are valid. CEL rules are compiled on first use.
func Compile(rawSchema document.Value, options Options) (*Type, error) {
	metadata, ok := builtin.Builtin("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
	if !ok {
		return nil, fmt.Errorf("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta: no such built-in type")
	}
	t := &Type{options: options, metadata: metadata}
	var l loader
	if rawSchema.IsNull() || rawSchema.IsAbsent() {
		rawSchema = document.NewMap()
	} else if l.setTopology(t, rawSchema); l.err != nil {
		return nil, l.err
	}
	t.root = l.load(rawSchema)
	if l.err != nil {
		return nil, l.err
	}
	if !options.Preserve {
		t.pruneDefaults(t.root, false)
	}
	t.root.findFeatures()
	if l.rules {
		t.rules = newRuleset(rawSchema)
	}
	if t.topology == nil {
		t.topology = schema.Untyped
	}
	return t, nil
}

// setTopology sets the merge topology of the type. It wraps the schema in a CustomResourceDefinition, because schema.LoadCRD
// requires one.
func (l *loader) setTopology(t *Type, rawSchema document.Value) {
	text := document.NewString
	types, err := schema.LoadCRD(document.NewMap(
		document.Field{Name: "apiVersion", Value: text("apiextensions.k8s.io/v1")},
		document.Field{Name: "kind", Value: text("CustomResourceDefinition")},
		document.Field{Name: "spec", Value: document.NewMap(
			document.Field{Name: "group", Value: text(t.options.Group)},
			document.Field{Name: "names", Value: document.NewMap(document.Field{Name: "kind", Value: text(t.options.Kind)})},
			document.Field{Name: "preserveUnknownFields", Value: document.NewBool(t.options.Preserve)},
			document.Field{Name: "versions", Value: document.NewList(document.NewMap(
				document.Field{Name: "name", Value: text(t.options.Version)},
				document.Field{Name: "schema", Value: document.NewMap(document.Field{Name: "openAPIV3Schema", Value: rawSchema})},
			))},
		)},
	))
	if err != nil {
		l.err = err
		return
	}
	t.topology = types[t.options.Version]
}

// Topology returns the merge topology of the schema. Without a schema it is schema.Untyped, which is deduced from values.
func (t *Type) Topology() *schema.Type { return t.topology }
