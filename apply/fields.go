package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// fieldsOf returns the field set that a manager owns when it applies the document: every scalar, atomic list and atomic
// map; every item of a granular list and every element of a granular map; every empty map and every null. A declared
// field whose value is a granular map or list is not a member itself.
func fieldsOf(t *schema.Type, v document.Value) fieldset.Set {
	var b setBuilder
	return b.fieldsBelow(t, v)
}

// pathsOf returns the paths of all values in a document, containers included, down to atomic values.
func pathsOf(t *schema.Type, v document.Value) fieldset.Set {
	b := setBuilder{containers: true}
	return b.fieldsBelow(t, v)
}

// setBuilder builds field sets of documents.
type setBuilder struct {
	fastset.Builder
	// containers reports whether the paths of declared granular maps and lists are members, too.
	containers bool
}

// fieldsBelow returns the field set below v, with paths relative to v.
func (b *setBuilder) fieldsBelow(t *schema.Type, v document.Value) fieldset.Set {
	switch shapeOf(t, v) {
	case mapShape:
		return b.fields(t, v)
	case listShape:
		return b.items(t.List, v)
	}
	return fieldset.Set{}
}

// fields returns the field set below the map v.
func (b *setBuilder) fields(t *schema.Type, v document.Value) fieldset.Set {
	mark := b.Mark()
	for i := range v.Len() {
		name, field := v.Name(i), v.At(i)
		child, declared := fieldType(t, name)
		below := b.fieldsBelow(child, field)
		b.Push(fieldset.NameElement(name), b.containers || !declared || isMember(child, field), below)
	}
	return b.Set(mark)
}

// items returns the field set below the list v: every item is a member. Duplicate items share one path element, below
// which the set has no members, because the fields of duplicates can't be distinguished.
func (b *setBuilder) items(l *schema.List, v document.Value) fieldset.Set {
	items, _ := elements(l, v)
	found := newElementIndex(items)
	duplicates := found.duplicates()
	mark := b.Mark()
	for i, e := range items {
		switch {
		case e == fieldset.Element{}:
		case duplicates == nil || !duplicates[i]:
			b.Push(e, true, b.fieldsBelow(l.Item, v.At(i)))
		case found.find(e) == i:
			b.Push(e, true, fieldset.Set{})
		}
	}
	return b.Set(mark)
}

// withNamedParents returns the set with every declared field added that has a member below it, as
// EnsureNamedFieldsAreMembers of structured-merge-diff does. Ownership of .spec.replicas does not make .spec a member,
// but whether .spec may be pruned depends on the members below it. Undeclared map elements and list items are not
// added, because those that are owned are already members.
func withNamedParents(s fieldset.Set, t *schema.Type) fieldset.Set {
	var b fastset.Builder
	return addNamedParents(&b, s, t)
}

// addNamedParents is the recursive part of withNamedParents.
func addNamedParents(b *fastset.Builder, s fieldset.Set, t *schema.Type) fieldset.Set {
	mark := b.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		child, declared := childType(t, e)
		below := addNamedParents(b, s.Child(i), child)
		b.Push(e, s.Member(i) || declared && !below.IsEmpty(), below)
	}
	return b.Set(mark)
}

// childType returns the type of the field or list item that the path element e selects in a value of type t, nil if
// that type is unknown. declared reports whether e is a declared field.
func childType(t *schema.Type, e fieldset.Element) (child *schema.Type, declared bool) {
	switch {
	case t == nil:
	case e.Kind() == fieldset.FieldName && t.Map != nil:
		return t.Map.TypeOf(e.Name())
	case e.Kind() == fieldset.Key && t.List != nil:
		return t.List.Item, false
	}
	return nil, false
}
