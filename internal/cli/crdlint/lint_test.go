package crdlint

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// definition returns a CustomResourceDefinition with one version per argument, which contains the properties of spec as YAML.
func definition(t *testing.T, properties ...string) document.Value {
	t.Helper()
	text := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shops.example.com}, spec: {versions: [`
	for i, p := range properties {
		text += fmt.Sprintf(`{name: v%d, served: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s}}}}}},`, i+1, p)
	}
	doc, err := document.ParseYAML([]byte(text + `]}}`))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestRules checks that each rule reports its topology, and that the corrected topology has no findings.
func TestRules(t *testing.T) {
	const keyed = `x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name]`
	for _, test := range []struct{ name, properties, want string }{
		{"list of objects", `a: {type: array, items: {type: object, required: [name], properties: {name: {type: string}}}}`,
			"warning list-without-type spec.a"},
		{"list of scalars", `a: {type: array, items: {type: string}}`, "note list-without-type spec.a"},
		{"explicitly atomic", `a: {type: array, x-kubernetes-list-type: atomic, items: {type: object, properties: {name: {type: string}}}}`, ""},
		{"set of scalars", `a: {type: array, x-kubernetes-list-type: set, items: {type: string}}`, ""},
		{"set of objects", `a: {type: array, x-kubernetes-list-type: set, items: {type: object}}`, "error set-of-values spec.a"},
		{"set of atomic objects", `a: {type: array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-map-type: atomic}}`, "note set-of-values spec.a"},
		{"set of numbers", `a: {type: array, x-kubernetes-list-type: set, items: {type: number}}`, "warning set-of-numbers spec.a"},
		{"conditions", `conditions: {type: array, items: {type: object, properties: {type: {type: string}}}}`, "warning conditions-atomic spec.conditions"},
		{"atomic conditions", `conditions: {type: array, x-kubernetes-list-type: atomic, items: {type: object}}`, "warning conditions-atomic spec.conditions"},
		{"required key", `a: {type: array, ` + keyed + `, items: {type: object, required: [name], properties: {name: {type: string}}}}`, ""},
		{"defaulted key", `a: {type: array, ` + keyed + `, items: {type: object, properties: {name: {type: string, default: x}}}}`, ""},
		{"optional key", `a: {type: array, ` + keyed + `, items: {type: object, properties: {name: {type: string}}}}`, "error key-optional spec.a"},
		{"undeclared key", `a: {type: array, ` + keyed + `, items: {type: object}}`, "error key-undeclared spec.a"},
		{"key of type object", `a: {type: array, ` + keyed + `, items: {type: object, required: [name], properties: {name: {type: object}}}}`, "error key-not-scalar spec.a"},
		{"nullable key", `a: {type: array, ` + keyed + `, items: {type: object, required: [name], properties: {name: {type: string, nullable: true}}}}`, "warning key-nullable spec.a"},
		{"key of type number", `a: {type: array, ` + keyed + `, items: {type: object, required: [name], properties: {name: {type: number}}}}`, "warning key-number spec.a"},
		{"key of two types", `a: {type: array, ` + keyed + `, items: {type: object, required: [name], properties: {name: {x-kubernetes-int-or-string: true}}}}`, "warning key-int-or-string spec.a"},
		{"no keys", `a: {type: array, x-kubernetes-list-type: map, items: {type: object}}`, "error list-without-keys spec.a"},
		{"atomic items", `a: {type: array, ` + keyed + `, items: {type: object, x-kubernetes-map-type: atomic, required: [name], properties: {name: {type: string}}}}`, "note keyed-item-atomic spec.a"},
		{"atomic map", `a: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}`, "warning map-atomic spec.a"},
		{"selector", `nodeSelector: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}`, ""},
		{"atomic reference", `a: {type: object, x-kubernetes-map-type: atomic, properties: {name: {type: string}, key: {type: string}}}`, ""},
		{"atomic struct", `a: {type: object, x-kubernetes-map-type: atomic, properties: {b: {type: string}, c: {type: string}, d: {type: string}, e: {type: string}, f: {type: string}}}`,
			"warning struct-atomic spec.a"},
		{"without schema", `a: {type: object, x-kubernetes-preserve-unknown-fields: true}`, "note map-without-schema spec.a"},
		{"set in an atomic list", `a: {type: array, x-kubernetes-list-type: atomic, items: {type: object, properties: {b: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}}`,
			"note topology-in-atomic spec.a[].b"},
		{"in a map", `a: {type: object, additionalProperties: {type: array, items: {type: string}}}`, "note list-without-type spec.a[*]"},
		{"name with a dot", `"a.b": {type: array, items: {type: string}}`, `note list-without-type spec["a.b"]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, err := Lint(definition(t, test.properties))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%s %s %s", f.Severity, f.Rule, f.Field))
				if f.Reason == "" || f.Fix == "" || !strings.HasPrefix(f.Path, "spec.versions[0].schema.openAPIV3Schema.properties.spec.") {
					t.Errorf("finding %+v: want a reason, a fix and a path in the definition", f)
				}
			}
			if strings.Join(got, ", ") != test.want {
				t.Errorf("findings = %q, want %q", got, test.want)
			}
		})
	}
}

