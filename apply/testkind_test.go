package apply

import (
	"fmt"
	"strings"

	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// testTypes declares a kind with one field of every topology, in the schema language of structured-merge-diff. The
// fields are at the root instead of in a spec, to keep tests short.
const testTypes = `
types:
- name: thing
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: metadata, type: {namedType: metadata}}
    - {name: number, type: {scalar: numeric}}
    - {name: text, type: {scalar: string}}
    - {name: flag, type: {scalar: boolean}}
    - {name: any, type: {scalar: untyped}}
    - {name: struct, type: {namedType: struct}}
    - {name: atomicStruct, type: {namedType: struct, elementRelationship: atomic}}
    - {name: map, type: {map: {elementType: {scalar: numeric}}}}
    - {name: structs, type: {map: {elementType: {namedType: struct}}}}
    - {name: atomicMap, type: {map: {elementType: {scalar: numeric}, elementRelationship: atomic}}}
    - {name: list, type: {list: {elementType: {scalar: string}, elementRelationship: atomic}}}
    - {name: structList, type: {list: {elementType: {namedType: struct}, elementRelationship: atomic}}}
    - {name: set, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
    - {name: numbers, type: {list: {elementType: {scalar: numeric}, elementRelationship: associative}}}
    - {name: items, type: {list: {elementType: {namedType: item}, elementRelationship: associative, keys: [name]}}}
    - {name: ports, type: {list: {elementType: {namedType: port}, elementRelationship: associative, keys: [port, protocol]}}}
    - {name: atomicItems, type: {list: {elementType: {namedType: item, elementRelationship: atomic}, elementRelationship: associative, keys: [name]}}}
    - {name: free, type: {namedType: __untyped_deduced_}}
    - {name: tree, type: {namedType: tree}}
    - {name: status, type: {namedType: struct}}
- name: metadata
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: namespace, type: {scalar: string}}
    - {name: uid, type: {scalar: string}}
    - {name: resourceVersion, type: {scalar: string}}
    - {name: generation, type: {scalar: numeric}}
    - {name: creationTimestamp, type: {scalar: string}}
    - {name: selfLink, type: {scalar: string}}
    - {name: clusterName, type: {scalar: string}}
    - {name: labels, type: {map: {elementType: {scalar: string}}}}
    - {name: finalizers, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
- name: struct
  map:
    fields:
    - {name: a, type: {scalar: numeric}}
    - {name: b, type: {scalar: numeric}}
    - {name: inner, type: {namedType: struct}}
- name: item
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: value, type: {scalar: numeric}}
    - {name: tags, type: {list: {elementType: {scalar: string}, elementRelationship: associative}}}
- name: port
  map:
    fields:
    - {name: port, type: {scalar: numeric}}
    - {name: protocol, type: {scalar: string}, default: TCP}
    - {name: alias, type: {scalar: string}}
- name: tree
  map:
    fields:
    - {name: value, type: {scalar: numeric}}
    - {name: child, type: {namedType: tree}}
    - {name: forest, type: {list: {elementType: {namedType: branch}, elementRelationship: associative, keys: [name]}}}
- name: branch
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: tree, type: {namedType: tree}}
`

// testKind is the compiled topology of the kind that testTypes declares.
var testKind = func() *schema.Type {
	s, err := schema.LoadTypes(parse(testTypes))
	if err != nil {
		panic(err)
	}
	t, _ := s.Type("thing")
	return t
}()

// testOracle runs structured-merge-diff with the schema that testTypes declares.
var testOracle = func() *oracle {
	parser, err := typed.NewParser(typed.YAMLObject(strings.Replace(testTypes, "name: thing", "name: T0", 1)))
	if err != nil {
		panic(err)
	}
	parser.Schema.Types = append(parser.Schema.Types, untypedDefs()...)
	return newOracle(map[string]*smd.Schema{"v1": &parser.Schema}, nil, nil)
}()

// parse parses YAML and panics on errors. It returns an empty map for an empty text.
func parse(yaml string) document.Value {
	v, err := document.ParseYAML([]byte(yaml))
	if err != nil {
		panic(fmt.Sprintf("%v\n%s", err, yaml))
	}
	if v.IsNull() {
		return document.NewMap()
	}
	return v
}

// mustEngine returns an engine, by default for testKind at version v1.
func mustEngine(options Options) *Engine {
	if options.Versions == nil {
		options.Versions = OneVersion("v1", testKind)
	}
	e, err := New(options)
	if err != nil {
		panic(err)
	}
	return e
}
