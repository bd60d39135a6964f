package schema_test

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// field returns the type of a field of a struct.
func field(t *testing.T, typ *schema.Type, name string) *schema.Type {
	t.Helper()
	f, declared := typ.Map.TypeOf(name)
	if !declared {
		t.Fatalf("there is no field %q", name)
	}
	return f
}

func TestReferencesSharePointers(t *testing.T) {
	root, err := loadProperty(t, `{type: object, properties: {
		a: {$ref: '#/definitions/Pair'}, b: {$ref: '#/definitions/Alias'}, c: {$ref: '#/definitions/Pair', x-kubernetes-map-type: granular},
		d: {$ref: '#/definitions/Pair', x-kubernetes-map-type: atomic}, e: {$ref: '#/definitions/AtomicAlias'}}}`)
	if err != nil {
		t.Fatal(err)
	}
	plain, atomic := field(t, root, "a"), field(t, root, "d")
	if field(t, root, "b") != plain || field(t, root, "c") != plain {
		t.Error("references without an effective override have types of their own")
	}
	if field(t, root, "e") != atomic {
		t.Error("equal overrides do not share a type")
	}
	if atomic == plain || atomic.Name != "Pair" || field(t, atomic, "a") != field(t, plain, "a") {
		t.Error("an override is not a copy of the type that shares all inside")
	}
}

