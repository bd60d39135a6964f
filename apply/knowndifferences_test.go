package apply

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// The comparisons in this file tolerate only the deliberate differences of pruning that differences_test.go lists,
// because these occur in random histories.

// equalExceptEmptied reports whether two documents are equal. A container that pruning emptied may be empty in ours and
// null in upstream.
func equalExceptEmptied(ours, upstream document.Value) bool {
	if upstream.IsNull() && ours.Len() == 0 && (ours.Kind() == document.Map || ours.Kind() == document.List) {
		return true
	}
	if ours.Kind() != upstream.Kind() || ours.Len() != upstream.Len() {
		return false
	}
	if ours.Len() == 0 {
		return document.Equal(ours, upstream)
	}
	for i := range ours.Len() {
		if ours.Kind() == document.Map && ours.Name(i) != upstream.Name(i) {
			return false
		}
		if !equalExceptEmptied(ours.At(i), upstream.At(i)) {
			return false
		}
	}
	return true
}

// withoutKeylessItems returns the object as upstream's pruning would leave it: an owned list item whose key fields have
// lost their last owner is removed from the document and from the field sets of its owners. before are the managed
// fields entries before the request.
func withoutKeylessItems(o Object, before []Entry) Object {
	var lost upstreamLoss
	o.Document = lost.without(o.Document, ownedFields(o.Entries), ownedFields(before), nil)
	var entries []Entry
	for _, e := range o.Entries {
		if rest := mustSet(e.FieldsV1).Difference(lost.fields); !rest.IsEmpty() {
			e.FieldsV1 = rest.FieldsV1()
			entries = append(entries, e)
		}
	}
	o.Entries = entries
	return o
}

// ownedFields returns the union of the entries' field sets.
func ownedFields(entries []Entry) (all fieldset.Set) {
	for _, e := range entries {
		all = all.Union(mustSet(e.FieldsV1))
	}
	return all
}

// upstreamLoss collects the owned list items that upstream removes because no manager owns their key fields any more.
type upstreamLoss struct{ fields fieldset.Set }

// without returns part, the value at path, as upstream leaves it. before and owned are the fields below path that had
// an owner before the request and that have one after it.
func (l *upstreamLoss) without(part document.Value, owned, before fieldset.Set, path fieldset.Path) document.Value {
	switch part.Kind() {
	case document.Map:
		var fields []document.Field
		for name, v := range part.Fields() {
			e := fieldset.NameElement(name)
			fields = append(fields, document.Field{Name: name, Value: l.without(v, subsetBelow(owned, e), subsetBelow(before, e), append(path[:len(path):len(path)], e))})
		}
		return document.NewMap(fields...)
	case document.List:
		var items []document.Value
		for _, item := range part.Items() {
			e, isOwned := ownedItem(owned, item)
			itemPath := append(path[:len(path):len(path)], e)
			if isOwned && isKeyless(owned, before, e) {
				l.add(owned, itemPath)
				continue
			}
			if isOwned {
				item = l.without(item, subsetBelow(owned, e), subsetBelow(before, e), itemPath)
			}
			items = append(items, item)
		}
		return document.NewList(items...)
	}
	return part
}

// ownedItem returns the path element in owned that identifies the list item; isOwned is false if owned has no such
// element.
func ownedItem(owned fieldset.Set, item document.Value) (e fieldset.Element, isOwned bool) {
	for i := range owned.Len() {
		if e = owned.Element(i); e.Kind() == fieldset.Key && hasKeys(item, e.KeyFields()) {
			return e, true
		}
	}
	return e, false
}

// add adds a list item and all owned fields below it to l.fields.
func (l *upstreamLoss) add(owned fieldset.Set, item fieldset.Path) {
	l.fields = l.fields.Insert(item)
	for path := range subsetBelow(owned, item[len(item)-1]).All() {
		l.fields = l.fields.Insert(slices.Concat(item, path))
	}
}

// isKeyless reports whether the list item e is owned, and none of its key fields has an owner after the request
// although one of them had an owner before it.
func isKeyless(owned, before fieldset.Set, e fieldset.Element) bool {
	now, isMember := owned.Below(e)
	return isMember && !containsAnyKey(now, e.KeyFields()) && containsAnyKey(subsetBelow(before, e), e.KeyFields())
}

// subsetBelow returns the subset of s below the path element e, with paths relative to e.
func subsetBelow(s fieldset.Set, e fieldset.Element) fieldset.Set {
	all, _ := s.Below(e)
	return all
}

// hasKeys reports whether a list item has the given keys. Key fields that the item does not set count as defaulted.
func hasKeys(item document.Value, keys []fieldset.KeyField) bool {
	return item.Kind() == document.Map && !slices.ContainsFunc(keys, func(k fieldset.KeyField) bool {
		v := item.Get(k.Name)
		return !v.IsAbsent() && !document.Equal(v, k.Value)
	})
}

// containsAnyKey reports whether any of the key fields is in the set.
func containsAnyKey(owned fieldset.Set, keys []fieldset.KeyField) bool {
	return slices.ContainsFunc(keys, func(k fieldset.KeyField) bool {
		_, is := owned.Below(fieldset.NameElement(k.Name))
		return is
	})
}

func TestWithoutKeylessItems(t *testing.T) {
	const more = `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:value":{}}},"f:number":{}}`
	const keyless, owned, listOnly = `{"f:items":{"k:{\"name\":\"a\"}":{}}}`, `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{"f:items":{}}`
	for _, c := range []struct{ name, ours, owned, before, want, wantOwned string }{
		{"key lost its owner", `{items: [{name: a}]}`, keyless, owned, `{items: []}`, ""},
		{"key lost its owner, beside another item", `{items: [{name: a}, {name: b}]}`, keyless, owned, `{items: [{name: b}]}`, ""},
		{"key had no owner before", `{items: [{name: a}]}`, keyless, keyless, `{items: [{name: a}]}`, keyless},
		{"key is owned", `{items: [{name: a}]}`, owned, owned, `{items: [{name: a}]}`, owned},
		{"unowned field in the item", `{items: [{name: a, value: 1}]}`, keyless, owned, `{items: []}`, ""},
		{"owned field in the item", `{items: [{name: a, value: 1}], number: 1}`, more, owned, `{items: [], number: 1}`, `{"f:number":{}}`},
		{"list is owned without items", `{items: [{name: a}]}`, listOnly, owned, `{items: [{name: a}]}`, listOnly},
		{"other item", `{items: [{name: b}]}`, keyless, owned, `{items: [{name: b}]}`, keyless},
	} {
		got := withoutKeylessItems(Object{Document: parse(c.ours), Entries: []Entry{{Manager: "me", FieldsV1: c.owned}}}, []Entry{{Manager: "me", FieldsV1: c.before}})
		fields := ""
		if len(got.Entries) > 0 {
			fields = got.Entries[0].FieldsV1
		}
		if !document.Equal(got.Document, parse(c.want)) || fields != c.wantOwned {
			t.Errorf("%s: document = %v, owned = %s; want %s, %s", c.name, got.Document, fields, c.want, c.wantOwned)
		}
	}
}

// mustSet decodes FieldsV1 and panics on errors.
func mustSet(fieldsV1 string) fieldset.Set {
	s, err := fieldset.ParseFieldsV1(fieldsV1)
	if err != nil {
		panic(err)
	}
	return s
}
