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
		t.Errorf("%d fields were pushed, want 1", got)
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
		t.Errorf("received %s, want %s", got, want)
	}
	if again := mustParse(t, want); !document.Equal(v, again) {
		t.Error("what was built does not equal what was read")
	}
}

// TestSortedMap: fields come in any order, and of those with the same name the last stays.
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
			t.Fatalf("%d fields: got %s", count, got)
		}
		for i := range got.Len() {
			if !document.Same(got.At(i), want[got.Name(i)]) || i > 0 && got.Name(i-1) >= got.Name(i) {
				t.Fatalf("%d fields: got %s", count, got)
			}
		}
	}
}

// TestRecycle: values built in recycled memory show nothing of the previous ones.
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
			t.Fatalf("round %d: %d items, want %d", round, list.Len(), count)
		}
		for i, item := range list.Items() {
			want := document.NewMap(document.Field{Name: "n", Value: document.NewInt(int64(round))})
			if i%2 == 0 {
				want = want.With("o", document.NewInt(int64(i)))
			}
			if !document.Equal(item, want) {
				t.Fatalf("round %d, item %d: %s, want %s", round, i, item, want)
			}
		}
		b.Recycle()
		for _, field := range b.members.Chunk() {
			if field != (document.Field{}) {
				t.Fatalf("round %d: used memory keeps documents alive", round)
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
		t.Errorf("got %s", got)
	}
}

// TestIsSealed compares IsSealed with how documents are parsed.
func TestIsSealed(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":1}`: true, `[1]`: true, `{"a":{}}`: true, `{ "b": 1 }`: true, `{"b":1,"a":2}`: true,
		`{}`: false, `[]`: false, `{ }`: false, `"text"`: false, `""`: false, `12345`: false, `true`: false, `null`: false,
	} {
		doc, err := ParseJSONSealed(`{"open":`+text+`,"sealed":`+text+`}`, document.Limits{}, "sealed")
		if err != nil {
			t.Fatal(err)
		}
		if got := IsSealed(doc.Get("sealed")); got != want {
			t.Errorf("%s: sealed is %v, want %v", text, got, want)
		}
		if IsSealed(doc.Get("open")) || IsSealed(doc) {
			t.Errorf("%s: an open value is reported as sealed", text)
		}
		if beside, err := ParseJSONBeside(`{"open":`+text+`}`, document.Limits{}, doc); err != nil || IsSealed(beside.Get("open")) {
			t.Errorf("%s: a shared value is reported as sealed (%v)", text, err)
		}
	}
	for _, v := range []document.Value{{}, document.NewMap(), document.NewList(), document.NewString("text")} {
		if IsSealed(v) {
			t.Errorf("%s is reported as sealed", v)
		}
	}
}

func TestHasPlainNames(t *testing.T) {
	for text, want := range map[string]bool{`{"a":1,"b/c":2}`: true, `{}`: true, `{"a":1,"\u0026":2}`: false, `{"a":1,"<":2}`: false, `{"é":1}`: false} {
		if got := HasPlainNames(mustParse(t, text)); got != want {
			t.Errorf("%s: received %v, want %v", text, got, want)
		}
	}
	if HasPlainNames(document.Value{}) || HasPlainNames(document.NewMap(document.Field{Name: "<", Value: document.NewNull()})) {
		t.Error("the names of these values are not known to be plain")
	}
}
