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

// comparison is the state of a comparison of two merge topologies. seen contains the pairs of types that have been compared,
// because topologies may be cyclic.
type comparison struct {
	seen     map[[2]*schema.Type]bool
	defaults bool // defaults makes the comparison include the default values of fields and keys.
	problems []string
}

func (c *comparison) fail(path, format string, args ...any) {
	if len(c.problems) < 20 {
		c.problems = append(c.problems, path+": "+fmt.Sprintf(format, args...))
	}
}

func (c *comparison) types(path string, a, b *schema.Type) {
	if a == b || c.seen[[2]*schema.Type{a, b}] {
		return
	}
	if c.defaults && b != nil && b.Name == intOrString && a == schema.Untyped {
		return // OpenAPI v3 documents, also those of kube-apiserver, declare IntOrString as oneOf, which is loaded as untyped
	}
	c.seen[[2]*schema.Type{a, b}] = true
	if a == nil || b == nil || a.Scalar != b.Scalar || (a.List == nil) != (b.List == nil) || (a.Map == nil) != (b.Map == nil) {
		c.fail(path, "got type %+v, want %+v", a, b)
		return
	}
	if a.List != nil {
		c.lists(path, a.List, b.List)
	}
	if a.Map != nil {
		c.maps(path, a.Map, b.Map)
	}
}

func (c *comparison) lists(path string, a, b *schema.List) {
	if a.Relationship != b.Relationship || len(a.Keys) != len(b.Keys) {
		c.fail(path, "got list type %v with keys %v, want %v with %v", a.Relationship, a.Keys, b.Relationship, b.Keys)
		return
	}
	for i := range a.Keys {
		if a.Keys[i].Name != b.Keys[i].Name || c.defaults && a.Keys[i].Default.JSON() != b.Keys[i].Default.JSON() {
			c.fail(path, "got key %d = %+v, want %+v", i, a.Keys[i], b.Keys[i])
		}
	}
	c.types(path+"[]", a.Item, b.Item)
}

func (c *comparison) maps(path string, a, b *schema.Map) {
	if a.Atomic != b.Atomic || (a.Element == nil) != (b.Element == nil) || len(a.Fields) != len(b.Fields) {
		c.fail(path, "got map %+v, want %+v", a, b)
		return
	}
	if a.Element != nil {
		c.types(path+".*", a.Element, b.Element)
	}
	for i := range a.Fields {
		x, y := a.Fields[i], b.Fields[i]
		if x.Name != y.Name || c.defaults && x.Default.JSON() != y.Default.JSON() {
			c.fail(path, "got field %s with default %s, want %s with %s", x.Name, x.Default.JSON(), y.Name, y.Default.JSON())
			continue
		}
		c.types(path+"."+x.Name, x.Type, y.Type)
	}
}

// compareTopologies loads merge topologies from text, an OpenAPI document, and compares them with the topologies of the
// built-in kinds for which served returns true. It returns the number of compared kinds.
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
			want, ok := api.BuiltinTopology(k.Group, version, k.Name)
			if !served(k, version) || !ok {
				continue
			}
			got, ok := loaded.Kind(k.Group, version, k.Name)
			if !ok {
				t.Errorf("%s at %s: got no definition in the OpenAPI document, want one", k, version)
				continue
			}
			c := &comparison{seen: map[[2]*schema.Type]bool{}, defaults: defaults}
			c.types(k.Name, got, want)
			for _, problem := range c.problems {
				t.Errorf("topology in the OpenAPI document: %s", problem)
			}
			compared++
		}
	}
	return compared
}

// TestTopologies2 checks that the merge topologies in the OpenAPI v2 document equal those of the built-in kinds.
func TestTopologies2(t *testing.T) {
	var b bytes.Buffer
	if err := writeOpenAPI2(&b, api.Builtin(), Options{Subresources: testSubresources}); err != nil {
		t.Fatal(err)
	}
	if n := compareTopologies(t, b.Bytes(), false, func(*api.Kind, string) bool { return true }); n < 50 {
		t.Errorf("compared the topologies of %d kinds, want at least 50", n)
	}
}

// TestTopologies3 checks that the merge topologies in the OpenAPI v3 documents equal those of the built-in kinds.
func TestTopologies3(t *testing.T) {
	builder := newOpenAPI3Builder(api.Builtin(), Options{Subresources: testSubresources})
	n := 0
	for _, name := range documentNames3(api.Builtin()) {
		var b bytes.Buffer
		if err := builder.write(&b, name); err != nil {
			t.Fatal(err)
		}
		n += compareTopologies(t, b.Bytes(), true, func(k *api.Kind, version string) bool { return prefix(k.Group, version)[1:] == name })
	}
	if n < 50 {
		t.Errorf("compared the topologies of %d kinds, want at least 50", n)
	}
}
