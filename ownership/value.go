package ownership

import (
	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// ValueAt returns the value of a document at a path, or the absent value if there is none. It requires no schema, because the
// path elements identify list items.
func ValueAt(doc document.Value, path fieldset.Path) document.Value {
	for _, e := range path {
		doc = childOf(doc, e)
	}
	return doc
}

// OwnedValues looks up, by path, the values in an object whose ownership managedFields records.
type OwnedValues struct{ root node }

// NewOwnedValues decodes the field sets of an object. The schema is that of the object's version, or nil; see
// [Blame].
func NewOwnedValues(o apply.Object, t *schema.Type) (OwnedValues, error) {
	sets, err := decodeAll(o.Entries)
	return OwnedValues{node{value: o.Document, schemaType: t, sets: sets}}, err
}

// At returns the value that the owner of path owns. Granular maps and lists are returned empty, because their fields and
// items have their own owners; a granular list item is returned with only its keys. If the path selects duplicate items, At
// returns a list of them.
func (o OwnedValues) At(path fieldset.Path) document.Value {
	at := o.root
	for _, e := range path {
		below := at.itemType()
		if e.Kind() == fieldset.FieldName {
			below = at.fieldType(e.Name())
		}
		at = at.child(e, childOf(at.value, e), below)
	}
	if duplicates := o.duplicatesAt(path); len(duplicates) > 1 && at.ownedBelow().IsEmpty() {
		return document.NewList(duplicates...)
	}
	switch at.shape(0) {
	case mapShape:
		return keysOf(path)
	case listShape:
		return document.NewList()
	}
	return at.value
}

// duplicatesAt returns all list items that have the keys in the last element of path, nil if that element has no keys.
// Servers track the ownership of duplicate items as one unit.
func (o OwnedValues) duplicatesAt(path fieldset.Path) []document.Value {
	if len(path) == 0 || path[len(path)-1].Kind() != fieldset.Key {
		return nil
	}
	last := path[len(path)-1]
	var duplicates []document.Value
	for _, item := range ValueAt(o.root.value, path[:len(path)-1]).Items() {
		if _, all := hasKeys(item, last.KeyFields()); all {
			duplicates = append(duplicates, item)
		}
	}
	return duplicates
}

// keysOf returns a map with the keys in the last element of a path. It is empty if the path does not end with an item of a
// list of type map.
func keysOf(path fieldset.Path) document.Value {
	keys := document.NewMap()
	if len(path) == 0 {
		return keys
	}
	for _, key := range path[len(path)-1].KeyFields() {
		keys = keys.With(key.Name, key.Value)
	}
	return keys
}

// childOf returns the child of v that the path element e selects, or an absent value if v has no such child.
func childOf(v document.Value, e fieldset.Element) document.Value {
	if e.Kind() == fieldset.FieldName {
		return v.Get(e.Name())
	}
	if i := findItem(v, e); i >= 0 {
		return v.At(i)
	}
	return document.Value{}
}

// findItem returns the index of the item that the path element e selects in the list v, -1 if e selects no item.
func findItem(v document.Value, e fieldset.Element) int {
	if v.Kind() != document.List {
		return -1
	}
	switch e.Kind() {
	case fieldset.Index:
		if i := e.Index(); i < v.Len() {
			return i
		}
	case fieldset.SetValue:
		value := e.Value()
		for i, item := range v.Items() {
			if document.Equal(item, value) {
				return i
			}
		}
	case fieldset.Key:
		return findKeyed(v, e.KeyFields())
	}
	return -1
}

// findKeyed returns the index of the item of v that has all the given keys. If no item has all of them, it returns the index
// of the first item that has some of the keys and no different value for any key, because missing keys may be defaulted. It
// returns -1 if no item matches.
func findKeyed(v document.Value, keys []fieldset.KeyField) int {
	partial := -1
	for i, item := range v.Items() {
		switch same, all := hasKeys(item, keys); {
		case same && all:
			return i
		case same && partial < 0:
			partial = i
		}
	}
	return partial
}

// hasKeys reports whether a list item has at least one of the keys and no different value for any key (same), and
// whether it has all keys (all).
func hasKeys(item document.Value, keys []fieldset.KeyField) (same, all bool) {
	matches := 0
	for _, key := range keys {
		switch value := item.Get(key.Name); {
		case value.IsAbsent():
		case document.Equal(value, key.Value):
			matches++
		default:
			return false, false
		}
	}
	return matches > 0, matches == len(keys)
}

// existingFields returns the members of set at whose paths doc has values.
func existingFields(doc document.Value, set fieldset.Set) fieldset.Set {
	var b fastset.Builder
	return existingFieldsIn(&b, doc, set)
}

// existingFieldsIn implements existingFields recursively. v is a value in the document, and set is the part of the field set
// below the path of v.
func existingFieldsIn(b *fastset.Builder, v document.Value, set fieldset.Set) fieldset.Set {
	mark := b.Mark()
	for i := range set.Len() {
		if part := childOf(v, set.Element(i)); !part.IsAbsent() {
			below := existingFieldsIn(b, part, set.Child(i))
			b.Push(set.Element(i), set.Member(i), below)
		}
	}
	return b.Set(mark)
}
