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

// documentParts are the definitions and paths of an OpenAPI document, by name.
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

func ourDocument2(t *testing.T) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := writeOpenAPI2(&b, api.Builtin(), Options{Subresources: testSubresources}); err != nil {
		t.Fatal(err)
	}
	return parseJSON(t, b.Bytes())
}

func ourDocuments3(t *testing.T) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	maker := newOpenAPI3Builder(api.Builtin(), Options{Subresources: testSubresources})
	for _, name := range documentNames3(api.Builtin()) {
		var b bytes.Buffer
		if err := maker.write(&b, name); err != nil {
			t.Fatal(err)
		}
		all[name] = parseJSON(t, b.Bytes())
	}
	return all
}

// compare compares our parts with a golden file of the hashes of the oracle's parts.
func compare(t *testing.T, file string, ours documentParts, oracle func(folder string) documentParts) {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(ours)) {
		lines = append(lines, name+" "+hash(ours[name]))
	}
	compareLines(t, lines, golden(t, file, func(folder string) []string {
		var lines []string
		theirs := oracle(folder)
		for _, name := range slices.Sorted(maps.Keys(ours)) {
			lines = append(lines, name+" "+hash(theirs[name]))
			reportDifferences(name, ours[name], theirs[name], func(text string) { t.Error(text) })
		}
		return lines
	}))
}

func TestOpenAPI2(t *testing.T) {
	compare(t, "openapi2.txt", partsOf(ourDocument2(t)), func(folder string) documentParts {
		return partsOf(readJSON(t, filepath.Join(folder, "api/openapi-spec/swagger.json")))
	})
}

func TestOpenAPI3(t *testing.T) {
	all := documentParts{}
	for name, document := range ourDocuments3(t) {
		for part, v := range partsOf(document) {
			all[name+" "+part] = v
		}
	}
	// A definition is the same in all documents, unless it belongs to every group, so that it is compared once.
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
	compare(t, "openapi3.txt", once(all), func(folder string) documentParts {
		theirs := documentParts{}
		for _, name := range documentNames3(api.Builtin()) {
			file := filepath.Join(folder, "api/openapi-spec/v3", strings.ReplaceAll(name, "/", "__")+"_openapi.json")
			for part, v := range partsOf(readJSON(t, file)) {
				theirs[name+" "+part] = v
			}
		}
		for name := range all {
			reportDifferences(name, all[name], theirs[name], func(text string) { t.Error(text) })
		}
		return theirs
	})
}

// undescribed are the fields without a description in Kubernetes, except those of version.Info.
var undescribed = []string{
	"io.k8s.api.networking.v1.IngressRule.http",
	"io.k8s.api.certificates.v1.CertificateSigningRequest.metadata",
	"io.k8s.api.certificates.v1.CertificateSigningRequestList.metadata",
}

// TestDescriptions checks that definitions and fields have descriptions, for kubectl explain.
func TestDescriptions(t *testing.T) {
	definitions := ourDocument2(t)["definitions"].(map[string]any)
	if len(definitions) < 450 {
		t.Errorf("%d definitions, want at least 450", len(definitions))
	}
	for name, v := range definitions {
		definition := v.(map[string]any)
		if definition["description"] == nil {
			t.Errorf("%s has no description", name)
		}
		properties, _ := definition["properties"].(map[string]any)
		for field, v := range properties {
			if v.(map[string]any)["description"] == nil && !slices.Contains(undescribed, name+"."+field) && !strings.HasSuffix(name, ".version.Info") {
				t.Errorf("%s.%s has no description", name, field)
			}
		}
	}
}

// TestUnsetIsDeclared checks that documents declare the support of unset markers at every endpoint with apply.
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
						t.Errorf("%s %s: expected declared: %v, received %v", method, path, want, declared)
					}
				}
			}
		}
	}
}

// TestTakeOverIsDeclared checks that documents declare the parameter takeOver at the main endpoint only.
func TestTakeOverIsDeclared(t *testing.T) {
	for path, want := range map[string]bool{"/deployments/{name}": true, "/deployments/{name}/status": false} {
		paths := ourDocuments3(t)["apis/apps/v1"]["paths"].(map[string]any)
		operations := paths["/apis/apps/v1/namespaces/{namespace}"+path].(map[string]any)
		text := fmt.Sprint(operations["patch"])
		if strings.Contains(text, "name:takeOver") != want || strings.Contains(fmt.Sprint(operations["put"]), "takeOver") {
			t.Errorf("%s: expected takeOver in patch: %v, received %s", path, want, text)
		}
	}
	if text := fmt.Sprint(ourDocument2(t)["parameters"]); !strings.Contains(text, "takeOver") {
		t.Errorf("the OpenAPI v2 document does not declare takeOver: %s", text)
	}
}
