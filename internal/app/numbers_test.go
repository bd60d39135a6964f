package app

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

const gadgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"Cluster",
"names":{"plural":"gadgets","kind":"Gadget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
"properties":{"spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"size":{"type":"number"}}}}}]}}`

const allGadgets = "/apis/example.com/v1/gadgets"

func gadget(name, fields string) string {
	return `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"` + name + `"},` + fields + `}`
}

// TestNumbersThatClientsCannotDecode checks that no verb and no content type stores a number outside of the range of float64.
// Clients could not decode a list that contains it.
func TestNumbersThatClientsCannotDecode(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", definitions, gadgets).want(201)
	c.waitFor(allGadgets, 200)
	c.call("POST", allGadgets, gadget("a", `"spec":{"x":1}`)).want(201)
	configs := "/api/v1/namespaces/default/configmaps"
	c.call("POST", configs, `{"metadata":{"name":"m"}}`).want(201)
	const jsonPatch = "application/json-patch+json"
	revisions := "/apis/apps/v1/namespaces/default/controllerrevisions"
	for _, number := range []string{"1e400", "-1e400", strings.Repeat("9", 400)} {
		for _, test := range []struct {
			name, method, path, body, media string
			code                            int
			problem                         string
		}{
			{"create", "POST", allGadgets, gadget("b", `"spec":{"x":[`+number+`]}`), "application/json", 400, ".spec.x[0]: expected a number in the range of float64, received "},
			{"create with a typed number", "POST", allGadgets, gadget("b", `"size":`+number), "application/json", 400, ".size"},
			{"create in YAML", "POST", allGadgets, "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: b}\nspec: {x: !!float " + number + "}", "application/yaml", 400, ".spec.x"},
			{"update", "PUT", allGadgets + "/a", gadget("a", `"spec":{"x":`+number+`}`), "application/json", 400, ".spec.x"},
			{"apply", "PATCH", allGadgets + "/a?fieldManager=me&force=true", gadget("a", `"size":`+number), applyType, 400, "size"},
			{"apply in JSON", "PATCH", allGadgets + "/a?fieldManager=me&force=true", gadget("a", `"spec":{"y":!!float `+number+`}`), applyType, 400, ".spec.y"},
			{"merge patch", "PATCH", allGadgets + "/a", `{"spec":{"x":` + number + `}}`, mergeType, 400, ".spec.x"},
			{"merge patch of no object", "PATCH", allGadgets + "/c", `{"spec":{"x":` + number + `}}`, mergeType, 404, ""},
			{"JSON patch", "PATCH", allGadgets + "/a", `[{"op":"add","path":"/spec/x","value":{"y":` + number + `}}]`, jsonPatch, 400, "[0].value.y"},
			{"strategic merge patch", "PATCH", configs + "/m", `{"data":{"x":` + number + `}}`, "application/strategic-merge-patch+json", 400, ".data.x"},
			{"managedFields", "PATCH", allGadgets + "/a", `{"metadata":{"managedFields":[{"manager":"m","operation":"Update","apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":` + number + `}}]}}`, mergeType, 400, "fieldsV1"},
			{"arbitrary JSON of a built-in kind", "POST", revisions, `{"metadata":{"name":"r"},"revision":1,"data":{"x":` + number + `}}`, "application/json", 400, ".data.x"},
			{"schema", "POST", definitions, strings.ReplaceAll(strings.Replace(gadgets, `"type":"number"`, `"type":"number","default":`+number, 1), "gadget", "gizmo"), "application/json", 400, ".default"},
		} {
			answer := c.call(test.method, test.path, test.body, "Content-Type: "+test.media)
			if answer.code != test.code || !strings.Contains(answer.text, test.problem) {
				t.Errorf("%s of %.6s: got %d %s, want %d and %q", test.name, number, answer.code, answer.text, test.code, test.problem)
			}
		}
	}
	for _, path := range []string{allGadgets, configs, revisions, definitions} {
		var list any
		if err := json.Unmarshal([]byte(c.call("GET", path, "").want(200).text), &list); err != nil {
			t.Errorf("list of %s: %v", path, err)
		}
	}
	c.apply(allGadgets+"/a", "me", "apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: a}\nspec: {text: 1e400}").want(200, `"text":"1e400"`) // 1e400 is a string in YAML 1.1
	c.call("PATCH", allGadgets+"/a", `{"spec":{"x":1e308,"y":-123456789012345678901234567890}}`, "Content-Type: "+mergeType).want(200, "1e308")
}

// TestStoredNumbersOutOfRange checks that objects with numbers that are rejected today can be read in all formats, patched and
// deleted if an earlier version has stored them.
func TestStoredNumbersOutOfRange(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", definitions, gadgets).want(201)
	c.waitFor(allGadgets, 200)
	c.call("POST", allGadgets, gadget("a", `"spec":{"x":0}`)).want(201)
	o, err := c.server.cache.Get(t.Context(), watchcache.Key{Kind: "example.com/gadgets", Name: "a"}, watchcache.Latest)
	if err != nil {
		t.Fatal(err)
	}
	old := strings.Replace(o.Text(), `{"x":0}`, `{"x":1e400}`, 1)
	if _, _, err := c.server.cache.Commit(t.Context(), storage.Write{Key: o.Key(), Value: []byte(old), Expected: o.Revision()}); err != nil {
		t.Fatal(err)
	}
	testwait.For(t, "the number in a read", func() bool { return strings.Contains(c.call("GET", allGadgets+"/a", "").text, "1e400") })
	for _, accept := range []string{"application/json", "application/yaml", "application/cbor", "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"} {
		for _, path := range []string{allGadgets, allGadgets + "/a"} {
			if answer := c.call("GET", path, "", "Accept: "+strings.Replace(accept, "PartialObjectMetadata", map[bool]string{true: "PartialObjectMetadataList", false: "PartialObjectMetadata"}[path == allGadgets], 1)); answer.code != 200 {
				t.Errorf("GET %s as %s: got %d %s, want 200", path, accept, answer.code, answer.text)
			}
		}
	}
	c.call("PATCH", allGadgets+"/a", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type: "+mergeType).want(200)
	c.apply(allGadgets+"/a", "me", gadget("a", `"size":1`)).want(200)
	c.call("PATCH", allGadgets+"/a", `{"spec":{"x":1}}`, "Content-Type: "+mergeType).want(200, `"x":1`)
	c.call("DELETE", allGadgets+"/a", "").want(200)
}
