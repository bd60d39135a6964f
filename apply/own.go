package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// fieldsOf returns the set of fields that a document sets, which is what its
// applier owns: every scalar, atomic list and atomic map; every item of a granular
// list and every entry of a granular map; every empty map and every null.
// Declared fields that hold something granular are not in the set themselves.
func fieldsOf(t *schema.Type, v document.Value) fieldset.Set {
	var b setBuilder
	return b.own(t, v).below
}

// pathsOf returns the path of everything that there is in a document, containers
// included, down to what is atomic.
func pathsOf(t *schema.Type, v document.Value) fieldset.Set {
	b := setBuilder{everything: true}
	return b.own(t, v).below
}

// setBuilder makes sets out of documents.
type setBuilder struct {
	fieldset.Builder
	// everything makes members of containers that are not owned by themselves.
	everything bool
}

// owned is what a value contributes to the set: whether its own path is a member,
// and what is below it.
type owned struct {
	self  bool
	below fieldset.Set
}

func (b *setBuilder) own(t *schema.Type, v document.Value) owned {
	if t == nil {
		t = schema.Untyped
	}
	switch t.Resolve(v.Kind()) {
	case schema.MapAlternative:
		if t.Map.Atomic {
			return owned{self: true}
		}
		return owned{below: b.ownMap(t.Map, v)}
	case schema.ListAlternative:
		if t.List.Relationship == schema.Atomic {
			return owned{self: true}
		}
		return owned{below: b.ownList(t.List, v)}
	}
	return owned{self: true}
}

func (b *setBuilder) ownMap(m *schema.Map, v document.Value) fieldset.Set {
	if v.Kind() != document.Map {
		return fieldset.Set{}
	}
	mark := b.Mark()
	for i := range v.Len() {
		name, field := v.Name(i), v.At(i)
		t, declared := m.TypeOf(name)
		o := b.own(t, field)
		member := o.self || b.everything || !declared || field.IsNull() || isEmptyMap(field)
		b.Push(fieldset.NameElement(name), member, o.below)
	}
	return b.Set(mark)
}

// ownList owns every item. An item that occurs twice can't be told apart from its
// double, so that it is owned as one, with nothing inside of it.
func (b *setBuilder) ownList(l *schema.List, v document.Value) fieldset.Set {
	if v.Kind() != document.List {
		return fieldset.Set{}
	}
	items, _ := elements(l, v)
	found := newIndex(items)
	repeated := found.duplicates()
	mark := b.Mark()
	for i, e := range items {
		switch {
		case e == fieldset.Element{}:
		case repeated == nil || !repeated[i]:
			b.Push(e, true, b.own(l.Item, v.At(i)).below)
		case found.find(e) == i:
			b.Push(e, true, fieldset.Set{})
		}
	}
	return b.Set(mark)
}

func isEmptyMap(v document.Value) bool { return v.Kind() == document.Map && v.Len() == 0 }
