package structural

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// options are the Options with which the tests compile their schemas.
var options = Options{Group: "example.com", Version: "v1", Kind: "Thing", Namespaced: true}

// testObject returns a valid object with the given spec.
func testObject(spec string) string {
	return `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","namespace":"b","resourceVersion":"1"},"spec":` + spec + `}`
}

// schemaOf returns the schema of an object whose field spec has the given schema.
func schemaOf(spec string) string {
	return `{"type":"object","properties":{"spec":` + spec + `}}`
}

func compile(t testing.TB, schema string) *Type {
	t.Helper()
	typ, err := Compile(parse(t, schema), options)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return typ
}

func parse(t testing.TB, text string) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

const listOfPorts = `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],"items":{"type":"object",
	"required":["port"],"properties":{"port":{"type":"integer"},"protocol":{"type":"string","default":"TCP"},"note":{"type":"string","maxLength":3}}}}`

// decodeTests are schemas and objects with the expected results of decoding and defaulting, and the expected unknown fields.
var decodeTests = []struct {
	name, schema, sent, want string
	unknown                  []string
}{
	{"unknown fields", `{"type":"object","properties":{"a":{"type":"object"}}}`, `{"a":{"b":1},"c":[{"d":1}]}`, `{"a":{}}`, []string{"spec.a.b", "spec.c"}},
	{"preserved fields", `{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"object"}}}`,
		`{"a":{"b":1},"c":{"d":1}}`, `{"a":{},"c":{"d":1}}`, []string{"spec.a.b"}},
	{"unknown fields of items", `{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}}}}`, `[{"a":1,"b":1},{"b":[{}]}]`, `[{"a":1},{}]`,
		[]string{"spec[0].b", "spec[1].b"}},
	{"preserved items", `{"type":"array","x-kubernetes-preserve-unknown-fields":true,"items":{"type":"object"}}`, `[{"b":1}]`, `[{"b":1}]`, nil},
	{"additional fields without schema", `{"type":"object","additionalProperties":true}`, `{"a":{"b":1},"c":2}`, `{"a":{},"c":2}`, []string{"spec.a.b"}},
	{"nulls", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","nullable":true},"c":{"type":"string","default":"x"}}}`,
		`{"a":null,"b":null,"c":null}`, `{"b":null,"c":"x"}`, nil},
	{"nullable", `{"type":"object","properties":{"a":{"type":"string","nullable":true,"default":"x"}}}`, `{"a":null}`, `{"a":null}`, nil},
	{"defaults of embedded resources", `{"type":"object","properties":{"a":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,
		"default":{"apiVersion":null,"kind":"Pod","metadata":{"generation":"x","name":"a"}}}}}`, `{}`, `{"a":{"kind":"Pod","metadata":{"name":"a"}}}`, nil},
	{"nulls in lists", `{"type":"array","items":{"type":"string"}}`, `[null,"a"]`, `[null,"a"]`, nil},
	{"null items with a default", `{"type":"array","items":{"type":"string","default":"x"}}`, `[null,"a"]`, `["x","a"]`, nil},
	{"defaults in defaults", `{"type":"object","properties":{"a":{"type":"object","default":{},"properties":{"b":{"type":"integer","default":3}}}}}`, `{}`, `{"a":{"b":3}}`, nil},
	{"pruned defaults", `{"type":"object","properties":{"a":{"type":"object","default":{"x":1},"properties":{"b":{"type":"integer"}}}}}`, `{}`, `{"a":{}}`, nil},
	{"defaults around fields", `{"type":"object","properties":{"a":{"type":"string","default":"1"},"c":{"type":"string","default":"3"},"b":{"type":"string"}}}`,
		`{"b":"2"}`, `{"a":"1","b":"2","c":"3"}`, nil},
	{"defaults of keys", listOfPorts, `[{"port":1},{"port":2,"protocol":"UDP"}]`, `[{"port":1,"protocol":"TCP"},{"port":2,"protocol":"UDP"}]`, nil},
	{"embedded resource", `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","foo":1,"labels":{}},"spec":{}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","labels":{}},"spec":{}}`, []string{"spec.metadata.foo"}},
}

func TestDecode(t *testing.T) {
	for _, test := range decodeTests {
		t.Run(test.name, func(t *testing.T) {
			typ := compile(t, schemaOf(test.schema))
			read, unknown, err := typ.Decode(parse(t, testObject(test.sent)))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(unknown, test.unknown) {
				t.Errorf("Decode(): got unknown fields %q, want %q", unknown, test.unknown)
			}
			got := typ.Default(read)
			if want := parse(t, testObject(test.want)); !document.Equal(got, want) {
				t.Errorf("Default(Decode()):\ngot  %s\nwant %s", got, want)
			}
			if again, _, _ := typ.Decode(got); !document.Same(typ.Default(again), got) {
				t.Errorf("Decode() of a decoded and defaulted object:\ngot  %s\nwant %s", again, got)
			}
		})
	}
}

