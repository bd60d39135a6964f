package strategic

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/cadastre/cadastre/document"
)

// loadKubernetes loads the OpenAPI document of Kubernetes from the test data of kube-openapi.
func loadKubernetes(t testing.TB) *Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kube-openapi").Output()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "pkg/schemaconv/testdata/swagger.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.ParseJSONLimited(text, document.Limits{MaxBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	s, err := LoadOpenAPI(doc)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOpenAPIEqualsGoTags checks that the OpenAPI document and the Go tags of Kubernetes declare the same patch
// strategies. It compares only fields that both declare, because they may be from different releases.
func TestOpenAPIEqualsGoTags(t *testing.T) {
	s := loadKubernetes(t)
	declared, compared := 0, 0
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		if fromDocument, ok := s.Kind(gvk.Group, gvk.Version, gvk.Kind); ok && slices.Contains(kinds, typ) {
			compared++
			declared += compareStrategies(t, gvk.Kind, mustType(t, typ), fromDocument, map[*Type]bool{})
		}
	}
	t.Logf("%d strategies of %d kinds", declared, compared)
	if compared < 50 || declared < 250 {
		t.Errorf("%d strategies of %d kinds compared, want at least 250 of 50", declared, compared)
	}
}

// compareStrategies reports the differences between the patch strategies of the types a and b as test failures,
// recursively. declared is the number of fields that have a patch strategy in both types.
func compareStrategies(t *testing.T, at string, a, b *Type, seen map[*Type]bool) (declared int) {
	if a == nil || b == nil || seen[a] {
		return 0
	}
	seen[a] = true
	a.field("") // makes the Type load its fields
	for name, f := range a.fields {
		g := b.fields[name]
		if g == nil {
			continue
		}
		if f.strategy != g.strategy && name != "key" { // older releases declare a strategy for the field key of match expressions
			t.Errorf("%s.%s: strategy of Go tags %+v, of OpenAPI %+v, want the same", at, name, f.strategy, g.strategy)
		}
		if f.strategy != (strategy{}) {
			declared++
		}
		declared += compareStrategies(t, at+"."+name, f.typ, g.typ, seen)
	}
	return declared
}

// customSchema is an OpenAPI document with a kind that has no Go type, and with unions in every form.
const customSchema = `
openapi: 3.0.0
components:
  schemas:
    io.example.Thing:
      type: object
      x-kubernetes-group-version-kind: [{group: example.io, version: v1, kind: Thing}]
      properties:
        plain: {allOf: [{$ref: '#/components/schemas/io.example.Union'}]}
        unionName: {allOf: [{$ref: '#/components/schemas/io.example.Union'}], x-kubernetes-patch-strategy: retainKeys}
        inlined:
          type: array
          x-kubernetes-patch-strategy: merge,retainKeys
          x-kubernetes-patch-merge-key: id
          items: {$ref: '#/components/schemas/io.example.Union'}
        byName: {type: object, additionalProperties: {type: object, properties: {tags: {type: array, items: {type: string}, x-kubernetes-patch-strategy: merge}}}}
    io.example.Union:
      type: object
      properties:
        id: {type: string}
        discriminatorName: {type: string}
        fooField: {type: object, properties: {fooSubfield: {type: string}}}
        barField: {type: object, properties: {barSubfield: {type: string}}}
`

func customType(t testing.TB) *Type {
	t.Helper()
	s, err := LoadOpenAPI(mustParse(t, customSchema))
	if err != nil {
		t.Fatal(err)
	}
	thing, ok := s.Kind("example.io", "v1", "Thing")
	if named, found := s.Type("io.example.Thing"); !ok || !found || named != thing {
		t.Fatal("Kind() and Type() return different types, want the same")
	}
	return thing
}

// TestRetainKeysOfCustomKinds checks patches of unions: a computed patch contains $retainKeys exactly where the patch
// strategy retainKeys is declared, and merging it returns the modified object.
func TestRetainKeysOfCustomKinds(t *testing.T) {
	typ := customType(t)
	for _, c := range []struct{ name, live, modified, patch string }{
		{"discriminated",
			`{unionName: {discriminatorName: foo, fooField: {fooSubfield: val1}}}`,
			`{unionName: {discriminatorName: bar, barField: {barSubfield: val2}}}`,
			`{unionName: {$retainKeys: [barField, discriminatorName], discriminatorName: bar, barField: {barSubfield: val2}, fooField: null}}`},
		{"not discriminated",
			`{unionName: {fooField: {fooSubfield: val1}}}`, `{unionName: {barField: {barSubfield: val2}}}`,
			`{unionName: {$retainKeys: [barField], barField: {barSubfield: val2}, fooField: null}}`},
		{"inlined",
			`{inlined: [{id: a, fooField: {}}, {id: b, fooField: {}}]}`, `{inlined: [{id: a, barField: {}}, {id: b, fooField: {}}]}`,
			`{inlined: [{$retainKeys: [barField, id], id: a, barField: {}, fooField: null}], $setElementOrder/inlined: [{id: a}, {id: b}]}`},
		{"without the strategy",
			`{plain: {fooField: {fooSubfield: val1}}}`, `{plain: {barField: {barSubfield: val2}}}`,
			`{plain: {barField: {barSubfield: val2}, fooField: null}}`},
		{"inside a map element",
			`{byName: {x: {tags: [a]}}}`, `{byName: {x: {tags: [a, b]}}}`,
			`{byName: {x: {tags: [b], $setElementOrder/tags: [a, b]}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			live, modified := mustParse(t, c.live), mustParse(t, c.modified)
			patch, err := Diff(live, modified, typ)
			if err != nil || !document.Equal(patch, mustParse(t, c.patch)) {
				t.Errorf("Diff() = %s, %v\nwant %s", patch, err, mustParse(t, c.patch))
			}
			if got, err := Merge(live, patch, typ); err != nil || !document.Equal(got, modified) {
				t.Errorf("Merge() = %s, %v\nwant %s", got, err, modified)
			}
		})
	}
}

// TestRetainKeysRemovesForeignFields: $retainKeys removes a live field that the last applied configuration did not
// contain.
func TestRetainKeysRemovesForeignFields(t *testing.T) {
	typ := mustType(t, deployment)
	original := mustParse(t, `{spec: {replicas: 1}}`)
	modified := mustParse(t, `{spec: {replicas: 1, strategy: {type: Recreate}}}`)
	current := mustParse(t, `{spec: {replicas: 1, strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`)
	patch, err := ThreeWay{Type: typ, Overwrite: true, Immutable: KubectlImmutable()}.Diff(original, modified, current)
	if err != nil {
		t.Fatal(err)
	}
	if want := mustParse(t, `{spec: {strategy: {$retainKeys: [type], type: Recreate}}}`); !document.Equal(patch, want) {
		t.Errorf("Diff() = %s, want %s", patch, want)
	}
	if got, err := Merge(current, patch, typ); err != nil || !document.Equal(got, modified) {
		t.Errorf("Merge() = %s, %v, want %s", got, err, modified)
	}
}

func TestInvalidStrategies(t *testing.T) {
	_, err := LoadOpenAPI(mustParse(t, `{definitions: {Foo: {properties: {
	  a: {type: array, x-kubernetes-patch-strategy: mrge},
	  b: {type: array, x-kubernetes-patch-strategy: "merge,replace"}}}}}`))
	if err == nil || !strings.Contains(err.Error(), `Foo.a: patch strategy: expected merge, replace or retainKeys, received "mrge"`) ||
		!strings.Contains(err.Error(), `Foo.b`) {
		t.Errorf("LoadOpenAPI() error = %v, want both invalid strategies", err)
	}
	if _, err := LoadOpenAPI(mustParse(t, `{}`)); err == nil {
		t.Error("LoadOpenAPI({}) succeeded, want an error")
	}
	if _, err := FromGoType(reflect.TypeFor[string]()); err == nil {
		t.Error("FromGoType(string) succeeded, want an error")
	}
}

// TestCyclicAndDeepSchemas: cyclic, unresolved and deeply nested schemas do not cause endless recursion.
func TestCyclicAndDeepSchemas(t *testing.T) {
	s, err := LoadOpenAPI(mustParse(t, `{definitions: {
	  A: {$ref: '#/definitions/B'}, B: {$ref: '#/definitions/A'},
	  C: {properties: {a: {$ref: '#/definitions/A'}, c: {$ref: '#/definitions/C'}, gone: {$ref: '#/definitions/None'}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := s.Type("C")
	got, err := Merge(mustParse(t, `{a: {x: 1}, c: {c: {a: 1}}, gone: {y: [1]}}`), mustParse(t, `{a: {x: 2}, c: {c: {a: null}}, gone: {y: [2]}}`), c)
	if err != nil || !document.Equal(got, mustParse(t, `{a: {x: 2}, c: {c: {}}, gone: {y: [2]}}`)) {
		t.Errorf("Merge() = %s, %v, want {a: {x: 2}, c: {c: {}}, gone: {y: [2]}}", got, err)
	}
	deep := strings.Repeat(`{"properties":{"a":`, 500) + `{}` + strings.Repeat("}}", 500)
	if _, err := LoadOpenAPI(mustParse(t, `{"definitions":{"A":`+deep+`}}`)); err == nil {
		t.Error("LoadOpenAPI() accepts a schema nested 500 levels deep, want an error")
	}
}

// TestEmbeddedFields: the fields of an embedded struct are fields of the embedding struct.
func TestEmbeddedFields(t *testing.T) {
	fields := goFields(reflect.TypeFor[corev1.Pod]())
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "apiVersion kind metadata spec status" {
		t.Errorf("fields of Pod = %s, want apiVersion kind metadata spec status", got)
	}
	volume := goFields(reflect.TypeFor[corev1.Volume]())
	if volume["name"] == nil || volume["emptyDir"] == nil {
		t.Error("fields of Volume: want name, and emptyDir of the embedded VolumeSource")
	}
}

// TestFieldHidesEmbeddedField: a field hides a field with the same name in an embedded struct.
func TestFieldHidesEmbeddedField(t *testing.T) {
	type Inner struct {
		Names []string `json:"names" patchStrategy:"merge"`
	}
	type outer struct {
		Inner `json:",inline"`
		Names []string `json:"names"`
	}
	if goFields(reflect.TypeFor[outer]())["names"].merge {
		t.Error("names has the patch strategy of the embedded struct's field, want that of the outer field")
	}
}
