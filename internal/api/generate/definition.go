package main

import (
	"fmt"
	"sort"

	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/api"
)

// definitionSchema returns the schema of CustomResourceDefinitions as YAML, converted from OpenAPI as in kube-apiserver,
// because client-go has no apply configurations for CustomResourceDefinitions.
func definitionSchema() (string, error) {
	models := map[string]*spec.Schema{}
	for name, definition := range openapi.GetOpenAPIDefinitions(reference) {
		models[name] = &definition.Schema
	}
	if models[api.DefinitionType] == nil {
		return "", fmt.Errorf("kube-openapi: no definition of %s", api.DefinitionType)
	}
	converted, err := schemaconv.ToSchemaFromOpenAPI(models, false)
	if err != nil {
		return "", err
	}
	for _, t := range converted.Types {
		if t.Map != nil { // sort the fields, whose order is the random order of a Go map
			sort.Slice(t.Map.Fields, func(i, j int) bool { return t.Map.Fields[i].Name < t.Map.Fields[j].Name })
		}
	}
	text, err := yaml.Marshal(converted)
	return string(text), err
}

func reference(name string) spec.Ref { return spec.MustCreateRef("#/definitions/" + name) }
