package custom

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/cache/cachetest"
)

// mergingAs is a version with a list, a map and a list in the items of another.
const mergingAs = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
  "list":{"type":"array",%s"items":{"type":"object","required":["name","id"],"properties":{"name":{"type":"string"},"id":{"type":"string"},"num":{"type":"integer"}}}},
  "map":{"type":"object",%s"additionalProperties":{"type":"integer"}}}}}}`

const (
	byName    = `"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],`
	byID      = `"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],`
	asAtom    = `"x-kubernetes-list-type":"atomic",`
	mapAsAtom = `"x-kubernetes-map-type":"atomic",`
)

// TestDifferenceOwnersFollowTheTopology: who owned a part goes on owning it when its definition changes how it merges:
// field by field, so that it is pruned when its owner no longer applies it.
func TestDifferenceOwnersFollowTheTopology(t *testing.T) {
	for _, test := range []struct {
		name               string
		fromList, fromMap  string
		toList, toMap      string
		owned, left, lefts string
	}{
		{"atomic to granular", asAtom, mapAsAtom, byName, "",
			`"f:list":{"k:{\"name\":\"a\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"name\":\"b\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{"f:x":{},"f:z":{}}`,
			`{"id":"1","name":"a"}`, `{"x":1}`},
		{"other keys", byName, "", byID, "",
			`"f:list":{"k:{\"id\":\"1\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"id\":\"2\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{"f:x":{},"f:z":{}}`,
			`{"id":"1","name":"a"}`, `{"x":1}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := open(t, cachetest.OpenStore(t))
			k.defineWidgets(fmt.Sprintf(mergingAs, test.fromList, test.fromMap), "")
			apply := func(fields string) {
				t.Helper()
				r := k.request(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"},`+fields+`}`)
				if _, err := k.all.Apply(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			apply(`"list":[{"name":"a","id":"1","num":7},{"name":"b","id":"2"}],"map":{"x":1,"z":2}`)
			old := k.endpoint("example.com", "v1", "widgets", "")
			k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, test.toList, test.toMap)+`]}}`)
			k.wait("the kind is replaced", func() bool { return k.endpoint("example.com", "v1", "widgets", "") != old })
			apply(`"list":[{"name":"a","id":"1"}],"map":{"x":1}`)
			doc := k.get("example.com/widgets", "one")
			if got := doc.Get("list"); got.Len() != 1 || got.At(0).JSON() != test.left || doc.Get("map").JSON() != test.lefts {
				t.Errorf("left: %v", doc)
			}
		})
		t.Run(test.name+", owners", func(t *testing.T) {
			k := open(t, cachetest.OpenStore(t))
			k.defineWidgets(fmt.Sprintf(mergingAs, test.fromList, test.fromMap), "")
			r := k.request(k.endpoint("example.com", "v1", "widgets", ""), "one",
				`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"},"list":[{"name":"a","id":"1","num":7},{"name":"b","id":"2"}],"map":{"x":1,"z":2}}`)
			if _, err := k.all.Apply(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, test.toList, test.toMap)+`]}}`)
			k.wait("owners are brought over: "+test.owned, func() bool { return strings.Contains(k.owners("one"), test.owned) })
		})
	}
}

// TestOwnersFollowToTheWholeAndBack: who owns items of a list owns the list when that is atomic, and then all that is
// in it, by whatever keys they are told apart.
func TestOwnersFollowToTheWholeAndBack(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(fmt.Sprintf(mergingAs, byName, ""), "")
	k.mustApply("one", twoItems)
	for _, step := range []struct{ list, of, owned string }{{asAtom, mapAsAtom, ownedWhole}, {byID, "", twoByID}} {
		k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, step.list, step.of)+`]}}`)
		k.wait("owners are brought over: "+step.owned, func() bool { return strings.Contains(k.owners("one"), step.owned) })
	}
}

// TestNestedItemsFollow: a list in the items of another, of which both get other keys, or the inner one becomes granular.
func TestNestedItemsFollow(t *testing.T) {
	const nested = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
  "list":{"type":"array",%s"items":{"type":"object","required":["name","id"],"properties":{"name":{"type":"string"},"id":{"type":"string"},
    "list":{"type":"array",%s"items":{"type":"object","required":["name","id"],"properties":{"name":{"type":"string"},"id":{"type":"string"}}}}}}}}}}}`
	for _, from := range []string{byName, asAtom} {
		k := open(t, cachetest.OpenStore(t))
		k.defineWidgets(fmt.Sprintf(nested, byName, from), "")
		k.mustApply("one", `"list":[{"name":"a","id":"1","list":[{"name":"b","id":"2"}]}]`)
		k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(nested, byID, byID)+`]}}`)
		const want = `"f:list":{"k:{\"id\":\"1\"}":{".":{},"f:id":{},"f:list":{"k:{\"id\":\"2\"}":{".":{},"f:id":{},"f:name":{}}},"f:name":{}}}`
		k.wait("owners are brought over: "+want, func() bool { return strings.Contains(k.owners("one"), want) })
	}
}
