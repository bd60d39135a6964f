package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// fieldsOf returns the set of fields that a document sets, which is what its
// applier owns: every scalar, atomic list and atomic map; every item of a granular
// list and every entry of a granular map; every empty map and every null.
// Declared fields that hold something granular are not in the set themselves.
func fieldsOf(t *schema.Type, v document.Value) fieldset.Set {
	var b setBuilder
	return b.below(t, v)
}

// pathsOf returns the path of everything that there is in a document, containers
// included, down to what is atomic.
func pathsOf(t *schema.Type, v document.Value) fieldset.Set {
	b := setBuilder{containers: true}
	return b.below(t, v)
}

// setBuilder makes sets out of documents.
type setBuilder struct {
	fastset.Builder
	// everything makes members of containers that are not owned for themselves.
	containers bool
}

// below returns what is owned inside of a value.
func (b *setBuilder) below(t *schema.Type, v document.Value) fieldset.Set {
	switch shapeOf(t, v) {
	case mapShape:
		return b.fields(t, v)
	case listShape:
		return b.items(t.List, v)
	}
	return fieldset.Set{}
}

func (b *setBuilder) fields(t *schema.Type, v document.Value) fieldset.Set {
	mark := b.Mark()
	for i := range v.Len() {
		name, field := v.Name(i), v.At(i)
		child, declared := fieldType(t, name)
		below := b.below(child, field)
		b.Push(fieldset.NameElement(name), b.containers || !declared || isMember(child, field), below)
	}
	return b.Set(mark)
}

// items owns every item. An item that occurs twice can't be told apart from its
// double, so that it is owned as one, with nothing inside of it.
func (b *setBuilder) items(l *schema.List, v document.Value) fieldset.Set {
	items, _ := elements(l, v)
	found := newElementIndex(items)
	repeated := found.duplicates()
	mark := b.Mark()
	for i, e := range items {
		switch {
		case e == fieldset.Element{}:
		case repeated == nil || !repeated[i]:
			b.Push(e, true, b.below(l.Item, v.At(i)))
		case found.find(e) == i:
			b.Push(e, true, fieldset.Set{})
		}
	}
	return b.Set(mark)
}

// withNamedParents returns the set together with the declared fields that have something
// of the set below them. Ownership does not record such fields (nobody owns .spec
// for owning .spec.replicas), but whether they may be removed depends on what is
// below them. Entries of maps and items of lists are not added: these are owned by
// themselves.
func withNamedParents(s fieldset.Set, t *schema.Type) fieldset.Set {
	var b fastset.Builder
	return addNamedParents(&b, s, t)
}

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

// childType returns the topology that an element of a field set leads to, nil if
// there is none, and whether the element is a declared field.
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
