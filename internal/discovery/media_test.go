package discovery

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/api"
)

// mediaKinds returns kinds that support different media types: a built-in kind with a Go type, a kind that is neither custom
// nor has a Go type (as CustomResourceDefinition), and a custom resource with all subresources.
func mediaKinds() []*api.Kind {
	defined := func(k *api.Kind) *api.Kind {
		k.Group, k.Versions = "example.org", []string{"v1"}
		k.Definition = &definitionStub{subresources: []string{"status", "scale"}}
		return k
	}
	builtin := &api.Kind{Group: "apps", Name: "Deployment", Resource: "deployments", Versions: []string{"v1"}, Subresources: []string{"scale", "status"}}
	return []*api.Kind{
		builtin,
		defined(&api.Kind{Name: "Definition", Resource: "definitions"}),
		defined(&api.Kind{Name: "Thing", Resource: "things", Custom: true}),
	}
}

// sortedStrings returns the strings in a decoded JSON list, sorted.
func sortedStrings(list any) (all []string) {
	for _, v := range list.([]any) {
		all = append(all, v.(string))
	}
	slices.Sort(all)
	return all
}

// mediaIn3 returns the media types of a decoded request body or response in an OpenAPI v3 document, sorted.
func mediaIn3(body any) (all []string) {
	for name := range body.(map[string]any)["content"].(map[string]any) {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// TestMediaOfKinds checks that OpenAPI documents list exactly the media types that a kind supports, because clients depend on
// them.
func TestMediaOfKinds(t *testing.T) {
	const drop = ";drop=metadata.managedFields"
	for _, drops := range []bool{false, true} {
		var b bytes.Buffer
		if err := writeOpenAPI2(&b, mediaKinds(), Options{Drop: drops, Subresources: testSubresources}); err != nil {
			t.Fatal(err)
		}
		paths2 := parseJSON(t, b.Bytes())["paths"].(map[string]any)
		builder := newOpenAPI3Builder(mediaKinds(), Options{Drop: drops, Subresources: testSubresources})
		paths3 := map[string]any{}
		for _, name := range []string{"apis/apps/v1", "apis/example.org/v1"} {
			b.Reset()
			if err := builder.write(&b, name); err != nil {
				t.Fatal(err)
			}
			for path, v := range parseJSON(t, b.Bytes())["paths"].(map[string]any) {
				paths3[path] = v
			}
		}
		for _, test := range []struct {
			kind                 string
			bodies, patches, all string
			watches              string
		}{
			{"/apis/apps/v1/deployments", "*/*", "json-patch+json merge-patch+json strategic-merge-patch+json apply-patch+yaml apply-patch+cbor",
				"json yaml vnd.kubernetes.protobuf cbor", "json;stream=watch vnd.kubernetes.protobuf;stream=watch cbor-seq"},
			{"/apis/example.org/v1/definitions", "*/*", "json-patch+json merge-patch+json strategic-merge-patch+json apply-patch+yaml apply-patch+cbor",
				"json yaml cbor", "json;stream=watch cbor-seq"},
			{"/apis/example.org/v1/things", "json yaml cbor", "json-patch+json merge-patch+json apply-patch+yaml apply-patch+cbor",
				"json yaml cbor", "json;stream=watch cbor-seq"},
		} {
			media := func(words string, parameters ...string) (all []string) {
				for word := range strings.FieldsSeq(words) {
					if word != "*/*" {
						word = "application/" + word
					}
					for _, parameter := range append(parameters, "") {
						all = append(all, word+parameter)
					}
				}
				slices.Sort(all)
				return all
			}
			var parameters []string
			if drops {
				parameters = []string{drop}
			}
			check := func(path, method, what, words string, received2, received3 []string, parameters ...string) {
				t.Helper()
				if want := media(words, parameters...); !slices.Equal(received2, want) || !slices.Equal(received3, want) {
					t.Errorf("media types of %s in %s %s:\nwant %v\ngot  %v in OpenAPI v2\nand  %v in OpenAPI v3", what, method, path, want, received2, received3)
				}
			}
			for path, methods := range map[string][]string{"": {"get", "post"}, "/{name}": {"get", "put", "patch"}, "/{name}/status": {"get", "put", "patch"}, "/{name}/scale": {"get", "patch"}} {
				path = test.kind + path
				for _, method := range methods {
					o2, o3 := paths2[path].(map[string]any)[method].(map[string]any), paths3[path].(map[string]any)[method].(map[string]any)
					produced := test.all
					if path == test.kind && method == "get" {
						produced += " " + test.watches
					}
					check(path, method, "the response", produced, sortedStrings(o2["produces"]), mediaIn3(o3["responses"].(map[string]any)["200"]), parameters...)
					taken := test.bodies
					if method == "patch" {
						taken = test.patches
					}
					if method != "get" {
						check(path, method, "the request body", taken, sortedStrings(o2["consumes"]), mediaIn3(o3["requestBody"]))
					}
				}
			}
		}
	}
}
