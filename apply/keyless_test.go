package apply

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// Random histories meet the deliberate differences that pruning makes (differences_test.go), and only by these may both sides differ.

// equalButEmptied compares documents, but accepts that a container that pruning emptied is empty with us and null with them.
func equalButEmptied(ours, theirs document.Value) bool {
	if theirs.IsNull() && ours.Len() == 0 && (ours.Kind() == document.Map || ours.Kind() == document.List) {
		return true
	}
	if ours.Kind() != theirs.Kind() || ours.Len() != theirs.Len() {
		return false
	}
	if ours.Len() == 0 {
		return document.Equal(ours, theirs)
	}
	for i := range ours.Len() {
		if ours.Kind() == document.Map && ours.Name(i) != theirs.Name(i) {
			return false
		}
		if !equalButEmptied(ours.At(i), theirs.At(i)) {
			return false
		}
	}
	return true
}

// withoutKeyless returns an object as they leave it where pruning spares an item that somebody owns, and not its keys: these go, and so
// the item is lost, also to its owners.
func withoutKeyless(o Object) Object {
	var loss loss
	for _, e := range o.Entries {
		loss.owned = loss.owned.Union(mustSet(e.FieldsV1))
	}
	o.Document = loss.without(o.Document, loss.owned, nil)
	var entries []Entry
	for _, e := range o.Entries {
		if rest := mustSet(e.FieldsV1).Difference(loss.lost); !rest.IsEmpty() {
			e.FieldsV1 = rest.FieldsV1()
			entries = append(entries, e)
		}
	}
	o.Entries = entries
	return o
}

// loss is what they lose of an object: items that are nothing but keys, if these are not owned and the item is.
type loss struct{ owned, lost fieldset.Set }

// without returns a part of the document as they leave it.
func (l *loss) without(part document.Value, owned fieldset.Set, at fieldset.Path) document.Value {
	switch part.Kind() {
	case document.Map:
		var fields []document.Field
		for name, v := range part.Fields() {
			e := fieldset.NameElement(name)
			below, _ := owned.Below(e)
			fields = append(fields, document.Field{Name: name, Value: l.without(v, below, append(at[:len(at):len(at)], e))})
		}
		return document.NewMap(fields...)
	case document.List:
		var items []document.Value
		for _, item := range part.Items() {
			e, isOwned := ownedItem(owned, item)
			here := append(at[:len(at):len(at)], e)
			if isOwned && isKeyless(owned, e, item) {
				l.lost = l.lost.Insert(here)
				continue
			}
			if isOwned {
				below, _ := owned.Below(e)
				item = l.without(item, below, here)
			}
			items = append(items, item)
		}
		return document.NewList(items...)
	}
	return part
}

// ownedItem returns the element by which an item is owned.
func ownedItem(owned fieldset.Set, item document.Value) (e fieldset.Element, isOwned bool) {
	for i := range owned.Len() {
		if e = owned.Element(i); e.Kind() == fieldset.Key && hasKeys(item, e.KeyFields()) {
			return e, true
		}
	}
	return e, false
}

func isKeyless(owned fieldset.Set, e fieldset.Element, item document.Value) bool {
	below, isMember := owned.Below(e)
	return isMember && hasNothingBut(item, e.KeyFields()) && !ownsOne(below, e.KeyFields())
}

// hasKeys reports whether an item has the keys, or lacks them for being those that are meant by default.
func hasKeys(item document.Value, keys []fieldset.KeyField) bool {
	return item.Kind() == document.Map && !slices.ContainsFunc(keys, func(k fieldset.KeyField) bool {
		v := item.Get(k.Name)
		return !v.IsAbsent() && !document.Equal(v, k.Value)
	})
}

func hasNothingBut(item document.Value, keys []fieldset.KeyField) bool {
	for name := range item.Fields() {
		if !slices.ContainsFunc(keys, func(k fieldset.KeyField) bool { return k.Name == name }) {
			return false
		}
	}
	return true
}

func ownsOne(owned fieldset.Set, keys []fieldset.KeyField) bool {
	return slices.ContainsFunc(keys, func(k fieldset.KeyField) bool {
		_, is := owned.Below(fieldset.NameElement(k.Name))
		return is
	})
}

func TestWithoutKeyless(t *testing.T) {
	const keyless, owned, whole = `{"f:items":{"k:{\"name\":\"a\"}":{}}}`, `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{"f:items":{}}`
	for _, c := range []struct{ name, ours, owned, want, wantOwned string }{
		{"its key is nobody's", `{items: [{name: a}]}`, keyless, `{items: []}`, ""},
		{"beside another", `{items: [{name: a}, {name: b}]}`, keyless, `{items: [{name: b}]}`, ""},
		{"its key is owned", `{items: [{name: a}]}`, owned, `{items: [{name: a}]}`, owned},
		{"it has more", `{items: [{name: a, value: 1}]}`, keyless, `{items: [{name: a, value: 1}]}`, keyless},
		{"nobody's", `{items: [{name: a}]}`, whole, `{items: [{name: a}]}`, whole},
		{"another", `{items: [{name: b}]}`, keyless, `{items: [{name: b}]}`, keyless},
	} {
		got := withoutKeyless(Object{Document: parse(c.ours), Entries: []Entry{{Manager: "me", FieldsV1: c.owned}}})
		fields := ""
		if len(got.Entries) > 0 {
			fields = got.Entries[0].FieldsV1
		}
		if !document.Equal(got.Document, parse(c.want)) || fields != c.wantOwned {
			t.Errorf("%s: received %v, owned %s", c.name, got.Document, fields)
		}
	}
}

func mustSet(fieldsV1 string) fieldset.Set {
	s, err := fieldset.ParseFieldsV1(fieldsV1)
	if err != nil {
		panic(err)
	}
	return s
}