// TestFix checks that the suggested keys are properties that identify an item.
func TestFix(t *testing.T) {
	for _, test := range []struct{ items, want string }{
		{`required: [name, id], properties: {id: {type: string}, name: {type: string}}`, "[name];"},
		{`properties: {name: {type: string}}`, "[name], and add name to required;"},
		{`required: [port], properties: {port: {type: integer}, protocol: {type: string, default: TCP}}`, "[port, protocol];"},
		{`required: [port], properties: {port: {type: integer}, protocol: {type: string}}`, "[port];"},
		{`required: [flavour], properties: {flavour: {type: string}}`, "[flavour];"},
		{`required: [a, b], properties: {a: {type: string}, b: {type: string}}`, "add a required property"},
		{`required: [name], properties: {name: {type: string, nullable: true}}`, "add a required property"},
	} {
		found, err := Lint(definition(t, `a: {type: array, items: {type: object, `+test.items+`}}`))
		if err != nil || len(found) != 1 || !strings.Contains(found[0].Fix, test.want) {
			t.Errorf("%s: findings = %v, %v, want one whose fix contains %q", test.items, found, err, test.want)
		}
	}
}

func TestVersionsDiffer(t *testing.T) {
	found, err := Lint(definition(t,
		`a: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}, b: {type: object}`,
		`a: {type: array, x-kubernetes-list-type: set, items: {type: string}}, b: {type: object}`))
	if err != nil || len(found) != 1 || found[0].Rule != "versions-differ" || found[0].Version != "v2" || found[0].Field != "spec.a" {
		t.Errorf("findings = %v, %v, want versions-differ of spec.a at v2", found, err)
	}
}

func TestVersionRules(t *testing.T) {
	doc, err := document.ParseYAML([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shops.example.com}, spec: {versions: [
		{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {status: {type: object}}}}},
		{name: v2, served: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {status: {type: object}}}}},
		{name: v3, served: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}},
		{name: v4, served: false}, {name: v5, served: true}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	found, err := Lint(doc)
	var got []string
	for _, f := range found {
		got = append(got, f.Version+" "+f.Rule)
	}
	want := []string{"v1 status-without-subresource", "v3 version-without-schema", "v5 version-without-schema"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("findings = %q, %v, want %q", got, err, want)
	}
}

func TestNotADefinition(t *testing.T) {
	for _, text := range []string{
		`[]`, `{kind: Pod}`, `{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1beta1}`,
		`{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, spec: {}}`,
	} {
		doc, err := document.ParseYAML([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if found, err := Lint(doc); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: Lint = %v, %v, want an error with the expected content", text, found, err)
		}
	}
}
