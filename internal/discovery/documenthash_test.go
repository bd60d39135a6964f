package discovery

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/api"
)

// TestDocumentsAreReused checks that adding a kind neither rebuilds the OpenAPI v3 documents of other groups nor changes their
// hashes.
func TestDocumentsAreReused(t *testing.T) {
	thing := func() *api.Kind {
		return &api.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}}
	}
	other := &api.Kind{Group: "example.com", Name: "Other", Resource: "others", Versions: []string{"v1"}}
	cache := newDocumentCache()
	one := newSnapshot([]*api.Kind{thing()}, Options{Subresources: testSubresources}, cache)
	document := func(e *snapshot) *page {
		made, err := e.document3("apis/example.org/v1", mediaJSON)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	first := document(one)
	two := newSnapshot([]*api.Kind{other, thing()}, Options{Subresources: testSubresources}, cache)
	if document(two) != first || two.documentHash("apis/example.org/v1") != first.etag {
		t.Error("document of example.org/v1 after adding a kind of another group: got a new page or hash, want the cached page with the same hash")
	}
	if _, err := two.document3("apis/example.com/v1", mediaJSON); err != nil {
		t.Errorf("document of the added kind: error = %v, want nil", err)
	}
}

// TestDocumentHash checks that the hash of an OpenAPI v3 document depends on the properties of a kind that the document
// contains, and on no other properties of the kind.
func TestDocumentHash(t *testing.T) {
	const name = "apis/example.org/v1"
	hash := func(change func(k *api.Kind, o *Options, d *definitionStub)) string {
		k := &api.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}, Custom: true}
		definition, options := definitionStub{}, Options{Subresources: testSubresources}
		k.Definition = &definition
		change(k, &options, &definition)
		return newSnapshot([]*api.Kind{k}, options, newDocumentCache()).documentHash(name)
	}
	same := hash(func(*api.Kind, *Options, *definitionStub) {})
	for what, change := range map[string]func(k *api.Kind, o *Options, d *definitionStub){
		"the schema":        func(_ *api.Kind, _ *Options, d *definitionStub) { d.hash[0] = 1 },
		"selectable fields": func(_ *api.Kind, _ *Options, d *definitionStub) { d.selectable = []string{"spec.size"} },
		"a subresource":     func(_ *api.Kind, _ *Options, d *definitionStub) { d.subresources = []string{"status"} },
		"the scope":         func(k *api.Kind, _ *Options, _ *definitionStub) { k.Namespaced = true },
		"custom":            func(k *api.Kind, _ *Options, _ *definitionStub) { k.Custom = false },
		"list kind":         func(k *api.Kind, _ *Options, _ *definitionStub) { k.ListKind = "Things" },
		"drop option":       func(_ *api.Kind, o *Options, _ *definitionStub) { o.Drop = true },
		"unset option":      func(_ *api.Kind, o *Options, _ *definitionStub) { o.Unset = true },
	} {
		if hash(change) == same {
			t.Errorf("documentHash() after a change of %s: got %s, want a hash that differs from the hash before the change", what, same)
		}
	}
	for what, change := range map[string]func(k *api.Kind, o *Options, d *definitionStub){
		"short names":     func(k *api.Kind, _ *Options, _ *definitionStub) { k.ShortNames = []string{"t"} },
		"another version": func(k *api.Kind, _ *Options, _ *definitionStub) { k.Versions = []string{"v2", "v1"} },
		"server address":  func(_ *api.Kind, o *Options, _ *definitionStub) { o.Address = "elsewhere" },
	} {
		if hash(change) != same {
			t.Errorf("documentHash() after a change of %s, which documents do not contain: got %s, want %s", what, hash(change), same)
		}
	}
}

// definitionStub is an api.Definition that implements only the methods that the catalog calls.
type definitionStub struct {
	api.Definition
	hash         [32]byte
	selectable   []string
	subresources []string
	calls        int // calls is the number of calls of OpenAPI.
}

func (d *definitionStub) OpenAPI(string, bool) (*spec.Schema, error) {
	d.calls++
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}, nil
}
func (d *definitionStub) SchemaHash(string) [32]byte       { return d.hash }
func (d *definitionStub) SelectableFields(string) []string { return d.selectable }
func (d *definitionStub) Subresources(string) []string     { return d.subresources }

// TestIndexBuildsNoDocuments checks that a request for the OpenAPI v3 index does not build documents, that each document is
// built on first request, and that it is removed from the cache when its kind is removed.
func TestIndexBuildsNoDocuments(t *testing.T) {
	definition := &definitionStub{selectable: []string{"spec.size"}}
	k := &api.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}, Custom: true, Definition: definition}
	register, err := api.NewRegister(k)
	if err != nil {
		t.Fatal(err)
	}
	catalog := New(register, Options{Subresources: testSubresources})
	server := httptest.NewServer(catalog)
	defer server.Close()
	index := get(t, server, "/openapi/v3", "")
	if definition.calls != 0 || len(catalog.cache.documents) != 0 {
		t.Errorf("GET /openapi/v3: OpenAPI was called %d times and %d documents were built, want 0 of both", definition.calls, len(catalog.cache.documents))
	}
	document := get(t, server, "/openapi/v3/apis/example.org/v1", "")
	if definition.calls != 1 || !bytes.Contains(document, []byte(`"x-kubernetes-selectable-fields":[{"fieldPath":"spec.size"}]`)) {
		t.Errorf("GET of the document: OpenAPI was called %d times, want once; document %s, want selectable fields in it", definition.calls, document)
	}
	if !bytes.Contains(index, []byte("/openapi/v3/apis/example.org/v1?hash="+catalog.cache.documents["apis/example.org/v1"].hash)) {
		t.Errorf("GET /openapi/v3: got %s, want the hash of the document in it", index)
	}
	register.Remove("example.org", "things")
	get(t, server, "/openapi/v3", "")
	if n := len(catalog.cache.documents); n != 0 {
		t.Errorf("cached documents after the kind is removed: got %d, want 0", n)
	}
}
