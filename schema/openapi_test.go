package schema_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/schema"
)

// loadProperty loads propertyDocument(property) and returns the type of the field f.
func loadProperty(t *testing.T, property string) (*schema.Type, error) {
	t.Helper()
	s, err := schema.LoadOpenAPI(parse(t, propertyDocument(property)))
	if err != nil {
		return nil, err
	}
	root, ok := s.Type("Root")
	if !ok {
		t.Fatal("LoadOpenAPI returned no type Root")
	}
	checkInvariants(t, root)
	f, ok := root.Map.Find("f")
	if !ok {
		t.Fatal("type Root has no field f")
	}
	return f.Type, nil
}

// propertyDocument returns an OpenAPI document with a type Root whose field f has the given schema, and with types that
// the schema may refer to.
func propertyDocument(property string) string {
	return `
definitions:
  Root: {type: object, properties: {f: ` + property + `}}
  Text: {type: string}
  Texts: {type: array, items: {type: string}}
  Pair: {type: object, properties: {a: {type: string}, b: {type: integer, default: 1}}}
  AtomicPair: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}}}
  Tree: {type: object, properties: {left: {$ref: '#/definitions/Tree'}, right: {$ref: '#/definitions/Tree', x-kubernetes-map-type: atomic}}}
  Alias: {$ref: '#/definitions/Pair'}
  AtomicAlias: {$ref: '#/definitions/Alias', x-kubernetes-map-type: atomic}
  io.k8s.apimachinery.pkg.api.resource.Quantity: {type: string}
  io.k8s.apimachinery.pkg.runtime.RawExtension: {type: object}
`
}

// pair is the topology of type Pair in propertyDocument, pairDefault its key b in a keyed list.
const pair, pairDefault = "{a: string, b: numeric=1}", "b=1"

