package crd_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// TestDeletionWaitsForCreations: the deletion of a definition waits for creations in flight by any kind that it defined,
// also if that is no longer served or has been replaced. An object created later would have no definition.
func TestDeletionWaitsForCreations(t *testing.T) {
	versions := crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap)
	for name, patch := range map[string]string{
		"not served any more": `{"spec":{"versions":[` + strings.Replace(versions, `"served":true`, `"served":false`, 1) + `]}}`,
		"other names":         `{"spec":{"names":{"shortNames":["w"]}}}`,
		"merges otherwise":    `{"spec":{"versions":[` + crdtest.ListAndMap(crdtest.ListByName, "") + `]}}`,
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
			time.Sleep(50 * time.Millisecond) // proves that nothing happens: the controller removes an unused definition in milliseconds
			if k.Definition("widgets").IsAbsent() {
				t.Error("the definition is gone while a creation is in flight")
			}
			old.WriteGate.Leave()
			k.Wait("the definition is gone", func() bool { return k.Definition("widgets").IsAbsent() })
		})
	}
}
