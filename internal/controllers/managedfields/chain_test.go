package managedfields

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/api/crd"
)

// resource returns a CRD of widgets at a generation. Each version is written as "VERSION LISTTYPE", followed by
// " storage" for the storage version. LISTTYPE is the type of the field list, whose items have a name and an id: atomic,
// or the name of the key of an associative list.
func resource(t *testing.T, generation int, conversion string, versions ...string) *crd.Resource {
	t.Helper()
	var all []string
	for _, v := range versions {
		words := strings.Fields(v)
		list := `x-kubernetes-list-type: atomic`
		if words[1] != "atomic" {
			list = `x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [` + words[1] + `]`
		}
		all = append(all, fmt.Sprintf(`{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer},
  list: {type: array, %s, items: {type: object, required: [name, id], properties: {name: {type: string}, id: {type: string}}}}}}}}`, words[0], len(words) > 2, list))
	}
	doc, err := document.ParseYAML([]byte(fmt.Sprintf(`{metadata: {name: widgets.example.com, generation: %d}, spec: {group: example.com, names: {plural: widgets, kind: Widget},
  conversion: {strategy: %s}, versions: [%s]}, status: {acceptedNames: {kind: Widget, plural: widgets}}}`, generation, conversion, strings.Join(all, ", "))))
	if err != nil {
		t.Fatal(err)
	}
	return crd.NewResource(crd.Parse(doc), nil, nil)
}

// generations returns previous generations of a CRD, as they are read from the store.
func generations(all ...*crd.Resource) (previous []generation) {
	for _, r := range all {
		previous = append(previous, generation{Resource: r})
	}
	return previous
}

// TestNewChain: a chain contains one topology for each schema that the version had in previous generations, and ends with
// the current topology.
func TestNewChain(t *testing.T) {
	none := func(generation int, versions ...string) *crd.Resource {
		return resource(t, generation, "None", versions...)
	}
	for _, test := range []struct {
		name     string
		current  *crd.Resource
		previous []generation
		version  string
		want     string // from, to, generation and number of topologies of the chain; "" means that there is no chain
	}{
		{"no previous generation", none(1, "v1 atomic storage"), nil, "v1", ""},
		{"changed once", none(2, "v1 name storage"), generations(none(1, "v1 atomic storage")), "v1", "v1 v1 1 2"},
		{"changed twice", none(3, "v1 id storage"), generations(none(1, "v1 atomic storage"), none(2, "v1 name storage")), "v1", "v1 v1 1 3"},
		{"changed and unchanged", none(4, "v1 id storage"), generations(none(1, "v1 atomic storage"), none(2, "v1 atomic storage"), none(3, "v1 id storage")), "v1", "v1 v1 1 2"},
		{"changed and back", none(3, "v1 atomic storage"), generations(none(1, "v1 atomic storage"), none(2, "v1 id storage")), "v1", "v1 v1 1 3"},
		{"another version changed", none(2, "v1 atomic storage", "v2 name"), generations(none(1, "v1 atomic storage", "v2 atomic")), "v1", ""},
		{"version added since", none(3, "v1 atomic storage", "v2 name"), generations(none(1, "v1 atomic storage"), none(2, "v1 atomic storage", "v2 id")), "v2", "v2 v2 1 2"},
		{"version removed and added again", none(3, "v1 name storage"), generations(none(1, "v1 atomic storage"), none(2, "v2 atomic storage")), "v1", "v1 v1 1 2"},
		{"version removed", none(2, "v2 atomic storage"), generations(none(1, "v1 atomic", "v2 atomic storage")), "v1", "v1 v2 1 2"},
		{"version removed, with other keys", none(2, "v2 id storage"), generations(none(1, "v1 name", "v2 id storage")), "v1", "v1 v2 1 2"},
		{"version never existed", none(2, "v2 id storage"), generations(none(1, "v2 atomic storage")), "v1", ""},
		{"version removed, conversion by webhook", resource(t, 2, "Webhook", "v2 id storage"), generations(none(1, "v1 name", "v2 id storage")), "v1", ""},
		{"version removed, conversion was by webhook", none(3, "v2 id storage"),
			generations(none(1, "v1 name", "v2 id storage"), resource(t, 2, "Webhook", "v1 name", "v2 id storage")), "v1", ""},
		{"conversion by webhook", resource(t, 2, "Webhook", "v1 id storage"), generations(none(1, "v1 name storage")), "v1", "v1 v1 1 2"},
	} {
		got := ""
		if c := newChain(test.current, test.previous, test.version); c != nil {
			got = fmt.Sprint(c.from, " ", c.to, " ", c.generation, " ", len(c.topologies))
		}
		if got != test.want {
			t.Errorf("%s: newChain() = %q, want %q", test.name, got, test.want)
		}
	}
}

