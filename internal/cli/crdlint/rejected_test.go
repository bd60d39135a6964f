package crdlint

import (
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// complete is a definition that kube-apiserver accepts, with the placeholder PROPERTIES for the schema of spec.
const complete = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: shops.example.com}, spec: {
  group: example.com, scope: Namespaced, names: {kind: Shop, plural: shops}, versions: [
    {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {PROPERTIES}}}}}},
    {name: v2, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}]}}`

func rejections(t *testing.T, text string) []Finding {
	t.Helper()
	doc, err := document.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	found, err := Lint(doc)
	if err != nil {
		t.Fatal(err)
	}
	rejections, err := Rejections(doc, found)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(found, rejections)
}

// TestRejections checks that errors of kube-apiserver's validation are findings, with the path in the form of the other rules.
func TestRejections(t *testing.T) {
	const spec = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties"
	for _, test := range []struct{ name, properties, path, reason string }{
		{"valid", `a: {type: string}`, "", ""},
		{"no type", `a: {}`, spec + ".a.type", "must not be empty for specified object fields"},
		{"default of another type", `a: {type: integer, default: x}`, spec + ".a.default", "must be of type integer"},
		{"type in anyOf", `a: {type: string, anyOf: [{type: string}]}`, spec + ".a.anyOf[0].type", "must be empty to be structural"},
		{"invalid pattern", `a: {type: string, pattern: "["}`, spec + ".a.pattern", "must be a valid regular expression"},
		{"invalid rule", `a: {type: string, x-kubernetes-validations: [{rule: "self ="}]}`, spec + ".a.x-kubernetes-validations[0].rule", "compilation failed"},
		{"properties and additionalProperties", `a: {type: object, properties: {b: {type: string}}, additionalProperties: {type: string}}`, spec + ".a.additionalProperties", "mutual exclusive"},
		{"list type of a map", `a: {type: object, x-kubernetes-list-type: set}`, spec + ".a.type", "must be array if x-kubernetes-list-type is specified"},
		{"unknown map type", `a: {type: object, x-kubernetes-map-type: merge}`, spec + ".a.x-kubernetes-map-type", "Unsupported value"},
		{"uniqueItems", `a: {type: array, uniqueItems: true, x-kubernetes-list-type: atomic, items: {type: string}}`, spec + ".a.uniqueItems", "uniqueItems cannot be set to true"},
		{"name with a dot", `"a.b": {type: integer, default: x}`, `spec.versions[0].schema.openAPIV3Schema.properties.spec.properties["a.b"].default`, "must be of type integer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := rejections(t, strings.Replace(complete, "PROPERTIES", test.properties, 1))
			if test.path == "" {
				if len(found) > 0 {
					t.Errorf("received %+v, want no findings", found)
				}
				return
			}
			matches := func(f Finding) bool {
				return f.Path == test.path && f.Rule == "rejected" && f.Severity == Error && f.Version == "v1" && strings.Contains(f.Reason, test.reason)
			}
			if !slices.ContainsFunc(found, matches) {
				t.Errorf("received %+v, want a rejection at %s with %q", found, test.path, test.reason)
			}
		})
	}
}

// TestRejectionsOfTheDefinition checks errors outside of schemas, and of versions that are not served.
func TestRejectionsOfTheDefinition(t *testing.T) {
	valid := strings.Replace(complete, "PROPERTIES", "", 1)
	for _, test := range []struct{ old, new, path, version string }{
		{"name: shops.example.com", "name: shop.example.com", "metadata.name", ""},
		{"scope: Namespaced", "scope: Local", "spec.scope", ""},
		{"storage: false", "storage: true", "spec.versions", ""},
		{"served: false, storage: false, schema: {openAPIV3Schema: {type: object}}", "served: false, storage: false, schema: {openAPIV3Schema: {type: array}}", "spec.versions[1].schema.openAPIV3Schema.type", "v2"},
	} {
		found := rejections(t, strings.Replace(valid, test.old, test.new, 1))
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.Path == test.path && f.Version == test.version && f.Rule == "rejected" }) {
			t.Errorf("%s: received %+v, want a rejection at %s of version %q", test.new, found, test.path, test.version)
		}
	}
}

// TestRejectionsAreReportedOnce checks that an error that another rule explains is not reported again.
func TestRejectionsAreReportedOnce(t *testing.T) {
	const keyed = `type: array, x-kubernetes-list-type: map`
	for name, properties := range map[string]string{
		"list-without-keys": `a: {` + keyed + `, items: {type: object}}`,
		"key-undeclared":    `a: {` + keyed + `, x-kubernetes-list-map-keys: [name], items: {type: object}}`,
		"key-optional":      `a: {` + keyed + `, x-kubernetes-list-map-keys: [name], items: {type: object, properties: {name: {type: string}}}}`,
		"set-of-values":     `a: {type: array, x-kubernetes-list-type: set, items: {type: object}}`,
	} {
		found := rejections(t, strings.Replace(complete, "PROPERTIES", properties, 1))
		if len(found) != 1 || found[0].Rule != name {
			t.Errorf("received %+v, want only %s", found, name)
		}
	}
}

// TestRejectionsOfTheOnlyVersion checks the path of errors in the schema that all versions share.
func TestRejectionsOfTheOnlyVersion(t *testing.T) {
	text := strings.Replace(complete, "PROPERTIES", "a: {}", 1)
	text = text[:strings.Index(text, "\n    {name: v2")] + "]}}"
	found := rejections(t, text)
	if len(found) != 1 || found[0].Path != "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a.type" || found[0].Version != "v1" {
		t.Errorf("received %+v, want a rejection of the type of a", found)
	}
}
