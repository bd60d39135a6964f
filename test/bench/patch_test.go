package bench

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/strategic"
	"github.com/cadastre/cadastre/test/bench/floor"
)

// TestPatchesEqualPeers: merged objects equal those of the peer, and so do the results of merging computed patches,
// whose text may differ.
func TestPatchesEqualPeers(t *testing.T) {
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
			want, err := c.byPeer()
			if err != nil {
				t.Fatal(err)
			}
			ours, theirs := parsed(t, got), parsed(t, want)
			if c.Operation != Merge {
				live := parsed(t, c.inputs[len(c.inputs)-1].Bytes)
				if c.Operation == Make {
					live = parsed(t, c.inputs[0].Bytes)
				}
				if ours.Len() == 0 {
					t.Error("the computed patch is empty")
				}
				ours, theirs = merged(t, live, ours, kind), merged(t, live, theirs, kind)
			}
			if !document.Equal(ours, theirs) {
				checkEqual(t, []byte(ours.JSON()), []byte(theirs.JSON()))
			}
			if work, err := c.Floor(floor.Fastest()); err != nil || work() != nil {
				t.Errorf("floor: %v", err)
			}
		})
	}
}

func parsed(t *testing.T, text []byte) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func merged(t *testing.T, live, patch document.Value, kind *strategic.Type) document.Value {
	t.Helper()
	v, err := strategic.Merge(live, patch, kind)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
