package managedfields_test

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// The versions of the CRD. The schema of removedV1 has one field more than that of storedV2; the list type is set in
// removedV1 and atomic in storedV2.
const (
	removedV1 = `{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},"old":{"type":"integer"},
  "list":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
  "map":{"type":"object","additionalProperties":{"type":"integer"}}}}}}`
	storedV2 = `{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"},
  "list":{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"string"}},
  "map":{"type":"object","additionalProperties":{"type":"integer"}}}}}}`
)

// removeV1 returns a server whose CRD no longer has version v1. The field managers alice, carol and dave have written the
// widget "one" at v1.
func removeV1(t *testing.T, conversion string) *kit {
	t.Helper()
	k := open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(removedV1+","+storedV2, conversion)
	k.MustApplyAs("alice", "v1", "one", `"a":1,"list":["x"],"map":{"k":1}`)
	k.MustApplyAs("bob", "v2", "one", `"b":1`)
	k.MustApplyAs("carol", "v1", "one", `"old":1`)
	for _, version := range []string{"v1", "v2"} {
		r := k.Request(k.Widgets(version), "one", `{"map":{"`+version+`":1}}`)
		r.Manager = "dave"
		if _, err := k.Objects.Patch(t.Context(), r, registry.MergePatch); err != nil {
			t.Fatal(err)
		}
	}
	old := k.Widgets("v2")
	k.MergeVersions(storedV2)
	k.WaitReplaced(old)
	return k
}

// TestDifferenceManagedFieldsOutliveTheirVersion: if the conversion strategy is None, an entry of a removed version becomes an
// entry of the storage version, with the fields that the object has at the storage version.
func TestDifferenceManagedFieldsOutliveTheirVersion(t *testing.T) {
	k := removeV1(t, "")
	want := []string{
		`"apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:a":{},"f:list":{},"f:map":{"f:k":{}}},"manager":"alice"`,
		`"apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:b":{}},"manager":"bob"`,
		`"apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:map":{"f:v1":{},"f:v2":{}}},"manager":"dave"`,
	}
	k.Wait("entries are migrated", func() bool { return strings.Contains(k.ManagedFields("v2", "one"), want[0]) })
	owners := k.ManagedFields("v2", "one")
	for _, one := range want {
		if !strings.Contains(owners, one) {
			t.Errorf("managedFields = %s, want them to contain %s", owners, one)
		}
	}
	if strings.Contains(owners, "example.com/v1") || strings.Contains(owners, "carol") || strings.Count(owners, "dave") != 1 {
		t.Errorf("managedFields = %s, want no entry at v1, none without fields, and one per manager", owners)
	}
	// The fields of field manager alice conflict with other appliers, and are pruned when alice no longer applies them.
	r := k.Request(k.Widgets("v2"), "one", `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one"},"a":2}`)
	r.Manager = "bob"
	if _, err := k.Objects.Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), `conflict with "alice"`) {
		t.Errorf("Apply() = %v, want a conflict", err)
	}
	k.MustApplyAs("alice", "v2", "one", `"a":2`)
	if doc := k.Get(crdtest.Widgets, "one"); doc.Get("a").Text() != "2" || !doc.Get("list").IsAbsent() || !doc.Lookup("map", "k").IsAbsent() {
		t.Errorf("object = %v, want the fields that alice no longer applies pruned", doc)
	}
}

// TestRemovedVersionOfWebhook: if a webhook converts objects, the fields of an entry of the removed version are unknown at other
// versions: the entry is retained until the next apply drops it.
func TestRemovedVersionOfWebhook(t *testing.T) {
	k := removeV1(t, crdtest.NewConversionServer(t).Conversion())
	if owners := k.ManagedFields("v2", "one"); !strings.Contains(owners, `"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}`) {
		t.Errorf("managedFields = %s, want alice's entry unchanged", owners)
	}
	k.MustApplyAs("bob", "v2", "one", `"b":2`)
	if owners := k.ManagedFields("v2", "one"); strings.Contains(owners, "example.com/v1") || strings.Contains(owners, "alice") || !strings.Contains(owners, "bob") {
		t.Errorf("managedFields = %s, want only bob's entry, none at v1", owners)
	}
}

// TestVersionRemovedTemporarily: managedFields are migrated even if a previous generation of the CRD lacks the version at
// which an object is stored.
func TestVersionRemovedTemporarily(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k := open(t, s)
	k.DefineWidgets(crdtest.TwoMaps(crdtest.AtomicMap), "")
	k.MustApply("one", `"map":{"x":1}`)
	k.MustCreate("v2", "two", ", map: {x: 1}")
	k.Stop()
	v1, v2, _ := strings.Cut(crdtest.TwoMaps(crdtest.AtomicMap), `,
  {"name":"v2"`)
	v2 = strings.Replace(`{"name":"v2"`+v2, `"storage":false`, `"storage":true`, 1)
	k.MergeVersions(strings.Replace(v1, `"storage":true`, `"storage":false`, 1) + "," + v2)
	if err := k.Merge(k.Definitions("status"), "widgets.example.com", `{"status":{"storedVersions":["v2"]}}`); err != nil {
		t.Fatal(err)
	}
	k.MergeVersions(v2)
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	again := open(t, s)
	again.MustApply("other", `"map":{"x":1}`) // returns when the migration has unblocked writes
	for _, name := range []string{"one", "two"} {
		again.wantOwned(name, mapGranular)
	}
	again.waitFinished()
}