// openAPIProperties contains a case for each keyword of a schema object: the schema of a property and the expected
// topology.
var openAPIProperties = []struct{ name, property, want string }{
	{"string", `{type: string}`, "string"},
	{"bytes", `{type: string, format: byte}`, "string"},
	{"int-or-string format", `{type: string, format: int-or-string}`, "scalar"},
	{"date-time", `{type: string, format: date-time}`, "scalar"},
	{"another format", `{type: string, format: uuid}`, "scalar"},
	{"integer", `{type: integer, format: int32}`, "numeric"},
	{"number", `{type: number}`, "numeric"},
	{"boolean", `{type: boolean}`, "boolean"},
	{"nullable type list", `{type: ["null", string]}`, "string"},
	{"int-or-string extension", `{x-kubernetes-int-or-string: true}`, "untyped"},
	{"no declared fields", `{}`, "untyped"},
	{"type null", `{type: null, items: null, properties: null, additionalProperties: null}`, "untyped"},
	{"untyped atomic map", `{x-kubernetes-map-type: atomic}`, "scalar|atomic[opaque]|atomic{*: untyped}"},
	{"untyped list with items", `{items: {type: string}}`, "scalar|atomic[string]|{*: untyped}"},

	{"free-form object", `{type: object}`, "{*: untyped}"},
	{"object that rejects undeclared fields", `{type: object, additionalProperties: false}`, "{}"},
	{"object that accepts undeclared fields", `{type: object, properties: {a: {type: string}}, additionalProperties: true}`, "{a: string, *: untyped}"},
	{"struct", `{type: object, properties: {b: {type: string}, a: {type: integer}}}`, "{a: numeric, b: string}"},
	{"map of strings", `{type: object, additionalProperties: {type: string}}`, "{*: string}"},
	{"granular map", `{type: object, x-kubernetes-map-type: granular}`, "{*: untyped}"},
	{"atomic map", `{type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}`, "atomic{*: string}"},
	{"atomic struct", `{type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}}}`, "atomic{a: string}"},
	{"preserving struct", `{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}}}`, "{a: string, *: untyped}"},
	{
		"preserving is inherited",
		`{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object, properties: {b: {type: string}}}}}`,
		"{a: {b: string, *: untyped}, *: untyped}",
	},
	{
		"preserving is not inherited through references",
		`{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {$ref: '#/definitions/Pair'}}}`,
		"{a: " + pair + ", *: untyped}",
	},
	{"embedded resource outside of a CRD", `{type: object, x-kubernetes-embedded-resource: true}`, "{*: untyped}"},
	{"defaults", `{type: object, properties: {a: {type: string, default: x}, b: {type: string, default: null}}}`, `{a: string="x", b: string}`},

	{"list", `{type: array, items: {type: string}}`, "atomic[string]"},
	{"atomic list", `{type: array, items: {type: string}, x-kubernetes-list-type: atomic}`, "atomic[string]"},
	{"set", `{type: array, items: {type: string}, x-kubernetes-list-type: set}`, "set[string]"},
	{
		"keyed list",
		`{type: array, items: {$ref: '#/definitions/Pair'}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b, a]}`,
		"keyed(" + pairDefault + ", a)[" + pair + "]",
	},
	{
		"keyed by an undeclared field",
		`{type: array, items: {$ref: '#/definitions/Pair'}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [c]}`,
		"keyed(c)[" + pair + "]",
	},
	{"no keys make a set", `{type: array, items: {type: string}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: []}`, "set[string]"},
	{"list of anything", `{type: array, items: {}}`, "atomic[untyped]"},

	{"merged list", `{type: array, items: {type: string}, x-kubernetes-patch-strategy: merge}`, "set[string]"},
	{
		"merged list with a key",
		`{type: array, items: {$ref: '#/definitions/Pair'}, x-kubernetes-patch-strategy: "merge,retainKeys", x-kubernetes-patch-merge-key: b}`,
		"keyed(" + pairDefault + ")[" + pair + "]",
	},
	{"list with retained keys", `{type: array, items: {type: string}, x-kubernetes-patch-strategy: retainKeys}`, "atomic[string]"},
	{"replaced list", `{type: array, items: {type: string}, x-kubernetes-patch-strategy: replace}`, "atomic[string]"},
	{
		"list type goes before patch strategy",
		`{type: array, items: {type: string}, x-kubernetes-list-type: atomic, x-kubernetes-patch-strategy: merge}`,
		"atomic[string]",
	},
	{"patch strategy of a map changes nothing", `{type: object, x-kubernetes-patch-strategy: retainKeys}`, "{*: untyped}"},

	{"reference", `{$ref: '#/definitions/Pair'}`, pair},
	{"reference of the other version", `{$ref: '#/components/schemas/Pair'}`, pair},
	{"reference in allOf", `{allOf: [{$ref: '#/definitions/Pair'}], default: {}}`, pair},
	{"two references in allOf", `{allOf: [{$ref: '#/definitions/Pair'}, {$ref: '#/definitions/Text'}]}`, "untyped"},
	{"alias", `{$ref: '#/definitions/Alias'}`, pair},
	{"override to atomic", `{$ref: '#/definitions/Pair', x-kubernetes-map-type: atomic}`, "atomic" + pair},
	{"override in allOf", `{allOf: [{$ref: '#/definitions/Pair'}], x-kubernetes-map-type: atomic}`, "atomic" + pair},
	{"override to granular", `{$ref: '#/definitions/AtomicPair', x-kubernetes-map-type: granular}`, "{a: string}"},
	{"override without effect", `{$ref: '#/definitions/AtomicPair', x-kubernetes-map-type: atomic}`, "atomic{a: string}"},
	{"alias with an override", `{$ref: '#/definitions/AtomicAlias'}`, "atomic" + pair},
	{"override of an override", `{$ref: '#/definitions/AtomicAlias', x-kubernetes-map-type: granular}`, pair},
	{"override of a list", `{$ref: '#/definitions/Texts', x-kubernetes-map-type: atomic}`, "atomic[string]"},
	{"recursion", `{$ref: '#/definitions/Tree'}`, "{left: ^Tree, right: atomic{left: ^Tree, right: ^Tree}}"},
	{"quantity", `{$ref: '#/definitions/io.k8s.apimachinery.pkg.api.resource.Quantity'}`, "scalar"},
	{"raw extension", `{$ref: '#/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension'}`, "opaque"},
	{
		"raw extension with an override",
		`{$ref: '#/definitions/io.k8s.apimachinery.pkg.runtime.RawExtension', x-kubernetes-map-type: granular}`,
		"scalar|atomic[opaque]|{*: opaque}",
	},
}

func TestOpenAPIProperties(t *testing.T) {
	for _, test := range openAPIProperties {
		t.Run(test.name, func(t *testing.T) {
			f, err := loadProperty(t, test.property)
			if err != nil {
				t.Fatal(err)
			}
			if got := topology(f); got != test.want {
				t.Errorf("topology = %s\nwant       %s", got, test.want)
			}
		})
	}
}

