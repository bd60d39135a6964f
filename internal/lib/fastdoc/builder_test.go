package fastdoc

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

func mustParse(t testing.TB, text string) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestBuilder(t *testing.T) {
	var b Builder
	old := mustParse(t, `{"keep":[1,2]}`)
	outer := b.Mark()
	inner := b.Mark()
	b.Push("x", document.NewInt(1))
	b.Push("y", document.Value{})
	if got := b.Pushed(inner); got != 1 {
		t.Errorf("Pushed() = %d, want 1", got)
	}
	m := b.Map(inner)
	b.Push("a", m)
	list := b.Mark()
	for i := range 100 {
		b.Push("", document.NewInt(int64(i)))
	}
	b.Push("b", b.List(list))
	gone := b.Mark()
	b.Push("z", document.NewNull())
	b.Drop(gone)
	b.Push("c", old.Get("keep"))
	b.Push("d", b.Map(b.Mark()))
	b.Push("e", b.List(b.Mark()))
	v := b.Map(outer)

	var numbers strings.Builder
	for i := range 100 {
		if i > 0 {
			numbers.WriteByte(',')
		}
		numbers.WriteString(document.NewInt(int64(i)).JSON())
	}
	want := `{"a":{"x":1},"b":[` + numbers.String() + `],"c":[1,2],"d":{},"e":[]}`
	if got := v.JSON(); got != want {
		t.Errorf("Map() = %s, want %s", got, want)
	}
	if again := mustParse(t, want); !document.Equal(v, again) {
		t.Error("the built value does not equal the value that is parsed from its JSON, want equal")
	}
}

// TestSortedMap checks that SortedMap sorts fields that were pushed in any order, and uses the last of several fields
// with the same name.
func TestSortedMap(t *testing.T) {
	for count := range 40 {
		var b Builder
		mark := b.Mark()
		var fields []document.Field
		for i := range count {
			f := document.Field{Name: string(rune('a' + i*7%13)), Value: document.NewInt(int64(i))}
			fields = append(fields, f)
			b.Push(f.Name, f.Value)
		}
		got, want := b.SortedMap(mark), map[string]document.Value{}
		for _, f := range fields {
			want[f.Name] = f.Value
		}
		if got.Kind() != document.Map || got.Len() != len(want) || !document.Equal(got, document.NewMap(fields...)) {
			t.Fatalf("SortedMap of %d fields = %s, want the sorted map %s", count, got, document.NewMap(fields...))
		}
		for i := range got.Len() {
			if !document.Same(got.At(i), want[got.Name(i)]) || i > 0 && got.Name(i-1) >= got.Name(i) {
				t.Fatalf("SortedMap of %d fields = %s, want the sorted map %s", count, got, document.NewMap(fields...))
			}
		}
	}
}

// TestRecycle checks that values in recycled memory are not mixed with the content of earlier values.
func TestRecycle(t *testing.T) {
	var b Builder
	for round, count := range []int{3, 200, 5, 1000, 0, 7} {
		outer := b.Mark()
		for i := range count {
			inner := b.Mark()
			b.Push("n", document.NewInt(int64(round)))
			if i%2 == 0 {
				b.Push("o", document.NewInt(int64(i)))
			}
			b.Push("", b.Map(inner))
		}
		list := b.List(outer)
		if list.Len() != count {
			t.Fatalf("round %d: the list has %d items, want %d", round, list.Len(), count)
		}
		for i, item := range list.Items() {
			want := document.NewMap(document.Field{Name: "n", Value: document.NewInt(int64(round))})
			if i%2 == 0 {
				want = want.With("o", document.NewInt(int64(i)))
			}
			if !document.Equal(item, want) {
				t.Fatalf("round %d: item %d = %s, want %s", round, i, item, want)
			}
		}
		b.Recycle()
		for _, field := range b.members.Chunk() {
			if field != (document.Field{}) {
				t.Fatalf("round %d: recycled memory holds references to documents, want none", round)
			}
		}
	}
}

func TestMapOf(t *testing.T) {
	var b Builder
	mark := b.Mark()
	for _, name := range []string{"x", "y"} {
		b.Push("", b.MapOf("name", document.NewString(name)))
	}
	if got := b.List(mark).JSON(); got != `[{"name":"x"},{"name":"y"}]` {
		t.Errorf(`list of MapOf values = %s, want [{"name":"x"},{"name":"y"}]`, got)
	}
}

// TestIsUnparsed checks that IsUnparsed returns true exactly for the values that ParseJSONExcept leaves unparsed.
func TestIsUnparsed(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":1}`: true, `[1]`: true, `{"a":{}}`: true, `{ "b": 1 }`: true, `{"b":1,"a":2}`: true,
		`{}`: false, `[]`: false, `{ }`: false, `"text"`: false, `""`: false, `12345`: false, `true`: false, `null`: false,
	} {
		doc, err := ParseJSONExcept(`{"parsed":`+text+`,"unparsed":`+text+`}`, document.Limits{}, "unparsed")
		if err != nil {
			t.Fatal(err)
		}
		if got := IsUnparsed(doc.Get("unparsed")); got != want {
			t.Errorf("%s: IsUnparsed() = %v, want %v", text, got, want)
		}
		if IsUnparsed(doc.Get("parsed")) || IsUnparsed(doc) {
			t.Errorf("%s: IsUnparsed() = true for a parsed value, want false", text)
		}
		if withBase, err := ParseJSONWithBase(`{"parsed":`+text+`}`, document.Limits{}, doc); err != nil || IsUnparsed(withBase.Get("parsed")) {
			t.Errorf("%s shared with the base: IsUnparsed() = %v, error = %v; want false, nil", text, IsUnparsed(withBase.Get("parsed")), err)
		}
	}
	for _, v := range []document.Value{{}, document.NewMap(), document.NewList(), document.NewString("text")} {
		if IsUnparsed(v) {
			t.Errorf("IsUnparsed(%s) = true, want false", v)
		}
	}
}

func TestHasPlainNames(t *testing.T) {
	for text, want := range map[string]bool{`{"a":1,"b/c":2}`: true, `{}`: true, `{"a":1,"\u0026":2}`: false, `{"a":1,"<":2}`: false, `{"é":1}`: false} {
		if got := HasPlainNames(mustParse(t, text)); got != want {
			t.Errorf("HasPlainNames(%s) = %v, want %v", text, got, want)
		}
	}
	if HasPlainNames(document.Value{}) || HasPlainNames(document.NewMap(document.Field{Name: "<", Value: document.NewNull()})) {
		t.Error("HasPlainNames() = true for a value that was not parsed, want false")
	}
}
