package smd

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// Kind is a GroupVersionKind with its structured-merge-diff schema.
type Kind struct {
	APIVersion string
	Name       string
	Type       typed.ParseableType
}

// KindFromConverter returns the kind with apiVersion and name, and its schema from converter, such as client-go's
// converter for the built-in kinds.
func KindFromConverter(converter managedfields.TypeConverter, apiVersion, name string) (*Kind, error) {
	probe := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": name}}
	value, err := converter.ObjectToTyped(probe)
	if err != nil {
		return nil, fmt.Errorf("schema of %s %s: %w", apiVersion, name, err)
	}
	kind := &Kind{APIVersion: apiVersion, Name: name}
	kind.Type = typed.ParseableType{Schema: value.Schema(), TypeRef: value.TypeRef()}
	return kind, nil
}

// KindFromOpenAPI returns a kind with the schema of OpenAPI v3 models, as kube-apiserver does for custom resources.
// model is the key of the kind's model in models; it may refer to other models in the map.
func KindFromOpenAPI(models map[string]*spec.Schema, model, apiVersion, name string) (*Kind, error) {
	converted, err := schemaconv.ToSchemaFromOpenAPI(models, false)
	if err != nil {
		return nil, fmt.Errorf("schema of %s %s: %w", apiVersion, name, err)
	}
	kind := &Kind{APIVersion: apiVersion, Name: name}
	kind.Type = typed.ParseableType{Schema: converted, TypeRef: schema.TypeRef{NamedType: &model}}
	if !kind.Type.IsValid() {
		return nil, fmt.Errorf("schema of %s %s: model %s not found", apiVersion, name, model)
	}
	return kind, nil
}