func TestDecodeRejectsMalformedObjects(t *testing.T) {
	embedded := compile(t, schemaOf(`{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`))
	for _, test := range []struct{ sent, want string }{
		{`[]`, `expected an object, received a list`},
		{`{"kind":3}`, `.kind accessor error: 3 is of the type int64, expected string`},
		{`{"apiVersion":"a/b/c"}`, `unexpected GroupVersion string: a/b/c`},
		{`{"metadata":{"labels":{"a":1}}}`, `json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string (labels.a: expected a string, received 1)`},
		{`{"spec":{"kind":3},"metadata":"x"}`, `json: cannot unmarshal string into Go value of type v1.ObjectMeta (expected a map, received "x")`},
		{`{"spec":{"kind":3}}`, `spec.kind: Invalid value: 3: must be a string`},
		{`{"spec":{"metadata":3}}`, `spec.metadata: Invalid value: 3: json: cannot unmarshal number into Go value of type v1.ObjectMeta (expected a map, received 3)`},
	} {
		if _, _, err := embedded.Decode(parse(t, test.sent)); err == nil || err.Error() != test.want {
			t.Errorf("Decode(%s):\ngot error %v\nwant      %s", test.sent, err, test.want)
		}
	}
}

// invalidObjects are schemas and invalid objects with the expected validation errors.
var invalidObjects = []struct {
	name, schema, spec string
	want               []string
}{
	{"types", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"x-kubernetes-int-or-string":true}}}`, `{"a":1,"b":1.5,"c":true}`, []string{
		`spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"`,
		`spec.b: Invalid value: "number": spec.b in body must be of type integer: "number"`,
		`<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.b`,
		`spec.c: Invalid value: "boolean": spec.c in body must be of type integer,string: "boolean"`}},
	{"sizes", `{"type":"object","maxProperties":1,"properties":{"a":{"type":"array","minItems":2,"items":{"type":"string","maxLength":1}}}}`, `{"a":["éé"],"b":1}`, []string{
		`spec: Too many: 2: must have at most 1 item`,
		`spec.a[0]: Too long: may not be more than 1 byte`,
		`spec.a: Invalid value: 1: spec.a in body should have at least 2 items`}},
	{"required field", `{"type":"object","required":["a"]}`, `{}`, []string{`spec.a: Required value`}},
	{"enumerations", `{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}}}`, `{"a":"z"}`, []string{`spec.a: Unsupported value: "z": supported values: "x", "y"`}},
	{"numbers", `{"type":"object","properties":{"a":{"type":"integer","maximum":3,"exclusiveMaximum":true,"multipleOf":2}}}`, `{"a":3}`, []string{
		`spec.a: Invalid value: 3: spec.a in body should be a multiple of 2`, `spec.a: Invalid value: 3: spec.a in body should be less than 3`}},
	{"oneOf", `{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}],"x-kubernetes-preserve-unknown-fields":true}`, `{"a":1,"b":2}`, []string{
		`<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives`}},
	{"anyOf reports the best match", `{"type":"object","anyOf":[{"required":["a"]},{"required":["b","c"]}],"x-kubernetes-preserve-unknown-fields":true}`, `{"b":2}`, []string{
		`<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)`, `spec.a: Required value`}},
	{"not", `{"type":"object","not":{"required":["a"]},"x-kubernetes-preserve-unknown-fields":true}`, `{"a":1}`, []string{
		`<nil>: Invalid value: "": "spec" must not validate the schema (not)`}},
	{"formats", `{"type":"object","properties":{"a":{"type":"string","format":"date-time"}}}`, `{"a":"x"}`, []string{
		`spec.a: Invalid value: "x": spec.a in body must be of type date-time: "x"`}},
	{"duplicate keys", listOfPorts, `[{"port":1,"protocol":"TCP"},{"port":1,"protocol":"UDP"},{"port":1,"protocol":"TCP"}]`, []string{
		`spec[2]: Duplicate value: {"port":1,"protocol":"TCP"}`}},
	{"items that are not maps", listOfPorts, `[{"port":1,"protocol":"TCP"},"x"]`, []string{
		`spec[1]: Invalid value: "string": spec[1] in body must be of type object: "string"`,
		`spec[1]: Invalid value: "x": must be an object for an array of list-type map`}},
	{"duplicate items", `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}`, `["a","b","a","a"]`, []string{`spec[2]: Duplicate value: "a"`}},
	{"embedded resource", `{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`, `{"kind":"a b","metadata":{"name":".."}}`, []string{
		`spec.apiVersion: Required value`,
		`spec.kind: Invalid value: "a b": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')`,
		`spec.metadata.name: Invalid value: "..": may not be '..'`}},
	{"rules", `{"type":"object","properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"self.a > 3","message":"be large"}]}`, `{"a":3}`, []string{
		`spec: Invalid value: be large`}},
	{"rules skipped after type errors", `{"type":"object","properties":{"a":{"type":"integer"}},"x-kubernetes-validations":[{"rule":"self.a > 3"}]}`, `{"a":"x"}`, []string{
		`spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"`,
		`<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`}},
}

