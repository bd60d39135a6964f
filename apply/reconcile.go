package apply

import (
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// reconcile fits a field set to a topology that may have changed since the set was
// written. Where something granular has become atomic, owning any part of it means
// owning all of it. The result shares what did not change; most often it is the
// set itself.
func reconcile(s fieldset.Set, t *schema.Type) fieldset.Set {
	if fits(s, t) {
		return s
	}
	var b fieldset.Builder
	mark := b.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		child := typeToReconcile(t, e)
		switch {
		case child == nil:
			b.Push(e, s.Member(i), s.Child(i))
		case becameAtomic(child, s.Child(i)):
			b.Push(e, true, fieldset.Set{})
		default:
			b.Push(e, s.Member(i), reconcile(s.Child(i), child))
		}
	}
	return b.Set(mark)
}

// fits reports whether a set needs no reconciliation.
func fits(s fieldset.Set, t *schema.Type) bool {
	for i := range s.Len() {
		child := typeToReconcile(t, s.Element(i))
		if child == nil {
			continue
		}
		if becameAtomic(child, s.Child(i)) || !fits(s.Child(i), child) {
			return false
		}
	}
	return true
}

// becameAtomic reports whether a set has parts of something that is atomic now.
func becameAtomic(t *schema.Type, below fieldset.Set) bool {
	if below.IsEmpty() {
		return false
	}
	switch {
	case t.Map != nil:
		return t.Map.Atomic && !isDeduced(t.Map)
	case t.Scalar != schema.NoScalar:
		return false
	}
	return t.List != nil && t.List.Relationship == schema.Atomic
}

// typeToReconcile returns the topology that an element leads to, nil where
// nothing is declared: what is deduced from values can't have changed.
func typeToReconcile(t *schema.Type, e fieldset.Element) *schema.Type {
	switch {
	case t.Map != nil:
		if isDeduced(t.Map) {
			return nil
		}
		if e.Kind() == fieldset.FieldName {
			child, _ := t.Map.TypeOf(e.Name())
			return child
		}
		return t.Map.Element
	case t.Scalar == schema.NoScalar && t.List != nil:
		return t.List.Item
	}
	return nil
}

// isDeduced reports whether a map is one of which nothing at all is declared.
func isDeduced(m *schema.Map) bool {
	if len(m.Fields) > 0 || m.Element == nil {
		return false
	}
	return m.Element == schema.Untyped || m.Element.Name == "" && m.Element.Scalar == schema.AnyScalar
}