// openAPIErrors are property schemas that LoadOpenAPI rejects; place is the path of the problem inside of the property,
// want a part of the error.
var openAPIErrors = []struct{ name, property, place, want string }{
	{"unknown reference", `{$ref: '#/definitions/Gone'}`, "", `expected a $ref to a type of this document, received $ref "#/definitions/Gone"; declare`},
	{"foreign reference", `{$ref: 'https://example.org/Pair'}`, "", `"https://example.org/Pair"`},
	{"reference that is not a string", `{$ref: [a]}`, "", "expected a $ref that is a string, received a list"},
	{"unknown type", `{type: file}`, ".type", `received "file"`},
	{"type that is not a string", `{type: 3}`, ".type", "received the number 3"},
	{"schema that is not a map", `true`, "", "expected a schema, which is a map, received the boolean true"},
	{"properties that are not a map", `{type: object, properties: [a]}`, ".properties", "received a list"},
	{"array without items", `{type: array}`, "", "received no items; write items"},
	{"tuple", `{type: array, items: [{type: string}]}`, ".items", "expected a schema, which is a map, received a list"},
	{"unknown list type", `{type: array, items: {}, x-kubernetes-list-type: bag}`, ".x-kubernetes-list-type", `expected atomic, set or map, received the string "bag"`},
	{"no keys", `{type: array, items: {}, x-kubernetes-list-type: map}`, "", "no x-kubernetes-list-map-keys; name them"},
	{"keys that are not a list", `{type: array, items: {}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: a}`, ".x-kubernetes-list-map-keys", "a list of field names"},
	{"a key that is not a string", `{type: array, items: {}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, 1]}`, ".x-kubernetes-list-map-keys[1]", "the number 1"},
	{"duplicate key", `{type: array, items: {}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, a]}`, ".x-kubernetes-list-map-keys[1]", `received "a" again`},
	{"keyed scalars", `{type: array, items: {type: string}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a]}`, "", `keyed by "a"`},
	{"unknown map type", `{type: object, x-kubernetes-map-type: bag}`, ".x-kubernetes-map-type", `expected atomic or granular, received the string "bag"`},
	{"unknown override", `{$ref: '#/definitions/Pair', x-kubernetes-map-type: bag}`, ".x-kubernetes-map-type", `"bag"`},
	{"override of a scalar", `{$ref: '#/definitions/Text', x-kubernetes-map-type: atomic}`, "", `received a reference to a scalar type, "Text", with the override "atomic"; remove`},
	{"granular override of a list", `{$ref: '#/definitions/Texts', x-kubernetes-map-type: granular}`, "", `a list type, "Texts",`},
	{"unknown strategy", `{type: array, items: {}, x-kubernetes-patch-strategy: mix}`, ".x-kubernetes-patch-strategy", `received "mix"`},
	{"contradictory strategy", `{type: array, items: {}, x-kubernetes-patch-strategy: "merge,replace"}`, ".x-kubernetes-patch-strategy", "either merge or replace"},
	{"strategy that is not a string", `{type: array, items: {}, x-kubernetes-patch-strategy: [merge]}`, ".x-kubernetes-patch-strategy", "received a list"},
	{"merge key that is not a string", `{type: array, items: {}, x-kubernetes-patch-strategy: merge, x-kubernetes-patch-merge-key: 1}`, ".x-kubernetes-patch-strategy", "received the number 1"},
	{"flag that is not a boolean", `{type: object, x-kubernetes-preserve-unknown-fields: "yes"}`, ".x-kubernetes-preserve-unknown-fields", `expected true or false, received the string "yes"`},
}

func TestOpenAPIErrors(t *testing.T) {
	for _, test := range openAPIErrors {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadProperty(t, test.property)
			wantError(t, err, "definitions.Root.properties.f"+test.place+": ", test.want)
			if n := strings.Count(err.Error(), "\n"); n > 0 {
				t.Errorf("the problem is reported %d times, want once:\n%v", n+1, err)
			}
		})
	}
}

func TestOpenAPIErrorFields(t *testing.T) {
	_, err := loadProperty(t, `{type: file}`)
	var e *schema.Error
	if !errors.As(err, &e) {
		t.Fatalf("error is a %T, want a *schema.Error", err)
	}
	if e.Path != "definitions.Root.properties.f.type" || e.Received != `"file"` || e.Expected == "" {
		t.Errorf("error = %+v, want path definitions.Root.properties.f.type, received \"file\" and an expectation", e)
	}
}

func TestOpenAPIReportsAllProblems(t *testing.T) {
	_, err := loadProperty(t, `{type: object, properties: {a: {type: x}, b: {type: y}}}`)
	wantError(t, err, "f.properties.a.type", "f.properties.b.type")

	many := strings.Repeat("{type: x}, ", 100)
	_, err = loadProperty(t, `{type: object, properties: {a: {type: array, items: {type: object, properties: {`+
		withNames(many)+`}}}}}`)
	wantError(t, err, "and 80 more problems")
}

