package strategic

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// goTypes caches the *Type of each Go struct; the key is its reflect.Type.
var goTypes sync.Map

// FromGoType returns the patch strategies of a Go struct, which are declared by the tags patchStrategy and
// patchMergeKey. The types of its fields are loaded on demand, so the call is cheap even for large kinds. It returns
// an error if t is neither a struct nor a pointer to one.
func FromGoType(t reflect.Type) (*Type, error) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("strategic: expected a Go struct, received %v; pass reflect.TypeFor[T]()", t)
	}
	return goStruct(t), nil
}

// goStruct returns the Type of a struct from the cache; if it is not cached yet, it is added without its fields, which
// are loaded at first use.
func goStruct(t reflect.Type) *Type {
	if known, ok := goTypes.Load(t); ok {
		return known.(*Type)
	}
	known, _ := goTypes.LoadOrStore(t, &Type{load: func(made *Type) { made.fields = goFields(t) }})
	return known.(*Type)
}

// goFields returns the fields of a struct and of its embedded structs that encoding/json encodes, by JSON name. Of
// fields with the same name the least nested one is used, as in encoding/json.
func goFields(t reflect.Type) map[string]*field {
	fields := map[string]*field{}
	seen := map[reflect.Type]bool{}
	for level := []reflect.Type{t}; len(level) > 0; {
		var next []reflect.Type
		found := map[string]*field{}
		for _, t := range level {
			if seen[t] {
				continue
			}
			seen[t] = true
			for i := range t.NumField() {
				if embedded := addField(found, t.Field(i)); embedded != nil {
					next = append(next, embedded)
				}
			}
		}
		for name, f := range found {
			if fields[name] == nil {
				fields[name] = f
			}
		}
		level = next
	}
	return fields
}

// addField adds the struct field f to fields. If f is an embedded struct whose fields are inlined, it adds nothing and
// returns the type of the embedded struct.
func addField(fields map[string]*field, f reflect.StructField) (embedded reflect.Type) {
	tag := f.Tag.Get("json")
	name, _, _ := strings.Cut(tag, ",")
	value := deref(f.Type)
	switch {
	case tag == "-":
	case f.Anonymous && name == "" && value.Kind() == reflect.Struct:
		return value
	case f.IsExported():
		if name == "" {
			name = f.Name
		}
		fields[name] = goField(f, value)
	}
	return nil
}

// goField returns the patch strategy and type of a struct field. An invalid patchStrategy tag is ignored.
func goField(f reflect.StructField, value reflect.Type) *field {
	s, err := readStrategy(f.Tag.Get("patchStrategy"), f.Tag.Get("patchMergeKey"))
	if err != nil {
		s = strategy{}
	}
	if isList(value) {
		value = deref(value.Elem())
	}
	return &field{s, goValueType(value)}
}

// goValueType returns the Type of a field, list item or map value with the Go type t. It returns nil if t is neither a
// struct nor a map, or has custom JSON.
func goValueType(t reflect.Type) *Type {
	switch {
	case hasCustomJSON(t):
		return nil
	case t.Kind() == reflect.Struct:
		return goStruct(t)
	case t.Kind() == reflect.Map:
		return &Type{load: func(made *Type) {
			element := deref(t.Elem())
			if isList(element) {
				element = deref(element.Elem())
			}
			made.element = &field{typ: goValueType(element)}
		}}
	}
	return nil
}

// deref returns the type that a pointer type points to; it returns other types unchanged.
func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Array }

// hasCustomJSON reports whether a type implements json.Marshaler or encoding.TextMarshaler.
func hasCustomJSON(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(reflect.TypeFor[json.Marshaler]()) ||
		pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
