package catalog

import (
	"bytes"
	"net/http/httptest"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/cadastre/cadastre/internal/kinds"
)

// TestTakenOver changes kinds: what is not about them is not made again, and has the same hash.
func TestTakenOver(t *testing.T) {
	thing := func() *kinds.Kind {
		return &kinds.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}}
	}
	other := &kinds.Kind{Group: "example.com", Name: "Other", Resource: "others", Versions: []string{"v1"}}
	shelf := newShelf()
	one := newEdition([]*kinds.Kind{thing()}, Options{}, shelf)
	document := func(e *edition) *page {
		made, err := e.document3("apis/example.org/v1", mediaJSON)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	first := document(one)
	two := newEdition([]*kinds.Kind{other, thing()}, Options{}, shelf)
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
	hash := func(change func(k *kinds.Kind, o *Options, d *described)) string {
		k := &kinds.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}, Custom: true}
		definition, options := described{}, Options{}
		k.Definition = &definition
		change(k, &options, &definition)
		return newEdition([]*kinds.Kind{k}, options, newShelf()).hash3(name)
	}
	same := hash(func(*kinds.Kind, *Options, *described) {})
	for what, change := range map[string]func(k *kinds.Kind, o *Options, d *described){
		"the schema":         func(_ *kinds.Kind, _ *Options, d *described) { d.hash[0] = 1 },
		"selectable fields":  func(_ *kinds.Kind, _ *Options, d *described) { d.selectable = []string{"spec.size"} },
		"a subresource":      func(_ *kinds.Kind, _ *Options, d *described) { d.subresources.Status = true },
		"the scope":          func(k *kinds.Kind, _ *Options, _ *described) { k.Namespaced = true },
		"who defines it":     func(k *kinds.Kind, _ *Options, _ *described) { k.Custom = false },
		"the name of lists":  func(k *kinds.Kind, _ *Options, _ *described) { k.ListKind = "Things" },
		"what answers leave": func(_ *kinds.Kind, o *Options, _ *described) { o.Drop = true },
		"what is understood": func(_ *kinds.Kind, o *Options, _ *described) { o.Unset = true },
	} {
		if hash(change) == same {
			t.Errorf("%s changes, and the hash does not", what)
		}
	}
	for what, change := range map[string]func(k *kinds.Kind, o *Options, d *described){
		"short names":      func(k *kinds.Kind, _ *Options, _ *described) { k.ShortNames = []string{"t"} },
		"another version":  func(k *kinds.Kind, _ *Options, _ *described) { k.Versions = []string{"v2", "v1"} },
		"the server's own": func(_ *kinds.Kind, o *Options, _ *described) { o.Address = "elsewhere" },
	} {
		if hash(change) != same {
			t.Errorf("%s: no document tells it, and the hash changes", what)
		}
	}
}

// described is a definition of a kind, as far as the catalog looks at it.
type described struct {
	kinds.Definition
	hash         [32]byte
	selectable   []string
	subresources kinds.Subresources
	asked        int // how often for the schema
}

func (d *described) OpenAPI(string, bool) (*spec.Schema, error) {
	d.asked++
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}, nil
}
func (d *described) SchemaHash(string) [32]byte             { return d.hash }
func (d *described) SelectableFields(string) []string       { return d.selectable }
func (d *described) Subresources(string) kinds.Subresources { return d.subresources }

// TestIndexMakesNothing: the index costs no document; each is made when it is asked for, and goes with its kind.
func TestIndexMakesNothing(t *testing.T) {
	definition := &described{selectable: []string{"spec.size"}}
	k := &kinds.Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}, Custom: true, Definition: definition}
	register, err := kinds.NewRegister(k)
	if err != nil {
		t.Fatal(err)
	}
	catalog := New(register, Options{})
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
