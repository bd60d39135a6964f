package schema_test

import (
	"fmt"
	"reflect"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// The package example loads the topology of a custom resource from its CustomResourceDefinition.
func Example() {
	definition, err := document.ParseYAML([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-map-type: atomic
            additionalProperties: {type: string}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	types, err := schema.LoadCRD(definition)
	if err != nil {
		fmt.Println(err)
		return
	}
	spec, declared := types["v1"].Map.TypeOf("spec")
	fmt.Println(declared, spec.Map.Atomic)
	// Output: true true
}

func ExampleLoadOpenAPI() {
	doc, err := document.ParseJSON([]byte(`{
	  "components": {"schemas": {
	    "example.Service": {
	      "type": "object",
	      "properties": {"ports": {
	        "type": "array",
	        "items": {"$ref": "#/components/schemas/example.Port"},
	        "x-kubernetes-list-type": "map",
	        "x-kubernetes-list-map-keys": ["port", "protocol"]
	      }},
	      "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Service"}]
	    },
	    "example.Port": {
	      "type": "object",
	      "properties": {"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}}
	    }
	  }}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := schema.LoadOpenAPI(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	service, _ := s.Kind("example.com", "v1", "Service")
	ports, _ := service.Map.Find("ports")
	for _, key := range ports.Type.List.Keys {
		fmt.Println(key.Name, key.Default)
	}
	// Output:
	// port <absent>
	// protocol "TCP"
}

func ExampleLoadOpenAPI_error() {
	doc, err := document.ParseJSON([]byte(`{"definitions": {"Foo": {
	  "type": "object",
	  "properties": {"bar": {"$ref": "#/definitions/Baz"}}
	}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = schema.LoadOpenAPI(doc)
	fmt.Println(err)
	// Output:
	// definitions.Foo.properties.bar: expected a $ref to a type of this document, received $ref "#/definitions/Baz"; declare the type, or correct the reference
}

func ExampleLoadCRD() {
	doc, err := document.ParseJSON([]byte(`{
	  "apiVersion": "apiextensions.k8s.io/v1",
	  "kind": "CustomResourceDefinition",
	  "spec": {
	    "group": "example.com",
	    "names": {"kind": "Widget"},
	    "versions": [{"name": "v1", "schema": {"openAPIV3Schema": {
	      "type": "object",
	      "properties": {"spec": {
	        "type": "object",
	        "properties": {"tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"}}
	      }}
	    }}}]
	  }
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	versions, err := schema.LoadCRD(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, field := range versions["v1"].Map.Fields {
		fmt.Println(field.Name)
	}
	// Output:
	// apiVersion
	// kind
	// metadata
	// spec
}

func ExampleLoadTypes() {
	doc, err := document.ParseJSON([]byte(`{"types": [
	  {"name": "color", "map": {
	    "fields": [{"name": "red", "type": {"scalar": "numeric"}}, {"name": "blue", "type": {"scalar": "numeric"}}],
	    "elementRelationship": "atomic"
	  }}
	]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := schema.LoadTypes(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	color, _ := s.Type("color")
	fmt.Println(color.Map.Atomic, len(color.Map.Fields))
	// Output:
	// true 2
}

func ExampleFromGoType() {
	type Variable struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
	}
	type Container struct {
		Env []Variable `json:"env,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	}
	container, err := schema.FromGoType(reflect.TypeFor[Container]())
	if err != nil {
		fmt.Println(err)
		return
	}
	env, _ := container.Map.Find("env")
	fmt.Println(env.Type.List.Relationship, env.Type.List.Keys[0].Name)
	// Output:
	// keyed name
}

func ExampleSchema_Types() {
	doc, err := document.ParseJSON([]byte(`{"definitions": {"b": {"type": "string"}, "a": {"$ref": "#/definitions/b"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := schema.LoadOpenAPI(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, t := range s.Types() {
		fmt.Println(name, t.Name)
	}
	// Output:
	// a b
	// b b
}
