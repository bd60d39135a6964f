package strategic

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// goTypes are the types made of Go types, by reflect.Type. There is one for each struct of the
// kinds that are patched, made once.
var goTypes sync.Map

// FromGoType returns the patch strategies of a Go struct, from the tags patchStrategy and patchMergeKey. The types of
// fields are loaded on demand, so that this is cheap for large kinds.
func FromGoType(t reflect.Type) (*Type, error) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("strategic: expected a Go struct, received %v; pass reflect.TypeFor[T]()", t)
	}
	return goStruct(t), nil
}

func goStruct(t reflect.Type) *Type {
	if known, ok := goTypes.Load(t); ok {
		return known.(*Type)
	}
	known, _ := goTypes.LoadOrStore(t, &Type{load: func(made *Type) { made.fields = goFields(t) }})
	return known.(*Type)
}

// goFields returns the fields that the JSON of a struct has, those of embedded structs
// included: of fields with the same name the one nearest to the root counts.
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

// addField adds a field of a struct, or returns the struct whose fields the JSON has instead.
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

// goField returns how a field of a struct is patched. A strategy that does not exist is as
// good as none: it can't be told to anyone who could do something about it.
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

// goValueType returns the type of what is in a field, an item or a map's element; nil if nothing
// can be declared in it.
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

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func isList(t reflect.Type) bool { return t.Kind() == reflect.Slice || t.Kind() == reflect.Array }

// hasCustomJSON reports whether the JSON of a type does not follow from its structure.
func hasCustomJSON(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(reflect.TypeFor[json.Marshaler]()) ||
		pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