// TestTargetVersion: an entry retains its version as long as the version exists. If the version was removed, the entry moves
// to the storage version, unless one of the generations has a conversion webhook.
func TestTargetVersion(t *testing.T) {
	for _, test := range []struct{ version, was, is, want string }{
		{"v2", "Webhook", "Webhook", "v2"},
		{"v1", "None", "None", "v2"},
		{"v1", "Webhook", "None", ""},
		{"v1", "None", "Webhook", ""},
	} {
		current, previous := resource(t, 2, test.is, "v2 atomic storage"), resource(t, 1, test.was, "v2 atomic storage")
		if got := targetVersion(current, generations(previous), test.version); got != test.want {
			t.Errorf("targetVersion(%s), conversion was %s and is %s = %q, want %q", test.version, test.was, test.is, got, test.want)
		}
	}
}

// The field sets that own the field a and the item {name: x, id: 1} of the field list. The names of the constants state the list type.
const (
	ownsAtomic = `{"f:a":{},"f:list":{}}`
	ownsByName = `{"f:a":{},"f:list":{"k:{\"name\":\"x\"}":{".":{},"f:id":{},"f:name":{}}}}`
	ownsByID   = `{"f:a":{},"f:list":{"k:{\"id\":\"1\"}":{".":{},"f:id":{},"f:name":{}}}}`
)

// TestMigrateEntry: an entry that conforms to any topology of a chain conforms to the last topology after its migration,
// and a second migration does not change it.
func TestMigrateEntry(t *testing.T) {
	doc, err := document.ParseJSON(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"},"a":1,"list":[{"name":"x","id":"1"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	none := func(generation int, list string) *crd.Resource {
		return resource(t, generation, "None", "v1 "+list+" storage")
	}
	for _, test := range []struct {
		name    string
		chain   *chain
		entries []string
		want    string
	}{
		{"atomic to granular", newChain(none(2, "name"), generations(none(1, "atomic")), "v1"), []string{ownsAtomic}, ownsByName},
		{"granular to atomic", newChain(none(2, "atomic"), generations(none(1, "name")), "v1"), []string{ownsByName}, ownsAtomic},
		{"other keys", newChain(none(2, "id"), generations(none(1, "name")), "v1"), []string{ownsByName}, ownsByID},
		{"over three generations", newChain(none(3, "id"), generations(none(1, "atomic"), none(2, "name")), "v1"), []string{ownsAtomic, ownsByName}, ownsByID},
		{"there and back", newChain(none(3, "atomic"), generations(none(1, "atomic"), none(2, "name")), "v1"), []string{ownsAtomic, ownsByName}, ownsAtomic},
	} {
		for _, fields := range append(test.entries, test.want) {
			entry := apply.Entry{Manager: "m", Operation: apply.Apply, APIVersion: "example.com/v1", FieldsV1: fields, Time: noon}
			want := entry
			want.FieldsV1 = test.want
			if got, lost, ok, err := test.chain.migrate(entry, doc); err != nil || !ok || got != want || !lost.IsEmpty() {
				t.Errorf("%s: migrate(%s) = %+v, lost %v, %t, %v; want %+v", test.name, fields, got, lost, ok, err, want)
			}
		}
	}
}

