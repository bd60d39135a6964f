package structural

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/schema"
)

// Options say what must be known about a version beside its schema.
type Options struct {
	Group, Version, Kind string
	Namespaced           bool
	// Preserve is spec.preserveUnknownFields: nothing is pruned, whatever the schema says.
	Preserve bool
	// Scale says where the scale subresource finds its numbers; nil if there is none.
	Scale *Scale
}

// Scale has paths as a definition writes them: .spec.replicas. LabelSelector may be empty.
type Scale struct {
	SpecReplicas, StatusReplicas, LabelSelector string
}

// Type is what is known about the values of a custom resource at one version. It is safe for use by several goroutines.
type Type struct {
	options  Options
	root     *node
	metadata *builtin.Type
	topology *schema.Type
	rules    *ruleset // nil if there are none
}

// Metadata is the type of the metadata, which all kinds share.
func (t *Type) Metadata() *builtin.Type { return t.metadata }

// Compile makes the type of one version of a definition. The schema is spec.versions[].schema.openAPIV3Schema; if it
// is absent or null nothing is known about the values. The definition has been checked. Rules in CEL are compiled
// when they are first needed.
func Compile(from document.Value, options Options) (*Type, error) {
	metadata, ok := builtin.Builtin("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
	if !ok {
		return nil, fmt.Errorf("the type of metadata is not in the table of types")
	}
	t := &Type{options: options, metadata: metadata}
	var l loader
	if from.IsNull() || from.IsAbsent() {
		from = document.NewMap()
	} else if l.topology(t, from); l.err != nil {
		return nil, l.err
	}
	t.root = l.load(from)
	if l.err != nil {
		return nil, l.err
	}
	if !options.Preserve {
		t.pruneDefaults(t.root, false)
	}
	t.root.settle()
	if l.rules {
		t.rules = newRuleset(from)
	}
	if t.topology == nil {
		t.topology = schema.Untyped
	}
	return t, nil
}

// topology loads how the values merge. It needs a whole definition.
func (l *loader) topology(t *Type, from document.Value) {
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
				document.Field{Name: "schema", Value: document.NewMap(document.Field{Name: "openAPIV3Schema", Value: from})},
			))},
		)},
	))
	if err != nil {
		l.err = err
		return
	}
	t.topology = types[t.options.Version]
}

// Topology returns how the values merge: as the schema says, or as it is deduced where that says nothing.
func (t *Type) Topology() *schema.Type { return t.topology }
