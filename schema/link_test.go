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

// field returns the type of a declared field of a struct type.
func field(t *testing.T, typ *schema.Type, name string) *schema.Type {
	t.Helper()
	f, declared := typ.Map.TypeOf(name)
	if !declared {
		t.Fatalf("field %q is not declared, want it declared", name)
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
		t.Error("references without an effective override have different types, want one shared type")
	}
	if field(t, root, "e") != atomic {
		t.Error("references with the same override have different types, want one shared type")
	}
	if atomic == plain || atomic.Name != "Pair" || field(t, atomic, "a") != field(t, plain, "a") {
		t.Error("an override must create another type Pair that shares the types of its fields")
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
			wantError(t, err, "definitions.", "expected a reference that leads to a type, received a cycle of references", "declare the type")
			if n := strings.Count(err.Error(), "cycle"); n != 1 {
				t.Errorf("the cycle is reported %d times, want 1:\n%v", n, err)
			}
		})
	}
}

// TestLongAliasChain checks that a long chain of aliases is followed only once. The document refers to every alias of
// the chain; following the chain for each reference would take quadratic time.
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
		t.Error("an alias does not resolve to the type at the end of the chain")
	}
}

// nested returns inner with n copies of before in front of it and n copies of after behind it.
func nested(inner, before, after string, n int) []byte {
	return []byte(strings.Repeat(before, n) + inner + strings.Repeat(after, n))
}

func TestDeepNesting(t *testing.T) {
	object := nested(`{"type":"string"}`, `{"type":"array","items":`, `}`, 3000)
	_, err := schema.LoadOpenAPI(parseJSON(t, []byte(`{"definitions":{"A":`+string(object)+`}}`)))
	wantError(t, err, "…", "at most 1000 levels of nested schemas", "name the inner types")

	atom := nested(`{"scalar":"string"}`, `{"list":{"elementRelationship":"atomic","elementType":`, `}}`, 3000)
	_, err = schema.LoadTypes(parseJSON(t, []byte(`{"types":[{"name":"A","map":{"elementType":`+string(atom)+`}}]}`)))
	wantError(t, err, "at most 1000 levels of nested schemas")

	// Types that refer to each other may nest deeper than inline schemas.
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

// TestSharedDocumentParts checks that the number of schema objects is limited: the values of the document share their
// parts, so the small document expands to 3^40 schema objects.
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
	wantError(t, err, "fewer than 10000 schema objects")
}

// TestSchemaDoesNotKeepDocument checks that a loaded schema, which has a long lifetime, does not keep the text of its
// document in memory.
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
		t.Errorf("the schema keeps %d bytes in memory, want at most 16 MiB", kept)
	}
	a, _ := s.Type("A")
	if got := topology(a); got != `{field: string="word"}` {
		t.Errorf("topology = %s, want {field: string=\"word\"}", got)
	}
	runtime.KeepAlive(text)
}

func TestUntypedAndOpaque(t *testing.T) {
	checkInvariants(t, schema.Untyped)
	checkInvariants(t, schema.Opaque)
	if schema.Untyped.Map.Atomic || schema.Untyped.Map.Element != schema.Untyped || schema.Untyped.List.Item != schema.Opaque {
		t.Error("Untyped must have granular maps at every level, and lists of Opaque items")
	}
	if !schema.Opaque.Map.Atomic || schema.Opaque.Map.Element != schema.Opaque {
		t.Error("Opaque must have atomic maps at every level")
	}
}

func TestFind(t *testing.T) {
	m := &schema.Map{Element: schema.Untyped}
	for i := range 20 {
		if _, ok := m.Find("f10"); ok != (i > 0) {
			t.Fatalf("Find(f10) in a map with %d fields: found = %v, want %v", i, ok, i > 0)
		}
		m.Fields = append(m.Fields, schema.Field{Name: "f" + strconv.Itoa(10+i), Type: schema.Opaque})
	}
	for i, f := range m.Fields {
		if got, ok := m.Find(f.Name); !ok || got != &m.Fields[i] {
			t.Errorf("Find(%s) returns another field than the declared one", f.Name)
		}
	}
	for _, name := range []string{"", "f1", "f100", "f3", "z"} {
		if _, ok := m.Find(name); ok {
			t.Errorf("Find(%q): found, want not found", name)
		}
		if typ, declared := m.TypeOf(name); declared || typ != schema.Untyped {
			t.Errorf("TypeOf(%q) = %v, declared %v, want Untyped, false", name, typ, declared)
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
			t.Errorf("%s: Resolve(%s) = %d, want %d", topology(test.typ), test.kind, got, test.want)
		}
	}
}