func TestValidate(t *testing.T) {
	for _, test := range invalidObjects {
		t.Run(test.name, func(t *testing.T) {
			typ := compile(t, schemaOf(test.schema))
			obj := parse(t, testObject(test.spec))
			if got := messages(typ.Validate(obj, document.Value{})); !slices.Equal(got, test.want) {
				t.Errorf("Validate():\ngot  %q\nwant %q", got, test.want)
			}
		})
	}
}

func messages(errs field.ErrorList) (all []string) {
	for _, e := range errs {
		all = append(all, e.Error())
	}
	return all
}

// updateTests are updates of invalid objects with the expected validation errors; errors that are not listed are ratcheted.
var updateTests = []struct {
	name, schema, old, now string
	want                   []string
}{
	{"unchanged field", `{"type":"object","properties":{"a":{"type":"string","maxLength":1},"b":{"type":"string"}}}`, `{"a":"xx","b":"1"}`, `{"a":"xx","b":"2"}`, nil},
	{"changed field", `{"type":"object","properties":{"a":{"type":"string","maxLength":1}}}`, `{"a":"xx"}`, `{"a":"yy"}`, []string{
		`spec.a: Too long: may not be more than 1 byte`}},
	{"unchanged item of a map", listOfPorts, `[{"port":1,"protocol":"TCP","note":"long"}]`,
		`[{"port":2,"protocol":"TCP"},{"port":1,"protocol":"TCP","note":"long"}]`, nil},
	{"item of an atomic list", `{"type":"array","items":{"type":"string","maxLength":1}}`, `["xx"]`, `["xx","y"]`, []string{`spec[0]: Too long: may not be more than 1 byte`}},
	{"unchanged list", `{"type":"array","items":{"type":"string","maxLength":1}}`, `["xx"]`, `["xx"]`, nil},
	{"allOf is not ratcheted", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"allOf":[{"properties":{"a":{"maxLength":1}}}]}`,
		`{"a":"xx"}`, `{"a":"xx","b":"y"}`, []string{`spec.a: Too long: may not be more than 1 byte`, `<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated`}},
	{"duplicates in the old object", `{"type":"object","properties":{"a":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}}`,
		`{"a":["x","x"]}`, `{"a":["y","y"]}`, nil},
	{"transition rules", `{"type":"object","properties":{"a":{"type":"integer","x-kubernetes-validations":[{"rule":"self >= oldSelf","message":"only up"}]}}}`, `{"a":3}`, `{"a":2}`, []string{
		`spec.a: Invalid value: 2: only up`}},
}

func TestValidateUpdate(t *testing.T) {
	for _, test := range updateTests {
		t.Run(test.name, func(t *testing.T) {
			typ := compile(t, schemaOf(test.schema))
			if got := messages(typ.Validate(parse(t, testObject(test.now)), parse(t, testObject(test.old)))); !slices.Equal(got, test.want) {
				t.Errorf("Validate() of an update:\ngot  %q\nwant %q", got, test.want)
			}
		})
	}
}

// TestRulesCostBudget checks that validation stops with an error if the CEL rules of a schema, each of which is within its
// cost limit, together exceed the cost budget.
func TestRulesCostBudget(t *testing.T) {
	const numbers = "[0,1,2,3,4,5,6,7,8,9]"
	rule := fmt.Sprintf(`{"rule":"%[1]s.all(a, %[1]s.all(b, %[1]s.all(c, %[1]s.all(d, %[1]s.all(e, e < 10)))))"}`, numbers)
	typ := compile(t, schemaOf(`{"type":"object","x-kubernetes-validations":[`+strings.Repeat(rule+",", 29)+rule+`],"properties":{"a":{"type":"integer"}}}`))
	few := compile(t, schemaOf(`{"type":"object","x-kubernetes-validations":[`+rule+`],"properties":{"a":{"type":"integer"}}}`))
	value, old := parse(t, testObject(`{"a":2}`)), parse(t, testObject(`{"a":1}`))
	for _, before := range []document.Value{{}, old} {
		if got := messages(few.Validate(value, before)); len(got) != 0 {
			t.Errorf("Validate() with one rule = %q, want none", got)
		}
		if got := messages(typ.Validate(value, before)); len(got) != 1 || !strings.Contains(got[0], "validation failed due to running out of cost budget, no further validation rules will be run") {
			t.Errorf("Validate() = %q, want an exceeded cost budget", got)
		}
	}
}

func TestRatchetedRulesYieldWarnings(t *testing.T) {
	typ := compile(t, schemaOf(`{"type":"object","properties":{"a":{"type":"integer","x-kubernetes-validations":[{"rule":"self > 3","message":"be large"}]},"b":{"type":"string"}}}`))
	errs, warnings := typ.Check(parse(t, testObject(`{"a":1,"b":"y"}`)), parse(t, testObject(`{"a":1,"b":"x"}`)))
	if len(errs) > 0 || !slices.Equal(warnings, []string{`spec.a: Invalid value: 1: be large`}) {
		t.Errorf("Check() of an unchanged value that violates a rule: got errors %v and warnings %q, want only a warning", errs, warnings)
	}
}
