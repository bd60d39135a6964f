package discovery

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/ownership"
)

// documentParts maps the names of definitions and paths of an OpenAPI document to those parts of their contents that tests
// compare.
type documentParts map[string]any

func partsOf(document map[string]any) documentParts {
	out := documentParts{}
	definitions, _ := document["definitions"].(map[string]any)
	if components, ok := document["components"].(map[string]any); ok {
		definitions, _ = components["schemas"].(map[string]any)
	}
	for name, v := range definitions {
		out[name] = comparedFacts(v)
	}
	declared, _ := document["parameters"].(map[string]any)
	paths, _ := document["paths"].(map[string]any)
	for name, v := range paths {
		out[name] = comparedFacts(inlineParameters(v, declared))
	}
	return out
}

// servedDocument2 returns the OpenAPI v2 document of the built-in kinds, decoded.
func servedDocument2(t *testing.T) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := writeOpenAPI2(&b, api.Builtin(), Options{Subresources: testSubresources}); err != nil {
		t.Fatal(err)
	}
	return parseJSON(t, b.Bytes())
}

// servedDocuments3 returns the OpenAPI v3 documents of the built-in kinds, decoded, by name.
func servedDocuments3(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	builder := newOpenAPI3Builder(api.Builtin(), Options{Subresources: testSubresources})
	for _, name := range documentNames3(api.Builtin()) {
		var b bytes.Buffer
		if err := builder.write(&b, name); err != nil {
			t.Fatal(err)
		}
		all[name] = parseJSON(t, b.Bytes())
	}
	return all
}

// compare compares the hashes of got with file, a golden file that contains the hashes of kube-apiserver's parts. With the flag
// -kubernetes, it also compares got with the parts that oracle reads from a directory of k8s.io/kubernetes, and reports each
// difference.
func compare(t *testing.T, file string, got documentParts, oracle func(dir string) documentParts) {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(got)) {
		lines = append(lines, name+" "+hash(got[name]))
	}
	compareLines(t, lines, golden(t, file, func(dir string) []string {
		var lines []string
		want := oracle(dir)
		for _, name := range slices.Sorted(maps.Keys(got)) {
			lines = append(lines, name+" "+hash(want[name]))
			reportDifferences(name, got[name], want[name], func(text string) { t.Error(text) })
		}
		return lines
	}))
}

// TestOpenAPI2 compares the OpenAPI v2 document of the built-in kinds with that of kube-apiserver.
func TestOpenAPI2(t *testing.T) {
	compare(t, "openapi2.txt", partsOf(servedDocument2(t)), func(dir string) documentParts {
		return partsOf(readJSON(t, filepath.Join(dir, "api/openapi-spec/swagger.json")))
	})
}

// TestOpenAPI3 compares the OpenAPI v3 documents of the built-in kinds with those of kube-apiserver.
func TestOpenAPI3(t *testing.T) {
	all := documentParts{}
	for name, document := range servedDocuments3(t) {
		for part, v := range partsOf(document) {
			all[name+" "+part] = v
		}
	}
	// Most definitions are the same in all documents that contain them, so each definition is compared only once.
	once := func(all documentParts) documentParts {
		seen := map[string]bool{}
		out := documentParts{}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			_, part, _ := strings.Cut(name, " ")
			if key := fmt.Sprint(part, hash(all[name])); !seen[key] {
				seen[key] = true
				out[name] = all[name]
			}
		}
		return out
	}
	compare(t, "openapi3.txt", once(all), func(dir string) documentParts {
		want := documentParts{}
		for _, name := range documentNames3(api.Builtin()) {
			file := filepath.Join(dir, "api/openapi-spec/v3", strings.ReplaceAll(name, "/", "__")+"_openapi.json")
			for part, v := range partsOf(readJSON(t, file)) {
				want[name+" "+part] = v
			}
		}
		for name := range all {
			reportDifferences(name, all[name], want[name], func(text string) { t.Error(text) })
		}
		return want
	})
}

// undescribed are the fields that have no description in Kubernetes either, except the fields of version.Info.
var undescribed = []string{
	"io.k8s.api.networking.v1.IngressRule.http",
	"io.k8s.api.certificates.v1.CertificateSigningRequest.metadata",
	"io.k8s.api.certificates.v1.CertificateSigningRequestList.metadata",
}

// TestDescriptions checks that definitions and their fields have descriptions, which kubectl explain shows.
func TestDescriptions(t *testing.T) {
	definitions := servedDocument2(t)["definitions"].(map[string]any)
	if len(definitions) < 450 {
		t.Errorf("OpenAPI v2 document: got %d definitions, want at least 450", len(definitions))
	}
	for name, v := range definitions {
		definition := v.(map[string]any)
		if definition["description"] == nil {
			t.Errorf("definition %s: got no description, want one", name)
		}
		properties, _ := definition["properties"].(map[string]any)
		for field, v := range properties {
			if v.(map[string]any)["description"] == nil && !slices.Contains(undescribed, name+"."+field) && !strings.HasSuffix(name, ".version.Info") {
				t.Errorf("field %s of definition %s: got no description, want one", field, name)
			}
		}
	}
}

// TestUnsetIsDeclared checks that, with the option Unset, OpenAPI documents declare support for unset markers in all PATCH
// operations, and in no operations of other methods.
func TestUnsetIsDeclared(t *testing.T) {
	for _, unset := range []bool{false, true} {
		var b2, b3 bytes.Buffer
		options := Options{Unset: unset, Subresources: testSubresources}
		if err := errors.Join(writeOpenAPI2(&b2, api.Builtin(), options), newOpenAPI3Builder(api.Builtin(), options).write(&b3, "apis/apps/v1")); err != nil {
			t.Fatal(err)
		}
		for _, document := range []map[string]any{parseJSON(t, b2.Bytes()), parseJSON(t, b3.Bytes())} {
			for _, path := range []string{"/deployments/{name}", "/deployments/{name}/status"} {
				operations := document["paths"].(map[string]any)["/apis/apps/v1/namespaces/{namespace}"+path].(map[string]any)
				for _, method := range []string{"patch", "put"} {
					declared, _ := operations[method].(map[string]any)[ownership.UnsetExtension].(bool)
					if want := unset && method == "patch"; declared != want {
						t.Errorf("extension %s of %s %s with Unset=%t: got %t, want %t", ownership.UnsetExtension, method, path, unset, declared, want)
					}
				}
			}
		}
	}
}

// TestTakeOverIsDeclared checks that OpenAPI documents declare the parameter takeOver for PATCH of the main endpoint only.
func TestTakeOverIsDeclared(t *testing.T) {
	for path, want := range map[string]bool{"/deployments/{name}": true, "/deployments/{name}/status": false} {
		paths := servedDocuments3(t)["apis/apps/v1"]["paths"].(map[string]any)
		operations := paths["/apis/apps/v1/namespaces/{namespace}"+path].(map[string]any)
		text := fmt.Sprint(operations["patch"])
		if strings.Contains(text, "name:takeOver") != want || strings.Contains(fmt.Sprint(operations["put"]), "takeOver") {
			t.Errorf("%s: operation PATCH = %s, want it to declare takeOver: %t; want operation PUT not to declare it", path, text, want)
		}
	}
	if text := fmt.Sprint(servedDocument2(t)["parameters"]); !strings.Contains(text, "takeOver") {
		t.Errorf("parameters of the OpenAPI v2 document: got %s, want takeOver among them", text)
	}
}
