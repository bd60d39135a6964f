package apply

import (
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// withNamed returns the set together with the declared fields that have something
// of the set below them. Ownership does not record such fields (nobody owns .spec
// for owning .spec.replicas), but whether they may be removed depends on what is
// below them. Entries of maps and items of lists are not added: these are owned by
// themselves.
func withNamed(s fieldset.Set, t *schema.Type) fieldset.Set {
	var b fieldset.Builder
	return addNamed(&b, s, t)
}

func addNamed(b *fieldset.Builder, s fieldset.Set, t *schema.Type) fieldset.Set {
	mark := b.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		child, declared := typeBelow(t, e)
		below := addNamed(b, s.Child(i), child)
		b.Push(e, s.Member(i) || declared && !below.IsEmpty(), below)
	}
	return b.Set(mark)
}

// typeBelow returns the topology that an element of a field set leads to, nil if
// there is none, and whether the element is a declared field.
func typeBelow(t *schema.Type, e fieldset.Element) (child *schema.Type, declared bool) {
	switch {
	case t == nil:
	case e.Kind() == fieldset.FieldName && t.Map != nil:
		return t.Map.TypeOf(e.Name())
	case e.Kind() == fieldset.Key && t.List != nil:
		return t.List.Item, false
	}
	return nil, false
}
