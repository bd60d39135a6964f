package schema_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/schemaconv"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/yaml"

	"github.com/cadastre/cadastre/schema"
)

// moduleDir returns the directory that contains the source of a Go module, for its test data. It skips the test if the
// source is not available.
func moduleDir(t testing.TB, module string) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil || len(strings.TrimSpace(string(dir))) == 0 {
		t.Skipf("the source of %s is not available: %v", module, err)
	}
	return strings.TrimSpace(string(dir))
}

// oracleOpenAPI converts an OpenAPI document to structured-merge-diff's schema with kube-openapi, as kube-apiserver
// does.
func oracleOpenAPI(t testing.TB, text []byte) (*smd.Schema, error) {
	t.Helper()
	var doc struct {
		Definitions map[string]*spec.Schema
		Components  struct{ Schemas map[string]*spec.Schema }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if doc.Definitions == nil {
		doc.Definitions = doc.Components.Schemas
	}
	return schemaconv.ToSchemaFromOpenAPI(doc.Definitions, false)
}

// compareOpenAPI loads a document with LoadOpenAPI and with kube-openapi, and reports every difference as a test
// failure.
func compareOpenAPI(t *testing.T, text []byte) {
	t.Helper()
	oracle, err := oracleOpenAPI(t, text)
	if err != nil {
		t.Fatalf("kube-openapi rejects the document, want a schema: %v", err)
	}
	loaded, err := schema.LoadOpenAPI(parseJSON(t, text))
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range loaded.Types() {
		checkInvariants(t, typ)
	}
	for i, difference := range differences(loaded, oracle) {
		if i == 20 {
			t.Fatal("more than 20 differences from kube-openapi; the others are omitted")
		}
		t.Error(difference)
	}
}

// TestOracleFiles checks LoadOpenAPI with the test documents of kube-openapi: all of Kubernetes in OpenAPI 2, and
// custom resources in OpenAPI 2 and 3.
func TestOracleFiles(t *testing.T) {
	dir := filepath.Join(moduleDir(t, "k8s.io/kube-openapi"), "pkg/schemaconv/testdata")
	files := []string{filepath.Join(dir, "swagger.json")}
	for _, pattern := range []string{"*-*.json", "crds/*/*.json"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no test documents match %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			// Some of the files contain YAML instead of JSON.
			if text, err = yaml.YAMLToJSON(text); err != nil {
				t.Fatal(err)
			}
			compareOpenAPI(t, text)
		})
	}
}

// TestOracleGenerated checks LoadOpenAPI with the definitions of apiextensions-apiserver, which contain defaults, oneOf
// and recursive types.
func TestOracleGenerated(t *testing.T) {
	definitions := map[string]spec.Schema{}
	for name, def := range openapi.GetOpenAPIDefinitions(func(name string) spec.Ref {
		return spec.MustCreateRef("#/components/schemas/" + common.EscapeJsonPointer(name))
	}) {
		definitions[name] = def.Schema
	}
	text, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": definitions}})
	if err != nil {
		t.Fatal(err)
	}
	compareOpenAPI(t, text)
}

// TestOracleProperties checks that every case of openAPIProperties has the same topology in kube-openapi.
func TestOracleProperties(t *testing.T) {
	differ := map[string]string{
		"nullable type list": "kube-openapi uses the first type, even if it is null",
		"replaced list":      "kube-openapi does not support the strategy replace, which Go tags use",
		"alias":              "kube-openapi drops types that are references, and the fields that refer to them",
	}
	for _, test := range openAPIProperties {
		t.Run(test.name, func(t *testing.T) {
			if why, ok := differ[test.name]; ok {
				t.Skip(why)
			}
			if strings.Contains(test.property, "Alias") {
				t.Skip(differ["alias"])
			}
			compareOpenAPI(t, []byte(parse(t, propertyDocument(test.property)).JSON()))
		})
	}
}

