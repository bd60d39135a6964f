package schema_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/schemaconv"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// crdDocument returns a CRD whose version v1 has the root schema root; more is inserted into the spec of the CRD.
func crdDocument(more, root string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.stable.example.com}
spec:
  group: stable.example.com
  names: {kind: Foo, listKind: FooList, plural: foos, singular: foo}
  scope: Namespaced
  ` + more + `
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: ` + root + `}}
`
}

// loadCRD returns the type of version v1 of a CRD.
func loadCRD(t *testing.T, text string) (*schema.Type, error) {
	t.Helper()
	versions, err := schema.LoadCRD(parse(t, text))
	if err != nil {
		return nil, err
	}
	if versions["v1"] == nil {
		t.Fatal("LoadCRD returned no type for version v1")
	}
	checkInvariants(t, versions["v1"])
	return versions["v1"], nil
}

// crdRoots are root schemas of a CRD version, with more fields of the CRD's spec and the expected topology of the kind.
var crdRoots = []struct{ name, more, root, want string }{
	{"resource fields only", "", `{type: object}`, "{apiVersion: string, kind: string, metadata: META}"},
	{
		"declared metadata is ignored", "",
		`{type: object, properties: {apiVersion: {type: string, default: x}, kind: {type: string}, metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}}`,
		"{apiVersion: string, kind: string, metadata: META}",
	},
	{
		"spec", "", `{type: object, properties: {spec: {type: object, properties: {a: {type: string, default: x}}}}}`,
		`{apiVersion: string, kind: string, metadata: META, spec: {a: string="x"}}`,
	},
	{
		"lists", "", `{type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b],
		items: {type: object, required: [a], properties: {a: {type: string}, b: {type: integer, default: 80}}}}}}`,
		"{apiVersion: string, kind: string, l: keyed(a, b=80)[{a: string, b: numeric=80}], metadata: META}",
	},
	{
		"sets and atomic maps", "", `{type: object, properties: {s: {type: array, x-kubernetes-list-type: set, items: {type: string}},
		m: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}}}`,
		"{apiVersion: string, kind: string, m: atomic{*: string}, metadata: META, s: set[string]}",
	},
	{
		"int or string", "", `{type: object, properties: {i: {x-kubernetes-int-or-string: true}, j: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}}}`,
		"{apiVersion: string, i: untyped, j: untyped, kind: string, metadata: META}",
	},
	{
		"preserving part", "", `{type: object, properties: {p: {x-kubernetes-preserve-unknown-fields: true}, q: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object, properties: {b: {type: string}}}}}}}`,
		"{apiVersion: string, kind: string, metadata: META, p: untyped, q: {a: {b: string, *: untyped}, *: untyped}}",
	},
	{
		"preserving root", "", `{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object, properties: {b: {type: string}}}}}`,
		"{a: {b: string, *: untyped}, apiVersion: string, kind: string, metadata: META, *: untyped}",
	},
	{
		"preserving root without type", "", `{x-kubernetes-preserve-unknown-fields: true}`,
		"scalar|atomic[opaque]|{apiVersion: string, kind: string, metadata: META, *: untyped}",
	},
	{
		"embedded resource", "", `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: string}, kind: {type: string, default: x}}}}}`,
		"{apiVersion: string, e: {apiVersion: string, kind: string, metadata: META, spec: string}, kind: string, metadata: META}",
	},
	{
		"preserving embedded resource", "", `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`,
		"{apiVersion: string, e: {apiVersion: string, kind: string, metadata: META, *: untyped}, kind: string, metadata: META}",
	},
	{
		"preserving everywhere", "preserveUnknownFields: true", `{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}`,
		"{a: {b: string, *: untyped}, apiVersion: string, kind: string, metadata: PRESERVING META, *: untyped}",
	},
	{
		"patch strategies are not for CRDs", "", `{type: object, properties: {l: {type: array, x-kubernetes-patch-strategy: merge, items: {type: string}}}}`,
		"{apiVersion: string, kind: string, l: atomic[string], metadata: META}",
	},
	{
		"nullable and validation", "", `{type: object, properties: {x: {type: string, nullable: true, enum: [a], allOf: [{minLength: 1}]}}}`,
		"{apiVersion: string, kind: string, metadata: META, x: string}",
	},
	{"no schema", "", `null`, "{*: untyped}"},
}

// meta is the expected topology of metadata in a CRD; preservingMeta is the topology of metadata in a CRD with
// preserveUnknownFields, where all structs of metadata accept undeclared fields.
var meta, preservingMeta = func() (string, string) {
	entry := "{apiVersion: string, fieldsType: string, fieldsV1: {*: untyped}, manager: string, operation: string, subresource: string, time: scalar+}"
	owner := `atomic{apiVersion: string="", blockOwnerDeletion: boolean, controller: boolean, kind: string="", name: string="", uid: string=""+}`
	text := "{annotations: {*: string}, creationTimestamp: scalar, deletionGracePeriodSeconds: numeric, deletionTimestamp: scalar, " +
		"finalizers: set[string], generateName: string, generation: numeric, labels: {*: string}, managedFields: atomic[" + entry + "], " +
		"name: string, namespace: string, ownerReferences: keyed(uid=\"\")[" + owner + "], resourceVersion: string, selfLink: string, uid: string+}"
	return strings.ReplaceAll(text, "+}", "}"), strings.ReplaceAll(text, "+}", ", *: untyped}")
}()

func TestCRDRoots(t *testing.T) {
	for _, test := range crdRoots {
		t.Run(test.name, func(t *testing.T) {
			root, err := loadCRD(t, crdDocument(test.more, test.root))
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer("PRESERVING META", preservingMeta, "META", meta).Replace(test.want)
			if got := topology(root); got != want {
				t.Errorf("topology = %s\nwant       %s", got, want)
			}
			if root.Name != "com.example.stable.v1.Foo" {
				t.Errorf("root.Name = %q, want com.example.stable.v1.Foo", root.Name)
			}
		})
	}
}

func TestCRDErrors(t *testing.T) {
	for _, test := range []struct{ name, property, place, want string }{
		{"reference", `{$ref: '#/definitions/Foo'}`, "", "expected a structural schema, which has no $ref"},
		{"reference in allOf", `{type: object, allOf: [{$ref: '#/definitions/Foo'}]}`, "", "which has no $ref"},
		{"no type", `{}`, "", "expected a structural schema, which has a type"},
		{"preserve-unknown-fields: false", `{type: object, x-kubernetes-preserve-unknown-fields: false}`, ".x-kubernetes-preserve-unknown-fields", "received false; remove it"},
		{"empty keys", `{type: array, items: {type: object}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: []}`, "", "no x-kubernetes-list-map-keys"},
		{"tuple", `{type: array, items: [{type: string}]}`, ".items", "received a list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := loadCRD(t, crdDocument("", `{type: object, properties: {f: `+test.property+`}}`))
			wantError(t, err, "spec.versions[0].schema.openAPIV3Schema.properties.f"+test.place+": ", test.want)
		})
	}
}

func TestCRDDocuments(t *testing.T) {
	crd := crdDocument("", `{type: object}`)
	for name, test := range map[string]struct{ text, want string }{
		"not a map":         {`[]`, "which is a map, received a list"},
		"another kind":      {`{kind: Pod, apiVersion: v1}`, `kind: expected CustomResourceDefinition, received the string "Pod"`},
		"another version":   {strings.Replace(crd, "k8s.io/v1", "k8s.io/v1beta1", 1), "convert the definition"},
		"no versions":       {strings.Replace(crd, "versions:", "wersions:", 1), "spec.versions: expected a list of versions, received nothing"},
		"unnamed version":   {strings.Replace(crd, "name: v1,", "", 1), "spec.versions[0].name"},
		"duplicate version": {crd + "\n  - {name: v1}", `spec.versions[1].name: expected each version once, received "v1" again`},
		"scalar root":       {crdDocument("", `{type: string}`), "openAPIV3Schema.type: expected object"},
		"map at the root":   {crdDocument("", `{type: object, additionalProperties: {type: string}}`), "openAPIV3Schema.additionalProperties"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.LoadCRD(parse(t, test.text))
			wantError(t, err, test.want)
		})
	}
}

func TestCRDsShareMetadata(t *testing.T) {
	metadata := func() *schema.Type {
		root, err := loadCRD(t, crdDocument("", `{type: object}`))
		if err != nil {
			t.Fatal(err)
		}
		typ, _ := root.Map.TypeOf("metadata")
		return typ
	}
	if a, b := metadata(), metadata(); a != b {
		t.Error("two CRDs have different types for metadata, want one shared type")
	}
}

// oracleCRD converts a CRD to structured-merge-diff's schema with the code that kube-apiserver uses for apply.
func oracleCRD(t *testing.T, doc document.Value) *smd.Schema {
	t.Helper()
	var crd apiextensions.CustomResourceDefinition
	if err := json.Unmarshal([]byte(doc.JSON()), &crd); err != nil {
		t.Fatal(err)
	}
	published, err := builder.BuildOpenAPIV3(&crd, "v1", builder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	oracle, err := schemaconv.ToSchemaFromOpenAPI(published.Components.Schemas, crd.Spec.PreserveUnknownFields)
	if err != nil {
		t.Fatal(err)
	}
	return oracle
}

// compareCRD fails the test if the topology of a CRD differs from kube-apiserver's.
func compareCRD(t *testing.T, text string) {
	t.Helper()
	root, err := loadCRD(t, text)
	if err != nil {
		t.Fatal(err)
	}
	name := "com.example.stable.v1.Foo"
	c := newComparison(oracleCRD(t, parse(t, text)), func(place, difference string) {
		t.Errorf("%s: %s", place, difference)
	})
	c.types("Foo", root, smd.TypeRef{NamedType: &name})
}

func TestOracleCRDs(t *testing.T) {
	for _, test := range crdRoots {
		t.Run(test.name, func(t *testing.T) { compareCRD(t, crdDocument(test.more, test.root)) })
	}
}

// TestOracleRandomCRDs checks that random structural schemas have the same topology as in kube-apiserver.
func TestOracleRandomCRDs(t *testing.T) {
	for seed := range uint64(200) {
		g := structuralGenerator{generator{Rand: rand.New(rand.NewPCG(seed, 2))}}
		root := g.mapOf(3)
		delete(root, "additionalProperties")
		text, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		more := ""
		if g.oneIn(5) {
			more = "preserveUnknownFields: true"
		}
		compareCRD(t, crdDocument(more, string(text)))
		if t.Failed() {
			t.Fatalf("seed %d: the topology of this schema differs from kube-apiserver's: %s", seed, text)
		}
	}
}

// structuralGenerator generates random structural schemas, as CRDs require them.
type structuralGenerator struct{ generator }

func (g structuralGenerator) structural(depth int) map[string]any {
	choices := 7
	if depth > 0 {
		choices = 12
	}
	switch g.IntN(choices) {
	case 0:
		return map[string]any{"x-kubernetes-int-or-string": true}
	case 1:
		return map[string]any{"x-kubernetes-preserve-unknown-fields": true}
	case 2, 3:
		return map[string]any{"type": g.pick("integer", "number", "boolean"), "nullable": true}
	case 4, 5:
		return map[string]any{"type": "string", "format": g.pick("", "", "byte", "date-time", "uuid")}
	case 6, 7, 8:
		return g.mapOf(depth)
	case 9:
		return map[string]any{"type": "array", "items": g.mapOf(depth - 1),
			"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []string{g.pick("a", "b")}}
	default:
		list := map[string]any{"type": "array", "items": g.structural(depth - 1)}
		if g.oneIn(2) {
			list["x-kubernetes-list-type"] = g.pick("set", "atomic")
		}
		return list
	}
}

func (g structuralGenerator) mapOf(depth int) map[string]any {
	m := map[string]any{"type": "object"}
	if g.oneIn(4) {
		m["x-kubernetes-map-type"] = g.pick("atomic", "granular")
	}
	if g.oneIn(6) {
		m["x-kubernetes-preserve-unknown-fields"] = true
	}
	if depth <= 0 {
		return m
	}
	if g.oneIn(3) {
		m["additionalProperties"] = g.structural(depth - 1)
		return m
	}
	properties := map[string]any{"a": g.structural(depth - 1)}
	for range g.IntN(3) {
		property := g.structural(depth - 1)
		if property["type"] == "boolean" {
			property["default"] = g.oneIn(2)
		}
		properties[g.pick("b", "c", "d")] = property
	}
	m["properties"] = properties
	if g.oneIn(6) {
		m["x-kubernetes-embedded-resource"] = true
	}
	return m
}
