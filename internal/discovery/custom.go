package discovery

import (
	"crypto/sha256"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/api"
)

// defineKind builds the definitions of a kind's objects and lists, and returns their names.
func (d *definitionBuilder) defineKind(k *api.Kind, version string) (object, list string) {
	gv := schema.GroupVersion{Group: k.Group, Version: version}
	t, ok := d.types.of(gv.WithKind(k.Name))
	if !ok {
		return d.defineCustom(k, gv)
	}
	object = d.define(t)
	if t, ok := d.types.of(gv.WithKind(k.ListName())); ok {
		list = d.define(t)
	}
	return object, list
}

// Schema is implemented by definitions of kinds that publish an OpenAPI schema, without the fields common to all
// objects; a nil schema declares no fields.
type Schema interface {
	OpenAPI(version string, isV2 bool) (*spec.Schema, error)
	// SchemaHash changes whenever the schema does. It is cheap.
	SchemaHash(version string) [sha256.Size]byte
}

// Selectable is implemented by definitions of kinds with selectable fields.
type Selectable interface {
	SelectableFields(version string) []string
}

// addSelectableFields adds the selectable fields to the schema of objects or lists, as an extension.
func addSelectableFields(s *spec.Schema, k *api.Kind, version string) {
	definition, ok := k.Definition.(Selectable)
	if !ok {
		return
	}
	var fields []any
	for _, path := range definition.SelectableFields(version) {
		fields = append(fields, map[string]any{"fieldPath": path})
	}
	if fields != nil {
		s.AddExtension("x-kubernetes-selectable-fields", fields)
	}
}

// publishedSchema returns the schema that the definition of a kind publishes; nil if there is none.
func (d *definitionBuilder) publishedSchema(k *api.Kind, version string) *spec.Schema {
	told, ok := k.Definition.(Schema)
	if !ok {
		return nil
	}
	s, err := told.OpenAPI(version, d.version == openAPIV2)
	if err != nil {
		return nil // unreachable for validated definitions
	}
	return s
}

// defineCustom builds the definitions of a kind without a Go type.
func (d *definitionBuilder) defineCustom(k *api.Kind, gv schema.GroupVersion) (object, list string) {
	labels := strings.Split(gv.Group, ".")
	slices.Reverse(labels)
	object = strings.Join(append(labels, gv.Version, k.Name), ".")
	list = object + "List"
	d.add(object, []schema.GroupVersionKind{gv.WithKind(k.Name)}, func(s *spec.Schema) {
		s.Type = spec.StringOrArray{"object"}
		// without a published schema, no fields are declared, because clients reject undeclared fields otherwise
		if declared := d.publishedSchema(k, gv.Version); declared != nil {
			*s = *declared
			d.fillResource(s)
			d.fillEmbedded(s)
		}
		addSelectableFields(s, k, gv.Version)
	})
	d.add(list, []schema.GroupVersionKind{gv.WithKind(k.ListName())}, func(s *spec.Schema) {
		s.Type = spec.StringOrArray{"object"}
		d.fillTypeMeta(s)
		s.SetProperty("metadata", d.described(reflect.TypeFor[metav1.ListMeta](), "the metadata of the list"))
		item := d.refer(object)
		s.SetProperty("items", spec.Schema{SchemaProps: spec.SchemaProps{
			Type: spec.StringOrArray{"array"}, Items: &spec.SchemaOrArray{Schema: &item},
		}})
		s.Required = []string{"items"}
		addSelectableFields(s, k, gv.Version)
	})
	return object, list
}

// fillResource adds the fields common to all objects.
func (d *definitionBuilder) fillResource(s *spec.Schema) {
	d.fillTypeMeta(s)
	s.SetProperty("metadata", d.described(reflect.TypeFor[metav1.ObjectMeta](), "the metadata of the object"))
}

// fillEmbedded adds the common fields to embedded resources, too, and requires their kind and apiVersion.
func (d *definitionBuilder) fillEmbedded(s *spec.Schema) {
	if is, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); is && !d.preservesUnknown(s) {
		d.fillResource(s)
		for _, name := range []string{"kind", "apiVersion"} {
			if !slices.Contains(s.Required, name) {
				s.Required = append(s.Required, name)
			}
		}
	}
	for name, property := range s.Properties {
		d.fillEmbedded(&property)
		s.Properties[name] = property
	}
	if s.Items != nil && s.Items.Schema != nil {
		d.fillEmbedded(s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		d.fillEmbedded(s.AdditionalProperties.Schema)
	}
}

// preservesUnknown reports whether a schema preserves unknown fields in OpenAPI v2, where clients reject undeclared
// fields as soon as any field is declared.
func (d *definitionBuilder) preservesUnknown(s *spec.Schema) bool {
	preserves, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	return preserves && d.version == openAPIV2
}

func (d *definitionBuilder) fillTypeMeta(s *spec.Schema) {
	d.fillFields(s, reflect.TypeFor[metav1.TypeMeta]())
}

// described returns a reference to the definition of a Go type, with a description.
func (d *definitionBuilder) described(t reflect.Type, description string) spec.Schema {
	s := d.refer(d.define(t))
	s.Description = description
	return d.wrapped(s)
}
