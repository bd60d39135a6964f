package apply

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/schema"
)

// loadTestKind returns the topology of a thing.
func loadTestKind(t *testing.T, types string) *schema.Type {
	t.Helper()
	s, err := schema.LoadTypes(parse(types))
	if err != nil {
		t.Fatal(err)
	}
	root, _ := s.Type("thing")
	return root
}

// TestReconcileWithOldTopology: "When a topology changed since a field set was written
// (atomic → granular and back), the set is reconciled, not lost."
func TestReconcileWithOldTopology(t *testing.T) {
	const text = `
types:
- name: thing
  map:
    fields:
    - {name: number, type: {scalar: numeric}}
    - {name: map, type: {map: {elementType: {scalar: numeric}, elementRelationship: MAP}}}
    - {name: items, type: {list: {elementType: {namedType: item}, LIST}}}
- name: item
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: value, type: {scalar: numeric}}
`
	load := func(list, relation string) *schema.Type {
		return loadTestKind(t, strings.NewReplacer("LIST", list, "MAP", relation).Replace(text))
	}
	atomic := load("elementRelationship: atomic", "atomic")
	granular := load("elementRelationship: associative, keys: [name]", "separable")
	const (
		whole  = `{"f:items":{},"f:map":{},"f:number":{}}`
		leaves = `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:value":{}}},"f:map":{"f:x":{}},"f:number":{}}`
	)
	object := func(fields string) Object {
		return Object{Document: parse(`{number: 1, map: {x: 1}, items: [{name: a, value: 1}]}`), Entries: []Entry{
			{Manager: "m1", Operation: Apply, APIVersion: "v1", FieldsV1: fields},
			{Manager: "m2", Operation: Update, APIVersion: "v2", FieldsV1: fields},
		}}
	}
	for _, c := range []struct {
		name, was, want string
		before, now     *schema.Type
	}{
		{"atomic to granular", whole, leaves, atomic, granular},
		{"granular to atomic", leaves, whole, granular, atomic},
		{"nothing changed", whole, whole, atomic, atomic},
		// Somebody who owns the whole of something granular applied it empty.
		{"nothing changed, owned for itself", whole, whole, granular, granular},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Reconcile(object(c.was), "v1", c.before, c.now)
			if err != nil {
				t.Fatal(err)
			}
			if got.Entries[0].FieldsV1 != c.want {
				t.Errorf("m1 owns %s, want %s", got.Entries[0].FieldsV1, c.want)
			}
			if got.Entries[1].FieldsV1 != c.was {
				t.Errorf("an entry of another version became %s", got.Entries[1].FieldsV1)
			}
		})
	}
	bad := object(`{"f:a"`)
	if _, err := Reconcile(bad, "v1", atomic, granular); err == nil || !strings.Contains(err.Error(), "managedFields[0]") {
		t.Errorf("expected the bad entry to be refused, received %v", err)
	}
}

// TestReconcileChangedKeys: who owned an item goes on owning it when items are told apart by other keys.
func TestReconcileChangedKeys(t *testing.T) {
	const text = `
types:
- name: thing
  map:
    fields:
    - {name: items, type: {list: {elementType: {namedType: item}, elementRelationship: associative, keys: [KEYS]}}}
- name: item
  map:
    fields:
    - {name: name, type: {scalar: string}}
    - {name: id, type: {scalar: string}, default: "9"}
    - {name: value, type: {scalar: numeric}}
    - {name: items, type: {list: {elementType: {namedType: item}, elementRelationship: associative, keys: [KEYS]}}}
`
	load := func(keys string) *schema.Type { return loadTestKind(t, strings.ReplaceAll(text, "KEYS", keys)) }
	for _, c := range []struct{ name, from, to, doc, was, want string }{
		{"in another order", "name", "id", `{items: [{name: a, id: "2"}, {name: b, id: "1"}]}`,
			`{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:id":{}}}}`,
			`{"f:items":{"k:{\"id\":\"1\"}":{".":{},"f:id":{}},"k:{\"id\":\"2\"}":{".":{},"f:name":{}}}}`},
		{"of two items with the same", "name", "id", `{items: [{name: a, id: "1"}, {name: b, id: "1"}]}`,
			`{"f:items":{"k:{\"name\":\"a\"}":{"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:value":{}}}}`,
			`{"f:items":{"k:{\"id\":\"1\"}":{".":{},"f:name":{},"f:value":{}}}}`},
		{"by default", "name", "id", `{items: [{name: a}]}`, `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{"f:items":{"k:{\"id\":\"9\"}":{".":{},"f:name":{}}}}`},
		{"found by default", "id", "name", `{items: [{name: a}]}`, `{"f:items":{"k:{\"id\":\"9\"}":{".":{},"f:name":{}}}}`, `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`},
		{"that are more", "name", "name, id", `{items: [{name: a, id: "1"}]}`, `{"f:items":{"k:{\"name\":\"a\"}":{".":{}}}}`, `{"f:items":{"k:{\"id\":\"1\",\"name\":\"a\"}":{}}}`},
		{"of an item in an item", "name", "id", `{items: [{name: a, id: "1", items: [{name: b, id: "2"}]}]}`,
			`{"f:items":{"k:{\"name\":\"a\"}":{"f:items":{"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}}}}`,
			`{"f:items":{"k:{\"id\":\"1\"}":{"f:items":{"k:{\"id\":\"2\"}":{".":{},"f:name":{}}}}}}`},
		{"that nobody knows", "name", "id", `{items: []}`, `{"f:items":{"k:{\"name\":\"a\"}":{}}}`, `{"f:items":{"k:{\"name\":\"a\"}":{}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := Object{Document: parse(c.doc), Entries: []Entry{{Manager: "m1", Operation: Apply, APIVersion: "v1", FieldsV1: c.was}}}
			got, err := Reconcile(object, "v1", load(c.from), load(c.to))
			if err != nil || got.Entries[0].FieldsV1 != c.want {
				t.Errorf("owned are %s, %v, want %s", got.Entries[0].FieldsV1, err, c.want)
			}
		})
	}
}
