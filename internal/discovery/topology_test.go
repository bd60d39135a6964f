package discovery

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/schema"
)

const intOrString = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"

// comparison compares two topologies, which may be cyclic.
type comparison struct {
	seen     map[[2]*schema.Type]bool
	defaults bool // compare defaults, too
	problems []string
}

func (c *comparison) fail(at, format string, args ...any) {
	if len(c.problems) < 20 {
		c.problems = append(c.problems, at+": "+fmt.Sprintf(format, args...))
	}
}

func (c *comparison) types(at string, a, b *schema.Type) {
	if a == b || c.seen[[2]*schema.Type{a, b}] {
		return
	}
	if c.defaults && b != nil && b.Name == intOrString && a == schema.Untyped {
		return // OpenAPI v3 has a oneOf here, also in kube-apiserver's documents
	}
	c.seen[[2]*schema.Type{a, b}] = true
	if a == nil || b == nil || a.Scalar != b.Scalar || (a.List == nil) != (b.List == nil) || (a.Map == nil) != (b.Map == nil) {
		c.fail(at, "ours %+v, theirs %+v", a, b)
		return
	}
	if a.List != nil {
		c.lists(at, a.List, b.List)
	}
	if a.Map != nil {
		c.maps(at, a.Map, b.Map)
	}
}

func (c *comparison) lists(at string, a, b *schema.List) {
	if a.Relationship != b.Relationship || len(a.Keys) != len(b.Keys) {
		c.fail(at, "ours %v %v, theirs %v %v", a.Relationship, a.Keys, b.Relationship, b.Keys)
		return
	}
	for i := range a.Keys {
		if a.Keys[i].Name != b.Keys[i].Name || c.defaults && a.Keys[i].Default.JSON() != b.Keys[i].Default.JSON() {
			c.fail(at, "key %d is %+v, theirs %+v", i, a.Keys[i], b.Keys[i])
		}
	}
	c.types(at+"[]", a.Item, b.Item)
}

func (c *comparison) maps(at string, a, b *schema.Map) {
	if a.Atomic != b.Atomic || (a.Element == nil) != (b.Element == nil) || len(a.Fields) != len(b.Fields) {
		c.fail(at, "ours %+v, theirs %+v", a, b)
		return
	}
	if a.Element != nil {
		c.types(at+".*", a.Element, b.Element)
	}
	for i := range a.Fields {
		x, y := a.Fields[i], b.Fields[i]
		if x.Name != y.Name || c.defaults && x.Default.JSON() != y.Default.JSON() {
			c.fail(at, "field %s with default %s, theirs %s with %s", x.Name, x.Default.JSON(), y.Name, y.Default.JSON())
			continue
		}
		c.types(at+"."+x.Name, x.Type, y.Type)
	}
}

// compareTopologies loads the topologies of a document and compares them with those of the built-in kinds.
func compareTopologies(t *testing.T, text []byte, defaults bool, served func(k *api.Kind, version string) bool) (compared int) {
	t.Helper()
	doc, err := document.ParseJSONLimited(text, document.Limits{MaxBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := schema.LoadOpenAPI(doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range api.Builtin() {
		for _, version := range k.Versions {
			theirs, ok := api.BuiltinTopology(k.Group, version, k.Name)
			if !served(k, version) || !ok {
				continue
			}
			ours, ok := loaded.Kind(k.Group, version, k.Name)
			if !ok {
				t.Errorf("%s %s: not in the document", k, version)
				continue
			}
			c := &comparison{seen: map[[2]*schema.Type]bool{}, defaults: defaults}
			c.types(k.Name, ours, theirs)
			for _, problem := range c.problems {
				t.Error(problem)
			}
			compared++
		}
	}
	return compared
}

func TestTopologies2(t *testing.T) {
	var b bytes.Buffer
	if err := writeOpenAPI2(&b, api.Builtin(), Options{Subresources: testSubresources}); err != nil {
		t.Fatal(err)
	}
	if n := compareTopologies(t, b.Bytes(), false, func(*api.Kind, string) bool { return true }); n < 50 {
		t.Errorf("%d kinds compared, want at least 50", n)
	}
}

func TestTopologies3(t *testing.T) {
	maker := newOpenAPI3Builder(api.Builtin(), Options{Subresources: testSubresources})
	n := 0
	for _, name := range documentNames3(api.Builtin()) {
		var b bytes.Buffer
		if err := maker.write(&b, name); err != nil {
			t.Fatal(err)
		}
		n += compareTopologies(t, b.Bytes(), true, func(k *api.Kind, version string) bool { return prefix(k.Group, version)[1:] == name })
	}
	if n < 50 {
		t.Errorf("%d kinds compared, want at least 50", n)
	}
}
