package custom

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/objects"
)

const (
	// twoOfThem have different fields at v1 and v2, and a list that v2 takes as a whole.
	firstOfTwo = `{"name":"v1","served":true,"storage":%s,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"old":{"type":"integer"},
  "list":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
  "map":{"type":"object","additionalProperties":{"type":"integer"}}}}}}`
	secondOfTwo = `{"name":"v2","served":true,"storage":%s,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},
  "list":{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"string"}},
  "map":{"type":"object","additionalProperties":{"type":"integer"}}}}}}`
)

func stored(version, is string) string { return strings.Replace(version, "%s", is, 1) }

// retire has v1 of widgets go, which alice and bob wrote at.
func retire(t *testing.T, conversion string) *kit {
	t.Helper()
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(stored(firstOfTwo, "false")+","+stored(secondOfTwo, "true"), conversion)
	apply := func(manager, version, fields string) {
		t.Helper()
		r := k.request(k.endpoint("example.com", version, "widgets", ""), "one", `{"apiVersion":"example.com/`+version+`","kind":"Widget","metadata":{"name":"one"},`+fields+`}`)
		r.Manager = manager
		if _, err := k.all.Apply(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	apply("alice", "v1", `"a":1,"list":["x"],"map":{"k":1}`)
	apply("bob", "v2", `"b":1`)
	apply("carol", "v1", `"old":1`)
	for _, version := range []string{"v1", "v2"} {
		r := k.request(k.endpoint("example.com", version, "widgets", ""), "one", `{"map":{"`+version+`":1}}`)
		r.Manager = "dave"
		if _, err := k.all.Patch(t.Context(), r, objects.MergePatch); err != nil {
			t.Fatal(err)
		}
	}
	before := k.endpoint("example.com", "v2", "widgets", "")
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+stored(secondOfTwo, "true")+`]}}`)
	k.wait("the kind is replaced", func() bool {
		kind, ok := k.all.Kinds.Resource("example.com", "v2", "widgets")
		return ok && kind != before.Kind
	})
	return k
}

// TestDifferenceOwnersOutliveTheirVersion: who wrote at a version that is gone owns the same at the one that is stored,
// as far as the object has it there, if all versions are alike.
func TestDifferenceOwnersOutliveTheirVersion(t *testing.T) {
	k := retire(t, "")
	want := []string{
		`"apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:a":{},"f:list":{},"f:map":{"f:k":{}}},"manager":"alice"`,
		`"apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:b":{}},"manager":"bob"`,
		`"apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:map":{"f:v1":{},"f:v2":{}}},"manager":"dave"`,
	}
	k.wait("owners are rewritten", func() bool { return strings.Contains(k.ownersAt("v2"), want[0]) })
	owners := k.ownersAt("v2")
	for _, one := range want {
		if !strings.Contains(owners, one) {
			t.Errorf("expected %s in %s", one, owners)
		}
	}
	if strings.Contains(owners, "example.com/v1") || strings.Contains(owners, "carol") || strings.Count(owners, "dave") != 1 {
		t.Errorf("expected nobody at v1, nobody who owns nothing, and nobody twice: %s", owners)
	}
	// What alice owned is hers: nobody else changes it, and what she gives up goes.
	r := k.request(k.endpoint("example.com", "v2", "widgets", ""), "one", `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one"},"a":2}`)
	r.Manager = "bob"
	if _, err := k.all.Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), `conflict with "alice"`) {
		t.Errorf("received %v, expected a conflict", err)
	}
	r.Manager, r.Body.Text = "alice", `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one"},"a":2}`
	if _, err := k.all.Apply(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if doc := k.get("example.com/widgets", "one"); doc.Get("a").Text() != "2" || !doc.Get("list").IsAbsent() || !doc.Lookup("map", "k").IsAbsent() {
		t.Errorf("expected what alice gave up to be gone: %v", doc)
	}
}

// TestEntriesAreRetired: if a webhook converts, nobody can tell what was owned at a version that is gone: entries stay
// until the next apply.
func TestEntriesAreRetired(t *testing.T) {
	k := retire(t, newProgram(t).conversion())
	if owners := k.ownersAt("v2"); !strings.Contains(owners, `"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}`) {
		t.Errorf("expected alice's entry as it was: %s", owners)
	}
	r := k.request(k.endpoint("example.com", "v2", "widgets", ""), "one", `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one"},"b":2}`)
	r.Manager = "bob"
	if _, err := k.all.Apply(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if owners := k.ownersAt("v2"); strings.Contains(owners, "example.com/v1") || strings.Contains(owners, "alice") || !strings.Contains(owners, "bob") {
		t.Errorf("expected entries at v1 to be gone, and bob's to stay: %s", owners)
	}
}

// ownersAt returns the managedFields of a widget as it is shown at a version.
func (k *kit) ownersAt(version string) string {
	k.Helper()
	doc, err := k.shown(version, "one")
	if err != nil {
		k.Fatal(err)
	}
	return doc.Lookup("metadata", "managedFields").JSON()
}

// TestWhereEntriesGo: an entry stays at its version if the definition has it, and goes to the one that is stored if
// nobody but the apiVersion has ever told versions apart since it was written.
func TestWhereEntriesGo(t *testing.T) {
	definitionOf := func(strategy string) *definition {
		doc, err := document.ParseJSON(`{"spec":{"conversion":{"strategy":"` + strategy + `"},"versions":[{"name":"v2","storage":true}]}}`)
		if err != nil {
			t.Fatal(err)
		}
		return newDefinition(read(doc), nil, nil)
	}
	for _, test := range []struct{ version, was, is, want string }{
		{"v2", "Webhook", "Webhook", "v2"},
		{"v1", "None", "None", "v2"},
		{"v1", "Webhook", "None", ""},
		{"v1", "None", "Webhook", ""},
	} {
		b := &bringer{now: definitionOf(test.is)}
		if got := b.target(test.version, []former{{definition: definitionOf(test.was)}}); got != test.want {
			t.Errorf("%+v: received %q", test, got)
		}
	}
}

// TestJoined: entries of one manager at one version are one, and nobody loses what can't be read.
func TestJoined(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	of := func(manager, fields string, second int64) apply.Entry {
		return apply.Entry{Manager: manager, Operation: apply.Apply, APIVersion: "example.com/v1", FieldsV1: fields, Time: at(second)}
	}
	a, b, bad := of("m", `{"f:a":{}}`, 2), of("m", `{"f:b":{}}`, 1), of("m", `{`, 3)
	for name, test := range map[string]struct{ entries, want []apply.Entry }{
		"of one manager":      {[]apply.Entry{b, a}, []apply.Entry{of("m", `{"f:a":{},"f:b":{}}`, 2)}},
		"of two managers":     {[]apply.Entry{a, of("n", `{"f:b":{}}`, 1)}, []apply.Entry{a, of("n", `{"f:b":{}}`, 1)}},
		"that can't be read":  {[]apply.Entry{a, bad}, []apply.Entry{a, bad}},
		"that could not once": {[]apply.Entry{bad, a}, []apply.Entry{bad, a}},
	} {
		if got := joined(test.entries); !slices.Equal(got, test.want) {
			t.Errorf("%s: received %+v, want %+v", name, got, test.want)
		}
	}
}