// TestMigrateToStorageVersion: an entry of a removed version retains the fields that the object has at the storage version,
// and is removed if there are none.
func TestMigrateToStorageVersion(t *testing.T) {
	doc, err := document.ParseJSON(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one"},"a":1,"list":[{"name":"x","id":"1"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	c := newChain(resource(t, 2, "None", "v2 id storage"), generations(resource(t, 1, "None", "v1 name", "v2 id storage")), "v1")
	for fields, want := range map[string]string{
		ownsByName:               ownsByID,
		`{"f:a":{},"f:gone":{}}`: `{"f:a":{}}`,
		`{"f:gone":{}}`:          "",
	} {
		got, _, ok, err := c.migrate(apply.Entry{Manager: "m", Operation: apply.Apply, APIVersion: "example.com/v1", FieldsV1: fields}, doc)
		if err != nil || ok != (want != "") || ok && (got.FieldsV1 != want || got.APIVersion != "example.com/v2") {
			t.Errorf("migrate(%s) = %+v, %t, %v; want %s", fields, got, ok, err, want)
		}
	}
	bad := apply.Entry{Manager: "m", APIVersion: "example.com/v1", FieldsV1: "{"}
	if got, _, _, err := c.migrate(bad, doc); err == nil || got != bad {
		t.Errorf("migrate() of invalid fieldsV1 = %+v, error %v; want an error and the entry unchanged", got, err)
	}
}

// TestMigrateAbsences: a migrated entry also owns the fields that unset markers have removed, unless the new schema cannot express
// them.
func TestMigrateAbsences(t *testing.T) {
	parse := func(text string) document.Value {
		doc, err := document.ParseJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	none := func(generation int, versions ...string) *crd.Resource {
		return resource(t, generation, "None", versions...)
	}
	toV2 := newChain(none(2, "v2 name storage"), generations(none(1, "v1 name", "v2 name storage")), "v1")
	toOtherKeys := newChain(none(2, "v2 id storage"), generations(none(1, "v1 name", "v2 id storage")), "v1")
	toAtomic := newChain(none(2, "v2 atomic storage"), generations(none(1, "v1 name", "v2 atomic storage")), "v1")
	otherKeys := newChain(none(2, "v1 id storage"), generations(none(1, "v1 name storage")), "v1")
	thereAndBack := newChain(none(3, "v1 name storage"), generations(none(1, "v1 name storage"), none(2, "v1 id storage")), "v1")
	v1, v2 := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"}`, `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one"}`
	for _, test := range []struct {
		name, doc, fields, want, lost string
		chain                         *chain
	}{
		{"removed version", v2 + `}`, `{"f:a":{}}`, `{"f:a":{}}`, `{}`, toV2},
		{"a field of the removed version only", v2 + `}`, `{"f:a":{},"f:gone":{}}`, `{"f:a":{}}`, `{"f:gone":{}}`, toV2},
		{"removed version, nothing remains", v2 + `}`, `{"f:gone":{}}`, ``, `{"f:gone":{}}`, toV2},
		{"an item", v2 + `,"list":[{"name":"y","id":"1"}]}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, `{}`, toV2},
		{"an item of a missing list", v2 + `}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, `{}`, toV2},
		{"an item by other keys", v2 + `}`, `{"f:a":{},"f:list":{"k:{\"name\":\"x\"}":{}}}`, `{"f:a":{}}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, toOtherKeys},
		{"an item of an empty list", v2 + `,"list":[]}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, `{}`, toV2},
		{"a list that is atomic now", v2 + `}`, `{"f:list":{}}`, `{"f:list":{}}`, `{}`, toAtomic},
		{"other keys", v1 + `}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, ``, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, otherKeys},
		{"other keys there and back", v1 + `}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, `{"f:list":{"k:{\"name\":\"x\"}":{}}}`, `{}`, thereAndBack},
	} {
		entry := apply.Entry{Manager: "m", Operation: apply.Apply, APIVersion: "example.com/v1", FieldsV1: test.fields}
		got, lost, ok, err := test.chain.migrate(entry, parse(test.doc))
		if err != nil || ok != (test.want != "") || ok && got.FieldsV1 != test.want || lost.FieldsV1() != test.lost {
			t.Errorf("%s: migrate(%s) = %s, lost %s, %t, %v; want %s, lost %s", test.name, test.fields, got.FieldsV1, lost.FieldsV1(), ok, err, test.want, test.lost)
		}
		entry.Operation = apply.Update
		if got, _, _, _ := test.chain.migrate(entry, parse(test.doc)); test.chain == toV2 && got.FieldsV1 != "{}" && !strings.Contains(test.doc, "[]") {
			t.Errorf("%s: migrate(%s) of an update = %s, want no fields", test.name, test.fields, got.FieldsV1)
		}
	}
}

// TestRestrict: restrict removes paths that do not exist, and replaces paths below an atomic field with the path of the atomic
// field.
func TestRestrict(t *testing.T) {
	parse := func(text string) fieldset.Set {
		t.Helper()
		set, err := apply.Entry{FieldsV1: text}.Fields()
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	for _, test := range []struct{ set, existing, want string }{
		{`{"f:a":{}}`, `{"f:a":{}}`, `{"f:a":{}}`},
		{`{"f:a":{},"f:b":{}}`, `{"f:b":{}}`, `{"f:b":{}}`},
		{`{"f:m":{"f:x":{},"f:y":{}}}`, `{"f:m":{"f:x":{}}}`, `{"f:m":{"f:x":{}}}`},
		{`{"f:m":{"f:x":{}}}`, `{"f:m":{"f:y":{}}}`, `{}`},
		{`{"f:m":{"f:x":{}}}`, `{"f:m":{}}`, `{"f:m":{}}`},
		{`{"f:m":{}}`, `{"f:m":{"f:x":{}}}`, `{"f:m":{}}`},
	} {
		if got := restrict(parse(test.set), parse(test.existing), nil, false).FieldsV1(); got != test.want {
			t.Errorf("restrict(%s, %s) = %s, want %s", test.set, test.existing, got, test.want)
		}
	}
}

// TestMergeEntries: entries of the same field manager and version are merged; entries that cannot be parsed are not.
func TestMergeEntries(t *testing.T) {
	of := func(manager, fields string, second int64) apply.Entry {
		return apply.Entry{Manager: manager, Operation: apply.Apply, APIVersion: "example.com/v1", FieldsV1: fields, Time: time.Unix(second, 0)}
	}
	a, b, bad := of("m", `{"f:a":{}}`, 2), of("m", `{"f:b":{}}`, 1), of("m", `{`, 3)
	for name, test := range map[string]struct{ entries, want []apply.Entry }{
		"one manager":            {[]apply.Entry{b, a}, []apply.Entry{of("m", `{"f:a":{},"f:b":{}}`, 2)}},
		"two managers":           {[]apply.Entry{a, of("n", `{"f:b":{}}`, 1)}, []apply.Entry{a, of("n", `{"f:b":{}}`, 1)}},
		"second is not parsable": {[]apply.Entry{a, bad}, []apply.Entry{a, bad}},
		"first is not parsable":  {[]apply.Entry{bad, a}, []apply.Entry{bad, a}},
	} {
		if got := mergeEntries(test.entries); !slices.Equal(got, test.want) {
			t.Errorf("%s: mergeEntries() = %+v, want %+v", name, got, test.want)
		}
	}
}
