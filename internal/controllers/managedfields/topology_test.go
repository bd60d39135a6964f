package managedfields_test

import (
	"fmt"
	"testing"

	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// TestDifferenceManagedFieldsFollowTheTopology: when list and map types change, each field manager remains the owner of its
// fields, and the fields are pruned when the manager no longer applies them.
func TestDifferenceManagedFieldsFollowTheTopology(t *testing.T) {
	for _, test := range []struct {
		name              string
		fromList, fromMap string
		toList, toMap     string
		owned             string
	}{
		{"atomic to granular", crdtest.AtomicList, crdtest.AtomicMap, crdtest.ListByName, crdtest.Granular, itemsByName},
		{"other keys", crdtest.ListByName, crdtest.Granular, crdtest.ListByID, crdtest.Granular, itemsByID},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := open(t, watchcachetest.OpenStore(t))
			k.DefineWidgets(crdtest.ListAndMap(test.fromList, test.fromMap), "")
			k.MustApply("one", twoItems)
			old := k.Widgets("v1")
			k.MergeVersions(crdtest.ListAndMap(test.toList, test.toMap))
			k.WaitReplaced(old)
			k.MustApply("one", `"list":[{"name":"a","id":"1"}],"map":{"x":1}`)
			doc := k.Get(crdtest.Widgets, "one")
			if got := doc.Get("list"); got.Len() != 1 || got.At(0).JSON() != `{"id":"1","name":"a"}` || doc.Get("map").JSON() != `{"x":1}` {
				t.Errorf("object after the next apply = %v, want the removed fields pruned", doc)
			}
		})
		t.Run(test.name+", managedFields", func(t *testing.T) {
			k := open(t, watchcachetest.OpenStore(t))
			k.DefineWidgets(crdtest.ListAndMap(test.fromList, test.fromMap), "")
			k.MustApply("one", twoItems)
			k.MergeVersions(crdtest.ListAndMap(test.toList, test.toMap))
			k.waitOwned("one", test.owned)
		})
	}
}

// TestGranularToAtomicAndBack: the field manager that owns items of a list owns the list after the list has become atomic, and
// all items after the list has become granular again, with the same or other keys.
func TestGranularToAtomicAndBack(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular), "")
	k.MustApply("one", twoItems)
	for _, step := range []struct{ listType, mapType, owned string }{
		{crdtest.AtomicList, crdtest.AtomicMap, itemsAtomic},
		{crdtest.ListByID, crdtest.Granular, itemsByID},
	} {
		k.MergeVersions(crdtest.ListAndMap(step.listType, step.mapType))
		k.waitOwned("one", step.owned)
	}
}

// TestNestedLists: managedFields are migrated for a list within the items of another list, if the keys of both lists change or
// the inner list becomes granular.
func TestNestedLists(t *testing.T) {
	const nested = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
  "list":{"type":"array",%s"items":{"type":"object","required":["name","id"],"properties":{"name":{"type":"string"},"id":{"type":"string"},
    "list":{"type":"array",%s"items":{"type":"object","required":["name","id"],"properties":{"name":{"type":"string"},"id":{"type":"string"}}}}}}}}}}}`
	for _, from := range []string{crdtest.ListByName, crdtest.AtomicList} {
		k := open(t, watchcachetest.OpenStore(t))
		k.DefineWidgets(fmt.Sprintf(nested, crdtest.ListByName, from), "")
		k.MustApply("one", `"list":[{"name":"a","id":"1","list":[{"name":"b","id":"2"}]}]`)
		k.MergeVersions(fmt.Sprintf(nested, crdtest.ListByID, crdtest.ListByID))
		k.waitOwned("one", `"f:list":{"k:{\"id\":\"1\"}":{".":{},"f:id":{},"f:list":{"k:{\"id\":\"2\"}":{".":{},"f:id":{},"f:name":{}}},"f:name":{}}}`)
	}
}

// TestStatusIsMigrated: managedFields entries of the status subresource are migrated too.
func TestStatusIsMigrated(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.TwoMaps(crdtest.AtomicMap), "")
	k.MustApply("one", `"map":{"x":1}`)
	r := k.Request(k.Endpoint("example.com", "v1", "widgets", "status"), "one", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"},"status":{"map":{"x":1}}}`)
	if _, err := k.Objects.Apply(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	k.waitOwned("one", `"f:status":{`+mapGranular+`}`)
}
