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

// defineKind makes the definitions of a kind's objects and lists, and returns their names.
func (d *definer) defineKind(k *api.Kind, version string) (object, list string) {
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

// A Schema is a definition of a kind that tells its schema, without what all objects have; nil tells nothing.
type Schema interface {
	OpenAPI(version string, isForm2 bool) (*spec.Schema, error)
	// SchemaHash differs if that does. It costs little.
	SchemaHash(version string) [sha256.Size]byte
}

// A Selectable is a definition of a kind whose fields can be asked for with field selectors.
type Selectable interface {
	SelectableFields(version string) []string
}

// tellSelectable says which fields can be asked for. Clients find it at objects and at lists.
func tellSelectable(s *spec.Schema, k *api.Kind, version string) {
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

// declared returns what the definition of a kind declares; nil if that is nothing.
func (d *definer) declared(k *api.Kind, version string) *spec.Schema {
	told, ok := k.Definition.(Schema)
	if !ok {
		return nil
	}
	s, err := told.OpenAPI(version, d.form == form2)
	if err != nil {
		return nil // it was checked when it was stored, so that this is for kinds that nobody checked
	}
	return s
}

// defineCustom is for kinds without a Go type.
func (d *definer) defineCustom(k *api.Kind, gv schema.GroupVersion) (object, list string) {
	labels := strings.Split(gv.Group, ".")
	slices.Reverse(labels)
	object = strings.Join(append(labels, gv.Version, k.Name), ".")
	list = object + "List"
	d.add(object, []schema.GroupVersionKind{gv.WithKind(k.Name)}, func(s *spec.Schema) {
		s.Type = spec.StringOrArray{"object"}
		if declared := d.declared(k, gv.Version); declared != nil { // otherwise clients would take all other fields for forbidden
			*s = *declared
			d.fillResource(s)
			d.fillEmbedded(s)
		}
		tellSelectable(s, k, gv.Version)
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
		tellSelectable(s, k, gv.Version)
	})
	return object, list
}

// fillResource adds what all objects have.
func (d *definer) fillResource(s *spec.Schema) {
	d.fillTypeMeta(s)
	s.SetProperty("metadata", d.described(reflect.TypeFor[metav1.ObjectMeta](), "the metadata of the object"))
}

// fillEmbedded adds it to the resources in an object, too, which must say what they are.
func (d *definer) fillEmbedded(s *spec.Schema) {
	if is, _ := s.Extensions.GetBool("x-kubernetes-embedded-resource"); is && !d.takesAnything(s) {
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

// takesAnything says whether clients take fields that are not named for forbidden as soon as there is one that is, and
// they are not: that is so in form 2.
func (d *definer) takesAnything(s *spec.Schema) bool {
	preserves, _ := s.Extensions.GetBool("x-kubernetes-preserve-unknown-fields")
	return preserves && d.form == form2
}

func (d *definer) fillTypeMeta(s *spec.Schema) { d.fillFields(s, reflect.TypeFor[metav1.TypeMeta]()) }

// described returns a reference to the definition of a Go type with a description beside it.
func (d *definer) described(t reflect.Type, description string) spec.Schema {
	s := d.refer(d.define(t))
	s.Description = description
	return d.wrapped(s)
}