// withNames turns a comma-separated list of schemas into the fields of a map, with generated names.
func withNames(items string) string {
	var b strings.Builder
	for i, item := range strings.SplitAfter(strings.TrimSuffix(items, ", "), ", ") {
		b.WriteString("f" + strings.Repeat("x", i) + ": " + item)
	}
	return b.String()
}

func TestOpenAPIVersions(t *testing.T) {
	for name, text := range map[string]string{
		"2": `{swagger: "2.0", definitions: {Text: {type: string}}}`,
		"3": `{openapi: 3.0.0, components: {schemas: {Text: {type: string}}}}`,
	} {
		s, err := schema.LoadOpenAPI(parse(t, text))
		if err != nil {
			t.Fatalf("version %s: %v", name, err)
		}
		if text, ok := s.Type("Text"); !ok || text.Scalar != schema.String || text.Name != "Text" {
			t.Errorf("OpenAPI version %s: Type(Text) = %+v, want a string type with that name", name, text)
		}
	}
	s, err := schema.LoadOpenAPI(parse(t, `{openapi: 3.0.0, paths: {}}`))
	if err != nil {
		t.Fatalf("a document without types: %v", err)
	}
	if _, ok := s.Type("Text"); ok {
		t.Error("Type(Text) of a document without types: found, want not found")
	}
	for _, text := range []string{`{}`, `[]`, `null`, `{definitions: []}`, `{components: {schemas: 1}}`} {
		if _, err := schema.LoadOpenAPI(parse(t, text)); err == nil {
			t.Errorf("LoadOpenAPI(%s) succeeded, want an error", text)
		}
	}
}

func TestOpenAPIKinds(t *testing.T) {
	s, err := schema.LoadOpenAPI(parse(t, `
definitions:
  Zed: {type: object, x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: Deployment}]}
  Deployment: {type: object, x-kubernetes-group-version-kind: [{group: apps, version: v1, kind: Deployment}]}
  Options:
    type: object
    x-kubernetes-group-version-kind: [{group: "", version: v1, kind: Options}, {group: apps, version: v1, kind: Options}]
`))
	if err != nil {
		t.Fatal(err)
	}
	deployment, _ := s.Type("Deployment")
	if got, ok := s.Kind("apps", "v1", "Deployment"); !ok || got != deployment {
		t.Errorf("Kind(apps, v1, Deployment) = %v, want the type whose name sorts first", got)
	}
	core, _ := s.Kind("", "v1", "Options")
	apps, _ := s.Kind("apps", "v1", "Options")
	if core == nil || core != apps {
		t.Errorf("Kind for two kinds of one type: got %p and %p, want the same type", core, apps)
	}
	if _, ok := s.Kind("", "v2", "Options"); ok {
		t.Error("Kind() of an unknown kind: found, want not found")
	}
	for _, extension := range []string{`{}`, `[1]`, `[{group: "", version: v1}]`, `[{group: 1, version: v1, kind: A}]`} {
		_, err := schema.LoadOpenAPI(parse(t, `{definitions: {A: {type: object, x-kubernetes-group-version-kind: `+extension+`}}}`))
		wantError(t, err, "definitions.A.x-kubernetes-group-version-kind")
	}
}

func TestOpenAPIEscapedReferences(t *testing.T) {
	s, err := schema.LoadOpenAPI(parse(t, `
definitions:
  a/b~c: {type: string}
  List[a]: {type: boolean}
  Root:
    type: object
    properties: {a: {$ref: '#/definitions/a~1b~0c'}, b: {$ref: '#/definitions/List%5Ba%5D'}, c: {$ref: '#/definitions/List[a]'}}
`))
	if err != nil {
		t.Fatal(err)
	}
	root, _ := s.Type("Root")
	if got, want := topology(root), "{a: string, b: boolean, c: boolean}"; got != want {
		t.Errorf("topology of Root = %s, want %s", got, want)
	}
}

func TestSchemaTypesAreSorted(t *testing.T) {
	s, err := schema.LoadOpenAPI(parse(t, `{definitions: {b: {type: string}, c: {type: string}, a: {type: string}}}`))
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for name, typ := range s.Types() {
		names += name
		if typ.Name != name {
			t.Errorf("Types() yields %s with the type named %s, want the same name", name, typ.Name)
		}
		if name == "b" {
			break
		}
	}
	if names != "ab" {
		t.Errorf("Types() yields %s, want ab", names)
	}
}