// TestOracleRandom checks random OpenAPI documents: LoadOpenAPI must reject every document that kube-openapi rejects,
// and the topologies of accepted documents must be equal.
func TestOracleRandom(t *testing.T) {
	accepted := 0
	for seed := range uint64(3000) {
		text := randomDocument(rand.New(rand.NewPCG(seed, 1)))
		oracle, oracleErr := oracleOpenAPI(t, text)
		loaded, err := schema.LoadOpenAPI(parseJSON(t, text))
		if err != nil {
			continue
		}
		accepted++
		if oracleErr != nil {
			t.Fatalf("seed %d: LoadOpenAPI succeeded, the oracle fails: %v\n%s", seed, oracleErr, text)
		}
		for _, typ := range loaded.Types() {
			checkInvariants(t, typ)
		}
		if found := differences(loaded, oracle); len(found) > 0 {
			t.Fatalf("seed %d: %s\n%s", seed, strings.Join(found, "\n"), text)
		}
	}
	if accepted < 1000 {
		t.Errorf("LoadOpenAPI accepted only %d random documents, want at least 1000", accepted)
	}
}

// randomDocument returns a random OpenAPI document; most of them are valid.
func randomDocument(r *rand.Rand) []byte {
	g := generator{r, 1 + r.IntN(6)}
	definitions := map[string]any{}
	for i := range g.types {
		definitions["T"+strconv.Itoa(i)] = g.object(3)
	}
	text, err := json.Marshal(map[string]any{"definitions": definitions})
	if err != nil {
		panic(err)
	}
	return text
}

// generator generates random schemas that refer to the types T0 up to the number of types.
type generator struct {
	*rand.Rand
	types int
}

func (g generator) oneIn(n int) bool { return g.IntN(n) == 0 }

func (g generator) pick(words ...string) string { return words[g.IntN(len(words))] }

// schema returns a random reference or inline schema.
func (g generator) schema(depth int) map[string]any {
	if !g.oneIn(4) {
		return g.object(depth)
	}
	reference := map[string]any{"$ref": "#/definitions/T" + strconv.Itoa(g.IntN(g.types))}
	if g.oneIn(3) {
		reference = map[string]any{"allOf": []any{reference}}
	}
	if g.oneIn(4) {
		reference["x-kubernetes-map-type"] = g.pick("atomic", "granular")
	}
	return reference
}

func (g generator) object(depth int) map[string]any {
	s := map[string]any{}
	word := g.pick("", "object", "object", "object", "array", "array", "string", "integer", "number", "boolean")
	if word != "" {
		s["type"] = word
	}
	if g.oneIn(8) {
		s["format"] = g.pick("byte", "int-or-string", "date-time", "int64")
	}
	if g.oneIn(8) {
		s["x-kubernetes-preserve-unknown-fields"] = g.oneIn(2)
	}
	if g.oneIn(30) {
		s["x-kubernetes-int-or-string"] = true
	}
	if depth == 0 {
		if word == "array" {
			s["items"] = map[string]any{"type": "string"}
		}
		return s
	}
	if word == "object" || g.oneIn(8) {
		g.mapParts(s, depth)
	}
	if word == "array" || g.oneIn(8) {
		g.listParts(s, depth)
	}
	return s
}

func (g generator) mapParts(s map[string]any, depth int) {
	if !g.oneIn(3) {
		properties := map[string]any{}
		for range g.IntN(4) {
			property := g.schema(depth - 1)
			if g.oneIn(3) {
				property["default"] = []any{nil, "x", 1, 2.5, true, map[string]any{}}[g.IntN(6)]
			}
			properties[g.pick("a", "b", "c", "d")] = property
		}
		s["properties"] = properties
	}
	switch g.IntN(6) {
	case 0:
		s["additionalProperties"] = g.oneIn(2)
	case 1:
		s["additionalProperties"] = g.schema(depth - 1)
	}
	if g.oneIn(4) {
		s["x-kubernetes-map-type"] = g.pick("atomic", "granular", "atomic", "granular", "wrong")
	}
}

func (g generator) listParts(s map[string]any, depth int) {
	if !g.oneIn(30) {
		s["items"] = g.schema(depth - 1)
	}
	switch g.IntN(3) {
	case 0:
		s["x-kubernetes-list-type"] = g.pick("atomic", "set", "map", "map", "map", "atomic", "set", "wrong")
		if !g.oneIn(10) {
			s["x-kubernetes-list-map-keys"] = [][]string{{"a"}, {"b", "a"}, {}, {"z"}}[g.IntN(4)]
		}
	case 1:
		s["x-kubernetes-patch-strategy"] = g.pick("merge", "merge,retainKeys", "retainKeys", "merge", "wrong")
		if g.oneIn(2) {
			s["x-kubernetes-patch-merge-key"] = g.pick("a", "b", "z")
		}
	}
}
