package apply

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/schema"
)

// loadTestKind returns the topology of the type "thing", which the schema in types declares.
func loadTestKind(t *testing.T, types string) *schema.Type {
	t.Helper()
	s, err := schema.LoadTypes(parse(types))
	if err != nil {
		t.Fatal(err)
	}
	root, _ := s.Type("thing")
	return root
}

// TestReconcileWithOldTopology: a field set that was written for another topology is adapted to the current topology.
// Cases change maps and lists from atomic to granular and back.
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
		// A manager that owns the granular container itself has applied an empty container.
		{"nothing changed, owned containers", whole, whole, granular, granular},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Reconcile(object(c.was), "v1", c.before, c.now)
			if err != nil {
				t.Fatal(err)
			}
			if got.Entries[0].FieldsV1 != c.want {
				t.Errorf("FieldsV1 of m1 = %s, want %s", got.Entries[0].FieldsV1, c.want)
			}
			if got.Entries[1].FieldsV1 != c.was {
				t.Errorf("FieldsV1 of another version = %s, want it unchanged", got.Entries[1].FieldsV1)
			}
		})
	}
	bad := object(`{"f:a"`)
	if _, err := Reconcile(bad, "v1", atomic, granular); err == nil || !strings.Contains(err.Error(), "managedFields[0]") {
		t.Errorf("Reconcile() error = %v, want an EntryError for managedFields[0]", err)
	}
}

// TestReconcileChangedKeys: if the keys of a list change, the field sets identify each owned item by its new keys.
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
		{"other sort order", "name", "id", `{items: [{name: a, id: "2"}, {name: b, id: "1"}]}`,
			`{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:id":{}}}}`,
			`{"f:items":{"k:{\"id\":\"1\"}":{".":{},"f:id":{}},"k:{\"id\":\"2\"}":{".":{},"f:name":{}}}}`},
		{"two items with equal new keys", "name", "id", `{items: [{name: a, id: "1"}, {name: b, id: "1"}]}`,
			`{"f:items":{"k:{\"name\":\"a\"}":{"f:name":{}},"k:{\"name\":\"b\"}":{".":{},"f:value":{}}}}`,
			`{"f:items":{"k:{\"id\":\"1\"}":{".":{},"f:name":{},"f:value":{}}}}`},
		{"new key is defaulted", "name", "id", `{items: [{name: a}]}`, `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`, `{"f:items":{"k:{\"id\":\"9\"}":{".":{},"f:name":{}}}}`},
		{"old key is defaulted", "id", "name", `{items: [{name: a}]}`, `{"f:items":{"k:{\"id\":\"9\"}":{".":{},"f:name":{}}}}`, `{"f:items":{"k:{\"name\":\"a\"}":{".":{},"f:name":{}}}}`},
		{"additional key", "name", "name, id", `{items: [{name: a, id: "1"}]}`, `{"f:items":{"k:{\"name\":\"a\"}":{".":{}}}}`, `{"f:items":{"k:{\"id\":\"1\",\"name\":\"a\"}":{}}}`},
		{"nested items", "name", "id", `{items: [{name: a, id: "1", items: [{name: b, id: "2"}]}]}`,
			`{"f:items":{"k:{\"name\":\"a\"}":{"f:items":{"k:{\"name\":\"b\"}":{".":{},"f:name":{}}}}}}`,
			`{"f:items":{"k:{\"id\":\"1\"}":{"f:items":{"k:{\"id\":\"2\"}":{".":{},"f:name":{}}}}}}`},
		{"item does not exist, and another one has its new keys", "name, id", "name", `{items: [{name: a, id: "2"}, {name: b, id: "1"}]}`,
			`{"f:items":{"k:{\"id\":\"1\",\"name\":\"a\"}":{},"k:{\"id\":\"1\",\"name\":\"c\"}":{},"k:{\"id\":\"1\",\"name\":\"b\"}":{".":{},"f:name":{}}}}`,
			`{"f:items":{"k:{\"id\":\"1\",\"name\":\"a\"}":{},"k:{\"name\":\"b\"}":{".":{},"f:name":{}},"k:{\"name\":\"c\"}":{}}}`},
		{"item does not exist", "name", "id", `{items: []}`, `{"f:items":{"k:{\"name\":\"a\"}":{}}}`, `{"f:items":{"k:{\"name\":\"a\"}":{}}}`},
		{"additional key with a default, item does not exist", "name", "name, id", `{items: []}`, `{"f:items":{"k:{\"name\":\"a\"}":{}}}`, `{"f:items":{"k:{\"id\":\"9\",\"name\":\"a\"}":{}}}`},
		{"additional key without a default, item does not exist", "id", "name, id", `{items: []}`, `{"f:items":{"k:{\"id\":\"1\"}":{}}}`, `{"f:items":{"k:{\"id\":\"1\"}":{}}}`},
		{"fewer keys, item does not exist", "name, id", "name", `{items: []}`, `{"f:items":{"k:{\"id\":\"1\",\"name\":\"a\"}":{}}}`, `{"f:items":{"k:{\"name\":\"a\"}":{}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			object := Object{Document: parse(c.doc), Entries: []Entry{{Manager: "m1", Operation: Apply, APIVersion: "v1", FieldsV1: c.was}}}
			got, err := Reconcile(object, "v1", load(c.from), load(c.to))
			if err != nil || got.Entries[0].FieldsV1 != c.want {
				t.Errorf("FieldsV1 = %s, %v, want %s", got.Entries[0].FieldsV1, err, c.want)
			}
		})
	}
}
