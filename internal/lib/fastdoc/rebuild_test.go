package fastdoc

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestRebuild checks that Finish returns an unmodified list or map itself, and a modified one with all its parts in
// order.
func TestRebuild(t *testing.T) {
	for _, c := range []struct{ name, from, change, want string }{
		{"unmodified map", `{"a":1,"b":2}`, "", `{"a":1,"b":2}`},
		{"first field", `{"a":1,"b":2,"c":3}`, "a", `{"a":"new","b":2,"c":3}`},
		{"middle field", `{"a":1,"b":2,"c":3}`, "b", `{"a":1,"b":"new","c":3}`},
		{"list item", `[1,2,3]`, "1", `[1,"new",3]`},
		{"unmodified list", `[1,2,3]`, "", `[1,2,3]`},
	} {
		from := mustParse(t, c.from)
		var b Builder
		r := b.Rebuild(from)
		for i := range from.Len() {
			name := string(rune('0' + i))
			if from.Kind() == document.Map {
				name = from.Name(i)
			}
			value := from.At(i)
			if name == c.change {
				value = document.NewString("new")
			}
			r.Add(i, name, value, from.At(i))
		}
		got := r.Finish()
		if got.JSON() != c.want || r.Begun() != (c.change != "") || r.Begun() == document.Same(got, from) {
			t.Errorf("%s: Finish() = %s, Begun() = %v, want %s, %v", c.name, got.JSON(), r.Begun(), c.want, c.change != "")
		}
	}
}

// TestRebuildOmitsFields checks that the result does not contain fields that are not added after Begin.
func TestRebuildOmitsFields(t *testing.T) {
	from := mustParse(t, `{"a":1,"b":2,"c":3}`)
	var b Builder
	r := b.Rebuild(from)
	r.Add(0, "a", from.At(0), from.At(0))
	r.Begin(1)
	r.Begin(1) // the second call of Begin has no effect
	r.Add(2, "c", from.At(2), from.At(2))
	if got := r.Finish().JSON(); got != `{"a":1,"c":3}` {
		t.Errorf(`Finish() = %s, want {"a":1,"c":3}`, got)
	}
}
