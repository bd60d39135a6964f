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
		t.Fatalf("field %q is missing", name)
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
		t.Error("references without an effective override do not share a type")
	}
	if field(t, root, "e") != atomic {
		t.Error("equal overrides do not share a type")
	}
	if atomic == plain || atomic.Name != "Pair" || field(t, atomic, "a") != field(t, plain, "a") {
		t.Error("a type with an override does not share the types of its fields")
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

// TestLongAliasChain refers to every alias of a long chain, which would take quadratic time if the chain were followed
// for each.
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
		t.Error("the aliases do not resolve to the type at the end of the chain")
	}
}

// nested returns inner, wrapped n times in before and after.
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

	// Through references a schema may nest deeper than inline.
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

// TestSharedDocumentParts loads a document of few values that share parts, which would be 3^40 schema objects without a
// limit.
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

// TestSchemaDoesNotKeepDocument checks that a loaded schema, which has a long lifetime, does not keep the text in
// memory that it was loaded from.
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
		t.Errorf("the schema retains %d bytes", kept)
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
		t.Error("untyped maps are not granular at every level")
	}
	if !schema.Opaque.Map.Atomic || schema.Opaque.Map.Element != schema.Opaque {
		t.Error("opaque maps are not atomic")
	}
}

func TestFind(t *testing.T) {
	m := &schema.Map{Element: schema.Untyped}
	for i := range 20 {
		if _, ok := m.Find("f10"); ok != (i > 0) {
			t.Fatalf("Find() = %v with %d fields", ok, i)
		}
		m.Fields = append(m.Fields, schema.Field{Name: "f" + strconv.Itoa(10+i), Type: schema.Opaque})
	}
	for i, f := range m.Fields {
		if got, ok := m.Find(f.Name); !ok || got != &m.Fields[i] {
			t.Errorf("Find(%s): not found", f.Name)
		}
	}
	for _, name := range []string{"", "f1", "f100", "f3", "z"} {
		if _, ok := m.Find(name); ok {
			t.Errorf("Find(%q): found, want not found", name)
		}
		if typ, declared := m.TypeOf(name); declared || typ != schema.Untyped {
			t.Errorf("TypeOf(%q): declared, want not declared", name)
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
