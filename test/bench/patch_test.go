package bench

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/strategic"
	"github.com/cadastre/cadastre/test/bench/lowerbound"
)

// TestPatchesEqualUpstream checks that Cadastre and strategicpatch merge a patch to the same object. Computed patches
// may differ in their text: the test merges both patches into the object, and compares the results.
func TestPatchesEqualUpstream(t *testing.T) {
	for _, c := range slices.Concat(PatchCases(), LongPatches(10), LongPatches(100)) {
		t.Run(c.Name(), func(t *testing.T) {
			kind, err := strategic.FromGoType(c.kind)
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&patcher{kind: kind}).do(c)
			if err != nil {
				t.Fatal(err)
			}
			want, err := c.runUpstream()
			if err != nil {
				t.Fatal(err)
			}
			cadastreResult, upstreamResult := mustParse(t, got), mustParse(t, want)
			if c.Operation != Merge {
				live := mustParse(t, c.inputs[len(c.inputs)-1].Bytes)
				if c.Operation == Make {
					live = mustParse(t, c.inputs[0].Bytes)
				}
				if cadastreResult.Len() == 0 {
					t.Error("Cadastre's patch = {}, want a patch that changes the object")
				}
				cadastreResult, upstreamResult = mustMerge(t, live, cadastreResult, kind), mustMerge(t, live, upstreamResult, kind)
			}
			if !document.Equal(cadastreResult, upstreamResult) {
				checkEqual(t, []byte(cadastreResult.JSON()), []byte(upstreamResult.JSON()))
			}
			if work, err := c.LowerBound(lowerbound.Fastest()); err != nil || work() != nil {
				t.Errorf("lower bound: %v", err)
			}
		})
	}
}

func mustParse(t *testing.T, text []byte) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustMerge(t *testing.T, live, patch document.Value, kind *strategic.Type) document.Value {
	t.Helper()
	v, err := strategic.Merge(live, patch, kind)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
