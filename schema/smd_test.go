package schema_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// loadTypes loads typesDocument(field) and returns the type of the field f.
func loadTypes(t *testing.T, field string) (*schema.Type, error) {
	t.Helper()
	s, err := schema.LoadTypes(parse(t, typesDocument(field)))
	if err != nil {
		return nil, err
	}
	root, ok := s.Type("Root")
	if !ok {
		t.Fatal("LoadTypes returned no type Root")
	}
	checkInvariants(t, root)
	f, ok := root.Map.Find("f")
	if !ok {
		t.Fatal("type Root has no field f")
	}
	return f.Type, nil
}

// typesDocument returns a schema in the language of structured-merge-diff with a type Root whose field f has the given
// type, and with types that it may refer to.
func typesDocument(field string) string {
	return `
types:
- name: Root
  map: {fields: [{name: f, type: ` + field + `}]}
- name: Text
  scalar: string
- name: Texts
  list: {elementType: {scalar: string}, elementRelationship: atomic}
- name: Pairs
  list: {elementType: {namedType: Pair}, elementRelationship: atomic, keys: [a, b]}
- name: Pair
  map: {fields: [{name: a, type: {scalar: string}}, {name: b, type: {scalar: numeric}, default: 1}]}
- name: Tree
  map: {fields: [{name: left, type: {namedType: Tree}}, {name: right, type: {namedType: Tree, elementRelationship: atomic}}]}
- name: Loose
  scalar: untyped
  list: {elementType: {namedType: Loose}, elementRelationship: atomic}
  map: {elementType: {namedType: Loose}}
- name: __untyped_atomic_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
- name: __untyped_deduced_
  scalar: untyped
  list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}
  map: {elementType: {namedType: __untyped_deduced_}, elementRelationship: separable}
`
}

// typesFields are types of a field in the language of structured-merge-diff, with the expected topology.
var typesFields = []struct{ name, field, want string }{
	{"string", `{scalar: string}`, "string"},
	{"numeric", `{scalar: numeric}`, "numeric"},
	{"boolean", `{scalar: boolean}`, "boolean"},
	{"any scalar", `{scalar: untyped}`, "scalar"},
	{"several problems", `{scalar: string, list: {elementType: {scalar: string}, elementRelationship: associative}, map: {elementType: {scalar: string}}}`, "string|set[string]|{*: string}"},
	{"named", `{namedType: Pair}`, pair},
	{"nullable", `{namedType: Pair, nullable: true}`, pair},
	{"empty map", `{map: {}}`, "{}"},
	{"empty element type", `{map: {elementType: {}}}`, "{}"},
	{"separable map", `{map: {elementType: {scalar: string}, elementRelationship: separable}}`, "{*: string}"},
	{"atomic map", `{map: {elementType: {scalar: string}, elementRelationship: atomic}}`, "atomic{*: string}"},
	{"unions are ignored", `{map: {fields: [{name: a, type: {scalar: string}}], unions: [{fields: [{fieldName: a, discriminatorValue: A}]}]}}`, "{a: string}"},
	{"keyed list", `{list: {elementType: {namedType: Pair}, elementRelationship: associative, keys: [b, a]}}`, "keyed(" + pairDefault + ", a)[" + pair + "]"},
	{"override to atomic", `{namedType: Pair, elementRelationship: atomic}`, "atomic" + pair},
	{"override to separable", `{namedType: Pair, elementRelationship: separable}`, pair},
	{"override to a set", `{namedType: Texts, elementRelationship: associative}`, "set[string]"},
	{"override to a keyed list", `{namedType: Pairs, elementRelationship: associative}`, "keyed(a, " + pairDefault + ")[" + pair + "]"},
	{"override of an inline type", `{map: {elementType: {scalar: string}}, elementRelationship: atomic}`, "atomic{*: string}"},
	{"override of the map only", `{namedType: __untyped_deduced_, elementRelationship: atomic}`, "scalar|atomic[opaque]|atomic{*: untyped}"},
	{"untyped", `{namedType: __untyped_deduced_}`, "untyped"},
	{"opaque", `{namedType: __untyped_atomic_}`, "opaque"},
	{
		"untyped in place",
		`{scalar: untyped, list: {elementType: {namedType: __untyped_atomic_}, elementRelationship: atomic}, map: {elementType: {namedType: __untyped_deduced_}}}`,
		"untyped",
	},
	{
		"almost untyped",
		`{scalar: untyped, list: {elementType: {namedType: __untyped_deduced_}, elementRelationship: atomic}, map: {elementType: {namedType: __untyped_deduced_}}}`,
		"scalar|atomic[untyped]|{*: untyped}",
	},
	{"granular at every level", `{namedType: Loose}`, "scalar|atomic[^Loose]|{*: ^Loose}"},
	{"recursion", `{namedType: Tree}`, "{left: ^Tree, right: atomic{left: ^Tree, right: ^Tree}}"},
}

func TestTypesFields(t *testing.T) {
	for _, test := range typesFields {
		t.Run(test.name, func(t *testing.T) {
			f, err := loadTypes(t, test.field)
			if err != nil {
				t.Fatal(err)
			}
			if got := topology(f); got != test.want {
				t.Errorf("topology = %s\nwant       %s", got, test.want)
			}
			compareTypes(t, typesDocument(test.field))
		})
	}
}

