package builtin

import (
	"github.com/cadastre/cadastre/document"
)

// immutable refuses a value that is not what it was.
func immutable(c *checker, now document.Value, detail string) bool {
	if !c.updating || c.isAsBefore(now) {
		return true
	}
	if _, t, pointer := c.before(); now.IsAbsent() && t != nil && t.Kind == String && !pointer {
		now = t.zero()
	}
	c.invalid(shown(now), detail)
	return true
}

// isAsBefore reports whether the value where the checker is was the same before.
func (c *checker) isAsBefore(now document.Value) bool {
	old, t, pointer := c.before()
	return same(t, pointer, now, old)
}

// before returns what the live object has where the checker is, its type, and whether that is a pointer.
func (c *checker) before() (old document.Value, t *Type, pointer bool) {
	old, t = c.scopes[0].old, c.kind
	for _, s := range c.where {
		old = old.Get(s.name)
		t, pointer = below(t, s.name)
	}
	return old, t, pointer
}

// below returns the type of a field, and whether it is a pointer; nil if it is not known.
func below(t *Type, name string) (*Type, bool) {
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

// same compares as kube-apiserver does what it has decoded: what is not there is the same as
// nothing in it, and quantities are the same if they are as much. Nothing is known about a nil
// type; then whatever is empty is the same.
func same(t *Type, pointer bool, a, b document.Value) bool {
	if document.Equal(a, b) {
		return true
	}
	if isNothing(a) || isNothing(b) {
		return sameAsNothing(t, pointer, a) && sameAsNothing(t, pointer, b)
	}
	if a.Kind() != b.Kind() {
		return false
	}
	switch {
	case t != nil && t.Kind == Quantity:
		return sameQuantity(a, b)
	case a.Kind() == document.List:
		return sameLists(t, a, b)
	case a.Kind() == document.Map:
		return sameMaps(t, a, b)
	}
	return false
}

// sameAsNothing reports whether Go can not tell a value from one that is not there.
func sameAsNothing(t *Type, pointer bool, v document.Value) bool {
	if isNothing(v) {
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
			if ft, fp := below(t, name); !sameAsNothing(ft, fp, value) {
				return false
			}
		}
		return true
	}
	return !pointer && isEmpty(v)
}

func sameQuantity(a, b document.Value) bool {
	x, errX := ParseQuantity(a.Text())
	y, errY := ParseQuantity(b.Text())
	return errX == nil && errY == nil && x.Cmp(y) == 0
}

func sameLists(t *Type, a, b document.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	var elem *Type
	if t != nil {
		elem = t.Elem
	}
	for i := range a.Len() {
		if !same(elem, false, a.At(i), b.At(i)) {
			return false
		}
	}
	return true
}

// sameMaps compares the fields that either has. In a map of Go, unlike in a struct, a key with
// nothing in it is there.
func sameMaps(t *Type, a, b document.Value) bool {
	if t != nil && t.Kind == Map && a.Len() != b.Len() {
		return false
	}
	for name, value := range a.Fields() {
		if ft, fp := below(t, name); !same(ft, fp, value, b.Get(name)) {
			return false
		}
	}
	for name, value := range b.Fields() {
		if ft, fp := below(t, name); !same(ft, fp, a.Get(name), value) {
			return false
		}
	}
	return true
}
