package discovery

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/api"
)

// TestTakenOver changes kinds: what is not about them is not made again, and has the same hash.
func TestTakenOver(t *testing.T) {
	thing := func() *api.Kind {
		return &api.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}}
	}
	other := &api.Kind{Group: "example.com", Name: "Other", Resource: "others", Versions: []string{"v1"}}
	shelf := newShelf()
	one := newEdition([]*api.Kind{thing()}, Options{Subresources: testSubresources}, shelf)
	document := func(e *edition) *page {
		made, err := e.document3("apis/example.org/v1", mediaJSON)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	first := document(one)
	two := newEdition([]*api.Kind{other, thing()}, Options{Subresources: testSubresources}, shelf)
	if document(two) != first || two.hash3("apis/example.org/v1") != first.etag {
		t.Error("a document is made again, though the kind is as it was")
	}
	if _, err := two.document3("apis/example.com/v1", mediaJSON); err != nil {
		t.Error(err)
	}
}

// TestHashDiffers: what a document tells about a kind is in its hash, and nothing else.
func TestHashDiffers(t *testing.T) {
	const name = "apis/example.org/v1"
	hash := func(change func(k *api.Kind, o *Options, d *described)) string {
		k := &api.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}, Custom: true}
		definition, options := described{}, Options{Subresources: testSubresources}
		k.Definition = &definition
		change(k, &options, &definition)
		return newEdition([]*api.Kind{k}, options, newShelf()).hash3(name)
	}
	same := hash(func(*api.Kind, *Options, *described) {})
	for what, change := range map[string]func(k *api.Kind, o *Options, d *described){
		"the schema":         func(_ *api.Kind, _ *Options, d *described) { d.hash[0] = 1 },
		"selectable fields":  func(_ *api.Kind, _ *Options, d *described) { d.selectable = []string{"spec.size"} },
		"a subresource":      func(_ *api.Kind, _ *Options, d *described) { d.subresources = []string{"status"} },
		"the scope":          func(k *api.Kind, _ *Options, _ *described) { k.Namespaced = true },
		"who defines it":     func(k *api.Kind, _ *Options, _ *described) { k.Custom = false },
		"the name of lists":  func(k *api.Kind, _ *Options, _ *described) { k.ListKind = "Things" },
		"what answers leave": func(_ *api.Kind, o *Options, _ *described) { o.Drop = true },
		"what is understood": func(_ *api.Kind, o *Options, _ *described) { o.Unset = true },
	} {
		if hash(change) == same {
			t.Errorf("%s changes, and the hash does not", what)
		}
	}
	for what, change := range map[string]func(k *api.Kind, o *Options, d *described){
		"short names":      func(k *api.Kind, _ *Options, _ *described) { k.ShortNames = []string{"t"} },
		"another version":  func(k *api.Kind, _ *Options, _ *described) { k.Versions = []string{"v2", "v1"} },
		"the server's own": func(_ *api.Kind, o *Options, _ *described) { o.Address = "elsewhere" },
	} {
		if hash(change) != same {
			t.Errorf("%s: no document tells it, and the hash changes", what)
		}
	}
}

// described is a definition of a kind, as far as the catalog looks at it.
type described struct {
	api.Definition
	hash         [32]byte
	selectable   []string
	subresources []string
	asked        int // how often for the schema
}

func (d *described) OpenAPI(string, bool) (*spec.Schema, error) {
	d.asked++
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}, nil
}
func (d *described) SchemaHash(string) [32]byte       { return d.hash }
func (d *described) SelectableFields(string) []string { return d.selectable }
func (d *described) Subresources(string) []string     { return d.subresources }

// TestIndexMakesNothing: the index costs no document; each is made when it is asked for, and goes with its kind.
func TestIndexMakesNothing(t *testing.T) {
	definition := &described{selectable: []string{"spec.size"}}
	k := &api.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}, Custom: true, Definition: definition}
	register, err := api.NewRegister(k)
	if err != nil {
		t.Fatal(err)
	}
	catalog := New(register, Options{Subresources: testSubresources})
	server := httptest.NewServer(catalog)
	defer server.Close()
	index := get(t, server, "/openapi/v3", "")
	if definition.asked != 0 || len(catalog.shelf.kept) != 0 {
		t.Errorf("the schema was asked for %d times, %d documents were made", definition.asked, len(catalog.shelf.kept))
	}
	document := get(t, server, "/openapi/v3/apis/example.org/v1", "")
	if definition.asked != 1 || !bytes.Contains(document, []byte(`"x-kubernetes-selectable-fields":[{"fieldPath":"spec.size"}]`)) {
		t.Errorf("the schema was asked for %d times: %s", definition.asked, document)
	}
	if !bytes.Contains(index, []byte("/openapi/v3/apis/example.org/v1?hash="+catalog.shelf.kept["apis/example.org/v1"].hash)) {
		t.Errorf("the document has another hash than in the index %s", index)
	}
	register.Remove("example.org", "things")
	get(t, server, "/openapi/v3", "")
	if n := len(catalog.shelf.kept); n != 0 {
		t.Errorf("%d documents are kept of a kind that is gone", n)
	}
}
