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

// defineKind adds the definitions of the objects and lists of k at the given version, and returns the names of the two
// definitions.
func (d *definitionBuilder) defineKind(k *api.Kind, version string) (object, list string) {
	gv := schema.GroupVersion{Group: k.Group, Version: version}
	t, ok := d.types.goType(gv.WithKind(k.Name))
	if !ok {
		return d.defineCustom(k, gv)
	}
	object = d.define(t)
	if t, ok := d.types.goType(gv.WithKind(k.ListName())); ok {
		list = d.define(t)
	}
	return object, list
}

// Schema is implemented by an api.Definition that publishes an OpenAPI schema of its objects.
type Schema interface {
	// OpenAPI returns the schema of the given version for OpenAPI v2 (if isV2 is set) or v3, without apiVersion, kind and
	// metadata. A nil schema declares no fields.
	OpenAPI(version string, isV2 bool) (*spec.Schema, error)
	// SchemaHash returns a hash that changes whenever the result of OpenAPI changes. It is much faster than OpenAPI.
	SchemaHash(version string) [sha256.Size]byte
}

// Selectable is implemented by an api.Definition that supports field selectors.
type Selectable interface {
	// SelectableFields returns the paths of the fields that field selectors support at the given version.
	SelectableFields(version string) []string
}

// addSelectableFields adds the extension x-kubernetes-selectable-fields to the schema of a kind's objects or lists.
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

// publishedSchema returns the OpenAPI schema that the api.Definition of a kind publishes; nil if there is none.
func (d *definitionBuilder) publishedSchema(k *api.Kind, version string) *spec.Schema {
	publisher, ok := k.Definition.(Schema)
	if !ok {
		return nil
	}
	s, err := publisher.OpenAPI(version, d.version == openAPIV2)
	if err != nil {
		return nil // unreachable: validation rejects a CustomResourceDefinition whose schema causes an error
	}
	return s
}

// defineCustom adds the definitions of the objects and lists of a kind without a Go type, and returns their names.
func (d *definitionBuilder) defineCustom(k *api.Kind, gv schema.GroupVersion) (object, list string) {
	labels := strings.Split(gv.Group, ".")
	slices.Reverse(labels)
	object = strings.Join(append(labels, gv.Version, k.Name), ".")
	list = object + "List"
	d.add(object, []schema.GroupVersionKind{gv.WithKind(k.Name)}, func(s *spec.Schema) {
		s.Type = spec.StringOrArray{"object"}
		// Without a published schema, not even apiVersion, kind and metadata are declared: clients reject undeclared fields
		// if any field is declared.
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

// fillResource adds apiVersion, kind and metadata to a schema.
func (d *definitionBuilder) fillResource(s *spec.Schema) {
	d.fillTypeMeta(s)
	s.SetProperty("metadata", d.described(reflect.TypeFor[metav1.ObjectMeta](), "the metadata of the object"))
}

// fillEmbedded adds apiVersion, kind and metadata to the schemas of embedded resources in a schema, and makes kind and
// apiVersion required there.
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

// preservesUnknown reports whether the document is OpenAPI v2 and a schema preserves unknown fields. Such a schema must not
// declare any field, because clients of OpenAPI v2 then reject undeclared fields.
func (d *definitionBuilder) preservesUnknown(s *spec.Schema) bool {
	preserves, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	return preserves && d.version == openAPIV2
}

func (d *definitionBuilder) fillTypeMeta(s *spec.Schema) {
	d.fillFields(s, reflect.TypeFor[metav1.TypeMeta]())
}

// described returns a schema that consists of a description and a reference to the definition of a Go type.
func (d *definitionBuilder) described(t reflect.Type, description string) spec.Schema {
	s := d.refer(d.define(t))
	s.Description = description
	return d.wrapped(s)
}