func TestCircularAliases(t *testing.T) {
	for name, text := range map[string]string{
		"one":   `{A: {$ref: '#/definitions/A'}}`,
		"two":   `{A: {$ref: '#/definitions/B'}, B: {$ref: '#/definitions/A'}}`,
		"tail":  `{A: {$ref: '#/definitions/B'}, B: {$ref: '#/definitions/C'}, C: {$ref: '#/definitions/B'}}`,
		"field": `{A: {$ref: '#/definitions/B'}, B: {$ref: '#/definitions/A'}, C: {type: object, properties: {f: {$ref: '#/definitions/A'}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.LoadOpenAPI(parse(t, `{definitions: `+text+`}`))
			wantError(t, err, "definitions.", "expected a reference that leads to a type, received a circle of references", "declare the type")
			if n := strings.Count(err.Error(), "circle"); n != 1 {
				t.Errorf("reported %d times:\n%v", n, err)
			}
		})
	}
}

// TestLongAliasChain has every link of the chain used, which would be quadratic if
// chains were walked again and again.
func TestLongAliasChain(t *testing.T) {
	const length = 50_000
	var b strings.Builder
	b.WriteString(`{"definitions":{"T0":{"type":"object","properties":{"a":{"type":"string"}}}`)
	for i := 1; i < length; i++ {
		fmt.Fprintf(&b, `,"T%d":{"$ref":"#/definitions/T%d"}`, i, i-1)
	}
	b.WriteString(`}}`)
	s, err := schema.LoadOpenAPI(parseJSON(t, []byte(b.String())))
	if err != nil {
		t.Fatal(err)
	}
	first, _ := s.Type("T0")
	last, _ := s.Type("T" + strconv.Itoa(length-1))
	if first != last {
		t.Error("the chain does not lead to its end")
	}
}

// nested returns a value that is n times inside of itself.
func nested(inner, before, after string, n int) []byte {
	return []byte(strings.Repeat(before, n) + inner + strings.Repeat(after, n))
}

func TestDeepNesting(t *testing.T) {
	object := nested(`{"type":"string"}`, `{"type":"array","items":`, `}`, 3000)
	_, err := schema.LoadOpenAPI(parseJSON(t, []byte(`{"definitions":{"A":`+string(object)+`}}`)))
	wantError(t, err, "…", "schemas nested less deep than the limit", "name the inner types")

	atom := nested(`{"scalar":"string"}`, `{"list":{"elementRelationship":"atomic","elementType":`, `}}`, 3000)
	_, err = schema.LoadTypes(parseJSON(t, []byte(`{"types":[{"name":"A","map":{"elementType":`+string(atom)+`}}]}`)))
	wantError(t, err, "schemas nested less deep than the limit")

	// Depth that no document could have inline is fine through references.
	var b strings.Builder
	b.WriteString(`{"definitions":{"T0":{"type":"string"}`)
	for i := 1; i < 20_000; i++ {
		fmt.Fprintf(&b, `,"T%d":{"type":"object","properties":{"f":{"$ref":"#/definitions/T%d"}}}`, i, i-1)
	}
	s, err := schema.LoadOpenAPI(parseJSON(t, []byte(b.String()+`}}`)))
	if err != nil {
		t.Fatal(err)
	}
	last, _ := s.Type("T19999")
	checkInvariants(t, last)
}

// TestSharedDocumentParts has a document of a few values that share parts, and that
// would be 3^40 schemas if all were read.
func TestSharedDocumentParts(t *testing.T) {
	defer schema.LimitObjects(10_000)()
	object := parse(t, `{type: string}`)
	for range 40 {
		object = document.NewMap(
			document.Field{Name: "type", Value: document.NewString("object")},
			document.Field{Name: "properties", Value: document.NewMap(
				document.Field{Name: "a", Value: object},
				document.Field{Name: "b", Value: object},
				document.Field{Name: "c", Value: object},
			)},
		)
	}
	doc := document.NewMap(document.Field{Name: "definitions", Value: document.NewMap(
		document.Field{Name: "A", Value: object})})
	_, err := schema.LoadOpenAPI(doc)
	wantError(t, err, "fewer schemas than the limit")
}

// TestSchemaDoesNotKeepDocument checks that a loaded schema, which lives long, does
// not keep the text that it was loaded from.
func TestSchemaDoesNotKeepDocument(t *testing.T) {
	text := []byte(`{"definitions":{"A":{"type":"object","description":"` + strings.Repeat("x", 32<<20) +
		`","properties":{"field":{"type":"string","default":"word"}}}}}`)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, err := schema.LoadOpenAPI(parseJSON(t, text))
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 16<<20 {
		t.Errorf("the schema keeps %d bytes", kept)
	}
	a, _ := s.Type("A")
	if got := topology(a); got != `{field: string="word"}` {
		t.Errorf("got %s", got)
	}
	runtime.KeepAlive(text)
}

func TestUntypedAndOpaque(t *testing.T) {
	checkInvariants(t, schema.Untyped)
	checkInvariants(t, schema.Opaque)
	if schema.Untyped.Map.Atomic || schema.Untyped.Map.Element != schema.Untyped || schema.Untyped.List.Item != schema.Opaque {
		t.Error("untyped maps are not granular all the way down")
	}
	if !schema.Opaque.Map.Atomic || schema.Opaque.Map.Element != schema.Opaque {
		t.Error("opaque maps are not atomic")
	}
}

func TestFind(t *testing.T) {
	m := &schema.Map{Element: schema.Untyped}
	for i := range 20 {
		if _, ok := m.Find("f10"); ok != (i > 0) {
			t.Fatalf("found %v among %d fields", ok, i)
		}
		m.Fields = append(m.Fields, schema.Field{Name: "f" + strconv.Itoa(10+i), Type: schema.Opaque})
	}
	for i, f := range m.Fields {
		if got, ok := m.Find(f.Name); !ok || got != &m.Fields[i] {
			t.Errorf("%s is not found", f.Name)
		}
	}
	for _, name := range []string{"", "f1", "f100", "f3", "z"} {
		if _, ok := m.Find(name); ok {
			t.Errorf("%q is found", name)
		}
		if typ, declared := m.TypeOf(name); declared || typ != schema.Untyped {
			t.Errorf("%q is declared", name)
		}
	}
}

func TestResolve(t *testing.T) {
	all := schema.Untyped
	text := &schema.Type{Scalar: schema.String}
	list := &schema.Type{Scalar: schema.String, List: &schema.List{Item: text}}
	for _, test := range []struct {
		typ  *schema.Type
		kind document.Kind
		want schema.Alternative
	}{
		{all, document.String, schema.ScalarAlternative},
		{all, document.Bool, schema.ScalarAlternative},
		{all, document.Number, schema.ScalarAlternative},
		{all, document.List, schema.ListAlternative},
		{all, document.Map, schema.MapAlternative},
		{all, document.Null, schema.MapAlternative},
		{text, document.Map, schema.ScalarAlternative},
		{list, document.Null, schema.ScalarAlternative},
		{list, document.List, schema.ListAlternative},
		{&schema.Type{List: list.List}, document.Null, schema.ListAlternative},
		{&schema.Type{}, document.Null, schema.NoAlternative},
	} {
		if got := test.typ.Resolve(test.kind); got != test.want {
			t.Errorf("%s as %s: got %d, want %d", topology(test.typ), test.kind, got, test.want)
		}
	}
}