func TestTypesErrors(t *testing.T) {
	for _, test := range []struct{ name, field, place, want string }{
		{"unknown name", `{namedType: Gone}`, ".namedType", `expected a type of this schema, received "Gone"; declare`},
		{"name that is not a string", `{namedType: [a]}`, ".namedType", "received a list"},
		{"name and type", `{namedType: Pair, scalar: string}`, "", "namedType and scalar"},
		{"empty input", `{}`, "", "expected scalar, list or map, received none of them"},
		{"no map", `string`, "", `received the string "string"`},
		{"unknown scalar", `{scalar: text}`, ".scalar", `the string "text"`},
		{"list without relationship", `{list: {elementType: {scalar: string}}}`, ".list", "declare the relationship"},
		{"separable list", `{list: {elementType: {scalar: string}, elementRelationship: separable}}`, ".list.elementRelationship", "expected atomic or associative"},
		{"list without items", `{list: {elementRelationship: atomic}}`, ".list.elementType", "received nothing"},
		{"keys that are not a list", `{list: {elementType: {namedType: Pair}, elementRelationship: associative, keys: a}}`, ".list.keys", "a list of field names"},
		{"keyed scalars", `{list: {elementType: {scalar: string}, elementRelationship: associative, keys: [a]}}`, ".list", "items that are maps"},
		{"associative map", `{map: {elementRelationship: associative}}`, ".map.elementRelationship", "expected separable or atomic"},
		{"unknown override", `{namedType: Pair, elementRelationship: x}`, ".elementRelationship", `"x"`},
		{"override of a scalar", `{namedType: Text, elementRelationship: atomic}`, "", "a scalar type"},
		{"associative override of a map", `{namedType: Pair, elementRelationship: associative}`, "", "expected a reference to a list"},
		{"fields that are not a list", `{map: {fields: {}}}`, ".map.fields", "a list of fields"},
		{"field without name", `{map: {fields: [{type: {scalar: string}}]}}`, ".map.fields[0].name", "the name of the field"},
		{"duplicate field", `{map: {fields: [{name: a, type: {scalar: string}}, {name: a, type: {scalar: string}}]}}`, ".map.fields[1].name", `"a" again`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadTypes(t, test.field)
			wantError(t, err, "types.Root.map.fields.f.type"+test.place+": ", test.want)
		})
	}
}

func TestTypesDocuments(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                          "expected a map with a list of types, received a list",
		`{}`:                          "types: expected a list of types, received nothing",
		`{types: {}}`:                 "received a map",
		`{types: [{scalar: string}]}`: "types[0].name: expected the name of the type, received nothing",
		`{types: [1]}`:                "types[0].name",
		`{types: [{name: a, scalar: string}, {name: a, scalar: string}]}`: `types[1].name: expected each type once, received "a" again`,
	} {
		_, err := schema.LoadTypes(parse(t, text))
		wantError(t, err, want)
	}
	s, err := schema.LoadTypes(parse(t, `{types: [{name: a, map: {elementType: {namedType: __untyped_deduced_}}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := s.Type("a"); topology(a) != "{*: untyped}" {
		t.Errorf("topology = %s, want {*: untyped}", topology(a))
	}
}

// compareTypes loads a text with LoadTypes and with structured-merge-diff, reports every difference as a test failure,
// and returns the result of LoadTypes.
func compareTypes(t *testing.T, text string) *schema.Schema {
	t.Helper()
	oracle, err := typed.NewParser(typed.YAMLObject(text))
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := schema.LoadTypes(parse(t, text))
	if err != nil {
		t.Fatal(err)
	}
	for i, difference := range differences(loaded, &oracle.Schema) {
		if i == 20 {
			t.Fatal("more than 20 differences from structured-merge-diff; the others are omitted")
		}
		t.Error(difference)
	}
	return loaded
}

// clientGoTypes returns the schema of client-go's apply configurations. The schema is in an internal package, so it is
// extracted from the source code.
func clientGoTypes(t testing.TB) string {
	t.Helper()
	file := filepath.Join(moduleDir(t, "k8s.io/client-go"), "applyconfigurations/internal/internal.go")
	source, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	ast.Inspect(source, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && len(literal.Value) > len(text) {
			text = literal.Value
		}
		return true
	})
	text, err = strconv.Unquote(text)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTypesOfClientGo(t *testing.T) {
	s := compareTypes(t, clientGoTypes(t))
	names := 0
	for _, typ := range s.Types() {
		names++
		checkInvariants(t, typ)
	}
	if names < 500 {
		t.Errorf("LoadTypes loaded only %d types of client-go, want at least 500", names)
	}
	port, _ := s.Type("io.k8s.api.core.v1.ServiceSpec")
	ports, ok := port.Map.Find("ports")
	if !ok || listName(ports.Type.List) != "keyed(port,protocol)" {
		t.Errorf("ServiceSpec.ports = %v, want a list keyed by port and protocol", ports)
	}
	if protocol := ports.Type.List.Keys[1]; !document.Equal(protocol.Default, document.NewString("TCP")) {
		t.Errorf("ServiceSpec.ports[protocol]: default = %v, want TCP", protocol.Default)
	}
	if untyped, _ := s.Type("__untyped_deduced_"); untyped != schema.Untyped {
		t.Error("type __untyped_deduced_ is not schema.Untyped, want the same pointer")
	}
}
