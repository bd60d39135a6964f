package policy

import (
	"strings"
	"testing"

	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/cadastre/cadastre/internal/api/celexpr"
)

// evaluated returns the value of an expression that can use the patch types of mutations. object is the value of its variable
// object.
func evaluated(t *testing.T, expression string, object any) ref.Val {
	t.Helper()
	role := celexpr.Variable
	declarations := celexpr.ApplyPatch.VariableDeclarations(false)
	result := celexpr.Compiler().CompileCELExpression(&celexpr.Expression{Text: expression, Role: role}, declarations, environment.StoredExpressions)
	if result.Error != nil {
		t.Fatalf("compile %s: %v", expression, result.Error)
	}
	value, _, err := result.Program.Eval(map[string]any{"object": object})
	if err != nil {
		t.Fatalf("evaluate %s: %v", expression, err)
	}
	return value
}

// TestDocumentOf checks that CEL values become documents with the values that the expression states.
func TestDocumentOf(t *testing.T) {
	object := map[string]any{"spec": map[string]any{"n": int64(7), "f": 1.5, "list": []any{map[string]any{"a": "b"}, nil}, "none": nil}}
	for _, test := range []struct{ expression, want string }{
		{`Object{}`, `{}`},
		{`Object{a: Object.a{b: 1, c: -2, d: 3u, e: 1.5, f: "x", g: true, h: null}}`, `{"a":{"b":1,"c":-2,"d":3,"e":1.5,"f":"x","g":true,"h":null}}`},
		{`Object{a: 9007199254740993, b: 18446744073709551615u}`, `{"a":9007199254740993,"b":18446744073709551615}`},
		{`Object{a: [], b: {}, c: [[1], []]}`, `{"a":[],"b":{},"c":[[1],[]]}`},
		{`Object{a: {"x/y": "z"}, b: {"m": {"n": 1}}}`, `{"a":{"x/y":"z"},"b":{"m":{"n":1}}}`},
		{`Object{a: [{"x": "y"}, {"x": "z"}]}`, `{"a":[{"x":"y"},{"x":"z"}]}`},
		{`Object{a: [Object.a{b: [Object.a.b{c: 1}]}]}`, `{"a":[{"b":[{"c":1}]}]}`},
		{`Object{a: Object.a{k8s_io__value: "unset"}, b: {"c": {"k8s_io__value": "unset"}}}`, `{"a":{"k8s_io__value":"unset"},"b":{"c":{"k8s_io__value":"unset"}}}`},
		{`Object{a: object.spec}`, `{"a":{"f":1.5,"list":[{"a":"b"},null],"n":7,"none":null}}`},
		{`Object{a: object.spec.list, b: [object.spec.list[0]]}`, `{"a":[{"a":"b"},null],"b":[{"a":"b"}]}`},
		{`Object{a: "a,b".split(","), b: object.spec.list.map(x, 1)}`, `{"a":["a","b"],"b":[1,1]}`},
		{`Object{a: {"b": 1}.transformMap(k, v, v + 1)}`, `{"a":{"b":2}}`},
		{`Object{?a: optional.none(), ?b: optional.of("x")}`, `{"b":"x"}`},
		{`Object{a: timestamp("2026-01-02T03:04:05Z"), b: duration("90s"), c: b"abc"}`, `{"a":"2026-01-02T03:04:05Z","b":"90s","c":"YWJj"}`},
		{`{"a": Object.b{c: 1}}`, `{"a":{"c":1}}`},
		{`[1, 2]`, `[1,2]`},
		{`quantity("1Gi").isGreaterThan(quantity("1Mi"))`, `true`},
	} {
		got, err := documentOf(evaluated(t, test.expression, object))
		if err != nil || got.JSON() != test.want {
			t.Errorf("%s: received %s, %v, want %s", test.expression, got.JSON(), err, test.want)
		}
	}
}

// TestDocumentOfErrors checks that a value that JSON cannot represent is an error with its path.
func TestDocumentOfErrors(t *testing.T) {
	for _, test := range []struct{ expression, want string }{
		{`Object{a: {1: "x"}}`, "not string"},
		{`Object{a: [{"b": {true: "x"}}]}`, ".a[0].b: map key"},
		{`Object{a: [quantity("1Gi")]}`, ".a[0]: "},
		{`Object{a: [1.0 / 0.0]}`, "number that JSON can express"},
		{`Object{a: Object.a{b: null}}`, ".a.b: expected a value, received null"},
	} {
		if got, err := configurationOf(evaluated(t, test.expression, nil)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: received %s, %v, want an error that contains %q", test.expression, got.JSON(), err, test.want)
		}
	}
}
