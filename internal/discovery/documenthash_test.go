package discovery

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/api"
)

// TestDocumentsAreReused checks that a change of kinds does not rebuild unrelated documents, and does not change their
// hashes.
func TestDocumentsAreReused(t *testing.T) {
	thing := func() *api.Kind {
		return &api.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}}
	}
	other := &api.Kind{Group: "example.com", Name: "Other", Resource: "others", Versions: []string{"v1"}}
	shelf := newDocumentCache()
	one := newSnapshot([]*api.Kind{thing()}, Options{Subresources: testSubresources}, shelf)
	document := func(e *snapshot) *page {
		made, err := e.document3("apis/example.org/v1", mediaJSON)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	first := document(one)
	two := newSnapshot([]*api.Kind{other, thing()}, Options{Subresources: testSubresources}, shelf)
	if document(two) != first || two.documentHash("apis/example.org/v1") != first.etag {
		t.Error("the document of an unchanged kind was built again")
	}
	if _, err := two.document3("apis/example.com/v1", mediaJSON); err != nil {
		t.Error(err)
	}
}

// TestDocumentHash checks that the hash covers all properties of a kind in the document, and no others.
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
			t.Errorf("%s: the hash did not change", what)
		}
	}
	for what, change := range map[string]func(k *api.Kind, o *Options, d *definitionStub){
		"short names":     func(k *api.Kind, _ *Options, _ *definitionStub) { k.ShortNames = []string{"t"} },
		"another version": func(k *api.Kind, _ *Options, _ *definitionStub) { k.Versions = []string{"v2", "v1"} },
		"server address":  func(_ *api.Kind, o *Options, _ *definitionStub) { o.Address = "elsewhere" },
	} {
		if hash(change) != same {
			t.Errorf("%s: the hash changed, although documents do not contain it", what)
		}
	}
}

// definitionStub is a definition of a kind with the methods that the catalog uses.
type definitionStub struct {
	api.Definition
	hash         [32]byte
	selectable   []string
	subresources []string
	calls        int // number of calls of OpenAPI
}

func (d *definitionStub) OpenAPI(string, bool) (*spec.Schema, error) {
	d.calls++
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}, nil
}
func (d *definitionStub) SchemaHash(string) [32]byte       { return d.hash }
func (d *definitionStub) SelectableFields(string) []string { return d.selectable }
func (d *definitionStub) Subresources(string) []string     { return d.subresources }

// TestIndexBuildsNoDocuments checks that the index does not build documents; each is built on first request, and
// removed with its kind.
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
		t.Errorf("OpenAPI was called %d times and %d documents were built, want none", definition.calls, len(catalog.cache.documents))
	}
	document := get(t, server, "/openapi/v3/apis/example.org/v1", "")
	if definition.calls != 1 || !bytes.Contains(document, []byte(`"x-kubernetes-selectable-fields":[{"fieldPath":"spec.size"}]`)) {
		t.Errorf("OpenAPI was called %d times, want once; document %s", definition.calls, document)
	}
	if !bytes.Contains(index, []byte("/openapi/v3/apis/example.org/v1?hash="+catalog.cache.documents["apis/example.org/v1"].hash)) {
		t.Errorf("the hash of the document is not in the index %s", index)
	}
	register.Remove("example.org", "things")
	get(t, server, "/openapi/v3", "")
	if n := len(catalog.cache.documents); n != 0 {
		t.Errorf("%d documents of a removed kind are cached, want none", n)
	}
}
