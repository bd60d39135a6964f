package strategic

import (
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// json returns a random JSON value; depth limits its nesting.
func (g *generator) json(depth int) document.Value {
	switch n := g.IntN(10); {
	case depth <= 0 || n < 2:
		return g.word()
	case n == 2:
		return document.NewInt(int64(g.IntN(4)))
	case n == 3:
		return document.NewNull()
	case n < 6:
		items := make([]document.Value, g.IntN(4))
		for i := range items {
			items[i] = g.json(depth - 1)
		}
		return document.NewList(items...)
	}
	return g.jsonMap(depth)
}

func (g *generator) jsonMap(depth int) document.Value {
	var fields []document.Field
	for range g.IntN(5) {
		fields = append(fields, document.Field{Name: g.name(), Value: g.json(depth - 1)})
	}
	return document.NewMap(fields...)
}

// name returns a random field name; some names need escapes in a JSON pointer.
func (g *generator) name() string {
	return []string{"a", "b", "c", "d", "a/b", "m~n", "", "0", "-", "~1"}[g.IntN(10)]
}

// pointer returns a random JSON pointer, usually to a value that exists in v.
func (g *generator) pointer(v document.Value) string {
	pointer := ""
	for {
		switch {
		case v.Kind() == document.Map && v.Len() > 0 && !g.chance(5):
			name, value := v.Field(g.IntN(v.Len()))
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			v = value
		case v.Kind() == document.List && v.Len() > 0 && !g.chance(5):
			i := g.IntN(v.Len())
			v = v.At(i)
			pointer += "/" + strconv.Itoa(i)
		case pointer == "" && g.chance(50):
			return ""
		default:
			return pointer + "/" + []string{"a", "b", "-", "0", "1", "-1", "9", "-9", "+1", "x", "", "00"}[g.IntN(12)]
		}
		if g.chance(25) {
			return pointer
		}
	}
}

// operations returns a random JSON patch for an object; most of its operations can be applied.
func (g *generator) operations(object document.Value) document.Value {
	operations := make([]document.Value, 1+g.IntN(3))
	for i := range operations {
		op := []string{"add", "remove", "replace", "move", "copy", "test", "unknown"}[g.IntN(100)%7]
		if op == "unknown" && !g.chance(5) {
			op = "add"
		}
		o := document.NewMap(document.Field{Name: "op", Value: document.NewString(op)},
			document.Field{Name: "path", Value: document.NewString(g.pointer(object))},
			document.Field{Name: "from", Value: document.NewString(g.pointer(object))})
		if !g.chance(5) {
			o = o.With("value", g.json(2))
		}
		if op == "test" && g.chance(80) {
			path := o.Get("path").Text()
			if at, ok := lookUp(object, path); ok {
				o = o.With("value", at)
			}
		}
		operations[i] = o
	}
	return document.NewList(operations...)
}

// lookUp returns the value of v at the given JSON pointer, and whether that value exists.
func lookUp(v document.Value, pointer string) (document.Value, bool) {
	for pointer != "" {
		var step string
		step, pointer, _ = strings.Cut(pointer[1:], "/")
		if pointer != "" {
			pointer = "/" + pointer
		}
		switch v.Kind() {
		case document.Map:
			v = v.Get(strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		case document.List:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= v.Len() {
				return v, false
			}
			v = v.At(i)
		default:
			return v, false
		}
	}
	return v, !v.IsAbsent()
}
