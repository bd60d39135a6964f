package strategic

import (
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// json returns a random JSON value; depth limits its nesting.
func (r *generator) json(depth int) document.Value {
	switch n := r.IntN(10); {
	case depth <= 0 || n < 2:
		return r.word()
	case n == 2:
		return document.NewInt(int64(r.IntN(4)))
	case n == 3:
		return document.NewNull()
	case n < 6:
		items := make([]document.Value, r.IntN(4))
		for i := range items {
			items[i] = r.json(depth - 1)
		}
		return document.NewList(items...)
	}
	return r.jsonMap(depth)
}

func (r *generator) jsonMap(depth int) document.Value {
	var fields []document.Field
	for range r.IntN(5) {
		fields = append(fields, document.Field{Name: r.name(), Value: r.json(depth - 1)})
	}
	return document.NewMap(fields...)
}

// name returns a random field name; some names need escapes in a JSON pointer.
func (r *generator) name() string {
	return []string{"a", "b", "c", "d", "a/b", "m~n", "", "0", "-", "~1"}[r.IntN(10)]
}

// pointer returns a random JSON pointer, usually to a value that exists in v.
func (r *generator) pointer(v document.Value) string {
	pointer := ""
	for {
		switch {
		case v.Kind() == document.Map && v.Len() > 0 && !r.chance(5):
			name, value := v.Field(r.IntN(v.Len()))
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			v = value
		case v.Kind() == document.List && v.Len() > 0 && !r.chance(5):
			i := r.IntN(v.Len())
			v = v.At(i)
			pointer += "/" + strconv.Itoa(i)
		case pointer == "" && r.chance(50):
			return ""
		default:
			return pointer + "/" + []string{"a", "b", "-", "0", "1", "-1", "9", "-9", "+1", "x", "", "00"}[r.IntN(12)]
		}
		if r.chance(25) {
			return pointer
		}
	}
}

// operations returns a random JSON patch for an object; most of its operations can be applied.
func (r *generator) operations(object document.Value) document.Value {
	operations := make([]document.Value, 1+r.IntN(3))
	for i := range operations {
		op := []string{"add", "remove", "replace", "move", "copy", "test", "unknown"}[r.IntN(100)%7]
		if op == "unknown" && !r.chance(5) {
			op = "add"
		}
		o := document.NewMap(document.Field{Name: "op", Value: document.NewString(op)},
			document.Field{Name: "path", Value: document.NewString(r.pointer(object))},
			document.Field{Name: "from", Value: document.NewString(r.pointer(object))})
		if !r.chance(5) {
			o = o.With("value", r.json(2))
		}
		if op == "test" && r.chance(80) {
			path := o.Get("path").Text()
			if at, ok := lookUp(object, path); ok {
				o = o.With("value", at)
			}
		}
		operations[i] = o
	}
	return document.NewList(operations...)
}

// lookUp returns the value at a JSON pointer, and whether it exists.
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
