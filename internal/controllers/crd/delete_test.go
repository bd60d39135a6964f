package crd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// TestDeletionWaitsForCreations: the deletion of a CRD waits for all creations of its objects that are in flight, including
// creations that started before an update of the CRD replaced or unregistered the kind. Otherwise an object could be created
// after its CRD was deleted.
func TestDeletionWaitsForCreations(t *testing.T) {
	versions := crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap)
	for name, patch := range map[string]string{
		"no longer served": `{"spec":{"versions":[` + strings.Replace(versions, `"served":true`, `"served":false`, 1) + `]}}`,
		"other names":      `{"spec":{"names":{"shortNames":["w"]}}}`,
		"other list type":  `{"spec":{"versions":[` + crdtest.ListAndMap(crdtest.ListByName, "") + `]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			k := crdtest.Open(t, watchcachetest.OpenStore(t))
			k.DefineWidgets(versions, "")
			old := k.Widgets("v1").Kind
			if err := old.WriteGate.Enter(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			k.MergeDefinition("widgets", patch)
			k.Wait("the kind is replaced", func() bool { now, _ := k.Objects.Kinds.Resource("example.com", "v1", "widgets"); return now != old })
			if _, err := k.Objects.Delete(t.Context(), &registry.Deletion{Endpoint: k.Definitions(""), Name: "widgets.example.com"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // a deletion that did not wait would be done within milliseconds
			if k.Definition("widgets").IsAbsent() {
				t.Error("CustomResourceDefinition was deleted while a creation is in flight, want it to wait")
			}
			old.WriteGate.Leave()
			k.Wait("the definition to be deleted", func() bool { return k.Definition("widgets").IsAbsent() })
		})
	}
}
