package custom

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// A definition may change how a part of its objects merges. Who owned that part goes on owning it, field by field:
//
//	atomic, becomes granular       each field of it, as it is now
//	a list whose keys change       the same items, by their new keys
//	granular, becomes atomic       the whole; the engine sees to that
//	at a version that is gone      what the object has of it at the version that is stored, see retired.go

// bring returns a field set of one topology as another has it. The document has the values, and all are its fields by the
// new topology.
func bring(s fieldset.Set, old, now *schema.Type, doc document.Value, all fieldset.Set) fieldset.Set {
	var out fieldset.Builder
	mark := out.Mark()
	for i := range s.Len() {
		e, below := s.Element(i), s.Child(i)
		was, is, value := partOf(old, e), partOf(now, e), valueAt(doc, e)
		there, member := all.Below(e)
		switch {
		case was == nil || is == nil:
			out.Push(e, s.Member(i), below)
		case s.Member(i) && below.IsEmpty() && isAtomic(was, value) && !isAtomic(is, value) && !there.IsEmpty():
			out.Push(e, member, there)
		default:
			out.Push(e, s.Member(i), bring(rekeyed(below, was, is, value), was, is, value, there))
		}
	}
	return out.Set(mark)
}

// partOf returns the topology that an element leads to; nil if nothing is declared.
func partOf(t *schema.Type, e fieldset.Element) *schema.Type {
	switch {
	case e.Kind() == fieldset.FieldName && t.Map != nil:
		part, _ := t.Map.TypeOf(e.Name())
		return part
	case e.Kind() != fieldset.FieldName && t.List != nil:
		return t.List.Item
	}
	return nil
}

// isAtomic reports whether a value is owned as a whole.
func isAtomic(t *schema.Type, value document.Value) bool {
	switch value.Kind() {
	case document.Map:
		return t.Map != nil && t.Map.Atomic
	case document.List:
		return t.List != nil && t.List.Relationship == schema.Atomic
	}
	return false
}

// valueAt returns the value that an element leads to.
func valueAt(doc document.Value, e fieldset.Element) document.Value {
	if e.Kind() == fieldset.FieldName {
		return doc.Get(e.Name())
	}
	if e.Kind() != fieldset.Key {
		return document.Value{}
	}
	for _, item := range doc.Items() {
		if hasKeys(item, e.KeyFields()) {
			return item
		}
	}
	return document.Value{}
}

func hasKeys(item document.Value, keys []fieldset.KeyField) bool {
	for _, k := range keys {
		if !document.Equal(item.Get(k.Name), k.Value) {
			return false
		}
	}
	return true
}

// rekeyed returns the items that are owned in a list by their new keys.
func rekeyed(s fieldset.Set, was, is *schema.Type, list document.Value) fieldset.Set {
	if list.Kind() != document.List || was.List == nil || is.List == nil ||
		was.List.Relationship != schema.Keyed || is.List.Relationship != schema.Keyed || sameKeys(was.List.Keys, is.List.Keys) {
		return s
	}
	result := fieldset.Set{}
	for i := range s.Len() {
		e := s.Element(i)
		if item := valueAt(list, e); e.Kind() == fieldset.Key && item.Kind() == document.Map {
			e = keyOf(item, is.List.Keys)
		}
		var one fieldset.Builder
		mark := one.Mark()
		one.Push(e, s.Member(i), s.Child(i))
		result = result.Union(one.Set(mark))
	}
	return result
}

func sameKeys(a, b []schema.Key) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name {
			return false
		}
	}
	return true
}

// keyOf returns what an item is told apart by.
func keyOf(item document.Value, keys []schema.Key) fieldset.Element {
	fields := make([]fieldset.KeyField, len(keys))
	for i, key := range keys {
		value := item.Get(key.Name)
		if value.IsAbsent() {
			value = key.Default
		}
		fields[i] = fieldset.KeyField{Name: key.Name, Value: value}
	}
	return fieldset.KeyElement(fields...)
}
