package catalog

import (
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/kinds"
)

// defineKind makes the definitions of a kind's objects and lists, and returns their names.
func (d *definer) defineKind(k *kinds.Kind, version string) (object, list string) {
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

// defineCustom is for kinds without a Go type: nothing is declared about them, all is allowed.
func (d *definer) defineCustom(k *kinds.Kind, gv schema.GroupVersion) (object, list string) {
	labels := strings.Split(gv.Group, ".")
	slices.Reverse(labels)
	object = strings.Join(append(labels, gv.Version, k.Name), ".")
	list = object + "List"
	d.add(object, []schema.GroupVersionKind{gv.WithKind(k.Name)}, func(s *spec.Schema) {
		s.Type = spec.StringOrArray{"object"}
		d.fillTypeMeta(s)
		s.SetProperty("metadata", d.described(reflect.TypeFor[metav1.ObjectMeta](), "the metadata of the object"))
		s.AddExtension("x-kubernetes-preserve-unknown-fields", true)
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
	})
	return object, list
}

func (d *definer) fillTypeMeta(s *spec.Schema) { d.fillFields(s, reflect.TypeFor[metav1.TypeMeta]()) }

// described returns a reference to the definition of a Go type with a description beside it.
func (d *definer) described(t reflect.Type, description string) spec.Schema {
	s := d.refer(d.define(t))
	s.Description = description
	return d.wrapped(s)
}
