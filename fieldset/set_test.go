package fieldset

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/document"
)

func TestNew(t *testing.T) {
	for _, test := range []struct {
		name  string
		paths []string
		want  string
	}{
		{"empty input", nil, `{}`},
		{"the whole document is never a member", []string{""}, `{}`},
		{"a path does not imply the paths above it", []string{"a.b"}, `{"f:a":{"f:b":{}}}`},
		{"a path and one below it", []string{"a.b", "a"}, `{"f:a":{".":{},"f:b":{}}}`},
		{"duplicate path", []string{"a", "a", "", ""}, `{"f:a":{}}`},
		{"any order", []string{"b", `a[=2]`, "a[=1]", "a[0]", "a[k=1].x", "a.z"}, `{"f:a":{"f:z":{},"k:{\"k\":1}":{"f:x":{}},"v:1":{},"v:2":{},"i:0":{}},"f:b":{}}`},
		{"equal numbers are one element", []string{"a[=1]", "a[=1.0].b", "a[=1e0]"}, `{"f:a":{"v:1":{".":{},"f:b":{}}}}`},
		{"large numbers", []string{"[=1e22]", "[=10000000000000000000000].a", "[=1.0e+22].b"}, `{"v:1e+22":{".":{},"f:a":{},"f:b":{}}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := setOf(t, test.paths...)
			checkInvariants(t, s)
			if got := s.FieldsV1(); got != test.want {
				t.Errorf("New().FieldsV1() = %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAtAndBelow(t *testing.T) {
	s := setOf(t, "spec", "spec.image", `spec.ports[port=80].name`)
	below, member := s.Below(NameElement("spec"))
	if want := setOf(t, "image", "ports[port=80].name"); !member || !below.Equal(want) {
		t.Errorf("Below(spec): got member %v and paths\n%swant member true and paths\n%s", member, below, want)
	}
	if below, member = s.Below(NameElement("none")); member || !below.IsEmpty() {
		t.Errorf("Below(none): got member %v and paths\n%swant no member and no paths", member, below)
	}
	if below, member = below.Below(IndexElement(0)); member || !below.IsEmpty() {
		t.Errorf("Below of the empty set: got member %v and paths\n%swant no member and no paths", member, below)
	}
	for path, want := range map[string]Set{
		"":                        s,
		"spec.ports":              setOf(t, "[port=80].name"),
		"spec.ports[port=80]":     setOf(t, "name"),
		"spec.ports[port=80.0]":   setOf(t, "name"),
		"spec.ports[port=80].nam": {},
		"spec.image":              {},
		"status.image":            {},
	} {
		if got := s.At(mustPath(t, path)); !got.Equal(want) {
			t.Errorf("At(%q) =\n%swant\n%s", path, got, want)
		}
	}
	if s.Has(nil) || s.Has(mustPath(t, "spec.ports")) || !s.Has(mustPath(t, "spec.ports[port=80].name")) {
		t.Error("Has() is wrong: want true for .spec.ports[port=80].name, false for its prefix .spec.ports and the empty path")
	}
}

func TestAllStopsEarly(t *testing.T) {
	s := setOf(t, "a", "b.c", "b.d.e", "f.g")
	all := s.Paths()
	for stop := range all {
		var got []Path
		for p := range s.All() {
			got = append(got, slices.Clone(p))
			if len(got) == stop+1 {
				break
			}
		}
		if !slices.EqualFunc(got, all[:stop+1], Path.Equal) {
			t.Errorf("All() with a loop that ends after %d paths yields %v, want %v", stop+1, got, all[:stop+1])
		}
	}
	if got, want := s.String(), ".a\n.b.c\n.b.d.e\n.f.g\n"; got != want {
		t.Errorf("String() = %q, want %q", got, want)
	}
}

func TestBuilder(t *testing.T) {
	var b builder
	outer := b.Mark()
	inner := b.Mark()
	b.Push(NameElement("y"), true, Set{})
	b.Push(NameElement("empty"), false, Set{}) // Push ignores this element: it is neither a member nor has children
	b.Push(IndexElement(0), true, Set{})
	b.Push(NameElement("x"), true, Set{})
	below := b.Set(inner)
	b.Push(NameElement("b"), false, below)
	b.Push(NameElement("a"), true, below)
	s := b.Set(outer)
	if got, want := s.FieldsV1(), `{"f:a":{".":{},"f:x":{},"f:y":{},"i:0":{}},"f:b":{"f:x":{},"f:y":{},"i:0":{}}}`; got != want {
		t.Errorf("built set = %s\nwant        %s", got, want)
	}
	checkInvariants(t, s)
	if empty := b.Set(b.Mark()); !empty.IsEmpty() {
		t.Errorf("Set of a level without elements = %s, want an empty set", empty)
	}
}

// TestBuilderLevelsDoNotOverlap checks that the slices of levels, which share one array, have no spare capacity.
// Appending to a level must not overwrite the next level.
func TestBuilderLevelsDoNotOverlap(t *testing.T) {
	var b builder
	var sets []Set
	for n := range 200 {
		mark := b.Mark()
		for i := range n % 7 {
			b.Push(IndexElement(i), true, Set{})
		}
		sets = append(sets, b.Set(mark))
	}
	for n, s := range sets {
		if s.Size() != n%7 {
			t.Fatalf("set %d has %d members, want %d", n, s.Size(), n%7)
		}
		if n%7 > 0 && cap(s.children) != len(s.children) {
			t.Fatalf("set %d has spare capacity, want none", n)
		}
	}
}

func TestElementAccessors(t *testing.T) {
	key := KeyElement(KeyField{"b", document.NewInt(1)}, KeyField{"a", document.NewString("x")}, KeyField{"gone", document.Value{}}, KeyField{"b", document.NewInt(2)})
	if got, want := key.String(), `[a="x",b=2]`; got != want {
		t.Errorf("KeyElement() = %s, want %s", got, want)
	}
	if fields := key.KeyFields(); len(fields) != 2 || fields[0].Name != "a" || fields[0].Value.Text() != "x" || fields[1].Name != "b" {
		t.Errorf("KeyFields() = %v, want a and b, where a is x", fields)
	}
	if ValueElement(document.Value{}) != (Element{}) {
		t.Errorf("ValueElement() of an absent value = %s, want the zero Element", ValueElement(document.Value{}))
	}
	name, val, index := NameElement("n"), ValueElement(document.NewBool(true)), IndexElement(3)
	for _, e := range []Element{key, name, val, index, {}} {
		if e != name && e.Name() != "" || e != index && e.Index() != -1 || e != key && e.KeyFields() != nil || e != val && !e.Value().IsAbsent() {
			t.Errorf("%s: an accessor for another kind of element returns a value, want none", e)
		}
	}
	if name.Name() != "n" || name.Kind() != FieldName || !val.Value().Bool() || val.Kind() != SetValue || index.Index() != 3 || index.Kind() != Index {
		t.Error("an accessor of Element does not return the value that was passed to the constructor")
	}
}
