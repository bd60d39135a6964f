package custom

import (
	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// A definition may change how a part of its objects merges. Who owned that part goes on owning it, field by field:
//
//	atomic, becomes granular       each field of it, as it is now
//	granular, becomes atomic       the whole
//	a list whose keys change       the same items, by their new keys
//	at a version that is gone      what the object has of it at the version that is stored, see retired.go

// bring returns what an entry of one topology owns by another. The document has the values.
func bring(entry apply.Entry, old, now *schema.Type, doc document.Value) (apply.Entry, error) {
	fitted, err := apply.Reconcile(apply.Object{Document: doc, Entries: []apply.Entry{entry}}, entry.APIVersion, old, now)
	if err != nil {
		return entry, err
	}
	entry = fitted.Entries[0]
	fields, err := entry.Fields()
	if err != nil {
		return entry, err
	}
	if s := rekey(fields, old, now, doc); !s.Equal(fields) {
		entry.FieldsV1 = s.FieldsV1()
	}
	return entry, nil
}

// rekey returns a field set in which items of lists are told apart by their new keys.
func rekey(s fieldset.Set, old, now *schema.Type, doc document.Value) fieldset.Set {
	result := fieldset.Set{}
	for i := range s.Len() {
		e, below := s.Element(i), s.Child(i)
		value := valueAt(doc, e)
		if was, is := partOf(old, e), partOf(now, e); was != nil && is != nil {
			below = rekey(below, was, is, value)
		}
		if e.Kind() == fieldset.Key && value.Kind() == document.Map && keysDiffer(old, now) {
			e = keyOf(value, now.List.Keys)
		}
		var one fieldset.Builder
		mark := one.Mark()
		one.Push(e, s.Member(i), below)
		result = result.Union(one.Set(mark))
	}
	return result
}

// keysDiffer reports whether items of a list are told apart by keys, and were by others.
func keysDiffer(old, now *schema.Type) bool {
	return old.List != nil && now.List != nil && old.List.Relationship == schema.Keyed && now.List.Relationship == schema.Keyed &&
		!sameKeys(old.List.Keys, now.List.Keys)
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
