package builtin

import (
	"github.com/cadastre/cadastre/document"
)

// checkImmutable adds an error with the given detail if an update changes the value. It always returns true.
func checkImmutable(c *checker, value document.Value, detail string) bool {
	if !c.updating || c.isUnchanged(value) {
		return true
	}
	if _, t, pointer := c.liveValue(); value.IsAbsent() && t != nil && t.Kind == String && !pointer {
		value = t.zero()
	}
	c.invalidBy(originImmutable, errorValue(value), detail)
	return true
}

// isUnchanged reports whether the value at the current path is semantically equal to the value at the same path of the live
// object.
func (c *checker) isUnchanged(value document.Value) bool {
	old, t, pointer := c.liveValue()
	return semanticEqual(t, pointer, value, old)
}

// liveValue returns the value of the live object at the current path, its type (nil if unknown), and whether its field is a
// pointer.
func (c *checker) liveValue() (old document.Value, t *Type, pointer bool) {
	old, t = c.scopes[0].old, c.kind
	for _, s := range c.path {
		old = old.Get(s.name)
		t, pointer = fieldType(t, s.name)
	}
	return old, t, pointer
}

// fieldType returns the type of the field of t with the given name, or the element type if t is a map, and whether the field is
// a pointer. The type is nil if t is nil or has no such field.
func fieldType(t *Type, name string) (*Type, bool) {
	if t == nil {
		return nil, false
	}
	if t.Kind == Map {
		return t.Elem, false
	}
	f, ok := t.Field(name)
	if !ok {
		return nil, false
	}
	return f.Type, f.Pointer
}

// semanticEqual reports whether a and b, both of type t, are equal after decoding into Go structs, as kube-apiserver compares
// them: absent and zero values are equal, and quantities are compared by amount. pointer reports whether the field is a
// pointer. If t is nil, all empty values are equal.
func semanticEqual(t *Type, pointer bool, a, b document.Value) bool {
	if document.Equal(a, b) {
		return true
	}
	if isAbsentOrNull(a) || isAbsentOrNull(b) {
		return equalsAbsent(t, pointer, a) && equalsAbsent(t, pointer, b)
	}
	if a.Kind() != b.Kind() {
		return false
	}
	switch {
	case t != nil && t.Kind == Quantity:
		return equalQuantities(a, b)
	case a.Kind() == document.List:
		return equalLists(t, a, b)
	case a.Kind() == document.Map:
		return equalMaps(t, a, b)
	}
	return false
}

// equalsAbsent reports whether Go decodes v, a value of type t, like an absent field. pointer reports whether the field is a
// pointer.
func equalsAbsent(t *Type, pointer bool, v document.Value) bool {
	if isAbsentOrNull(v) {
		return true
	}
	if t == nil {
		return isEmpty(v)
	}
	switch t.Kind {
	case List, Map:
		return v.Len() == 0
	case Struct:
		if pointer {
			return false
		}
		for name, value := range v.Fields() {
			if ft, fp := fieldType(t, name); !equalsAbsent(ft, fp, value) {
				return false
			}
		}
		return true
	}
	return !pointer && isEmpty(v)
}

func equalQuantities(a, b document.Value) bool {
	x, errX := ParseQuantity(a.Text())
	y, errY := ParseQuantity(b.Text())
	return errX == nil && errY == nil && x.Cmp(y) == 0
}

func equalLists(t *Type, a, b document.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	var elem *Type
	if t != nil {
		elem = t.Elem
	}
	for i := range a.Len() {
		if !semanticEqual(elem, false, a.At(i), b.At(i)) {
			return false
		}
	}
	return true
}

// equalMaps reports whether a and b, which are structs or Go maps, are semantically equal. In a Go map, unlike in a struct, a
// key with an empty value differs from an absent key.
func equalMaps(t *Type, a, b document.Value) bool {
	if t != nil && t.Kind == Map && a.Len() != b.Len() {
		return false
	}
	for name, value := range a.Fields() {
		if ft, fp := fieldType(t, name); !semanticEqual(ft, fp, value, b.Get(name)) {
			return false
		}
	}
	for name, value := range b.Fields() {
		if ft, fp := fieldType(t, name); !semanticEqual(ft, fp, a.Get(name), value) {
			return false
		}
	}
	return true
}
