package custom

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/objects"
)

// TestRemovingWaitsForAllWhoCreate: a definition that is deleted goes after those are done who still create objects by
// a kind that it defined, also if that is not served any more, or another kind has taken its place already. An object
// that came later would have no definition.
func TestRemovingWaitsForAllWhoCreate(t *testing.T) {
	versions := fmt.Sprintf(mergingAs, asAtom, mapAsAtom)
	for name, patch := range map[string]string{
		"not served any more": `{"spec":{"versions":[` + strings.Replace(versions, `"served":true`, `"served":false`, 1) + `]}}`,
		"other names":         `{"spec":{"names":{"shortNames":["w"]}}}`,
		"merges otherwise":    `{"spec":{"versions":[` + fmt.Sprintf(mergingAs, byName, "") + `]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			k := open(t, cachetest.OpenStore(t))
			k.defineWidgets(versions, "")
			old := k.endpoint("example.com", "v1", "widgets", "").Kind
			if err := old.Uses.Enter(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			k.mergeDefinition("widgets", patch)
			k.wait("the kind is replaced", func() bool { now, _ := k.all.Kinds.Resource("example.com", "v1", "widgets"); return now != old })
			if _, err := k.all.Delete(t.Context(), &objects.Deletion{Endpoint: k.endpoint(definitionsGroup, "v1", definitionsName, ""), Name: "widgets.example.com"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			if k.definition("widgets").IsAbsent() {
				t.Error("the definition is gone while somebody creates an object by it")
			}
			old.Uses.Leave()
			k.wait("the definition is gone", func() bool { return k.definition("widgets").IsAbsent() })
		})
	}
}
