package strategic

import (
	"math/bits"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// A flat patch sets exactly the fields of a live map, all to scalars. Most items of lists of small maps (environment
// variables, ports, taints, conditions) have such patches. The result of merging a flat patch is the patch itself, and
// Diff returns the modified item itself as the patch if all its fields except the merge key changed; both reuse
// existing text. Tests compare these fast paths with the general path.

// mergeFlat merges a flat patch into the map live without merging field by field. ok is false if the patch is not flat.
func (m *merger) mergeFlat(live, patch document.Value) (result document.Value, ok bool) {
	if m.plain || patch.Len() == 0 || mayHaveDirectives(patch) {
		return result, false
	}
	switch differ, ok := fastdoc.ScalarDifferences(live, patch); {
	case !ok:
		return result, false
	case differ == 0:
		return live, true
	}
	return patch, true
}

// mayHaveDirectives reports whether a non-empty map may contain directives. It examines only the first name, because
// the names of directives start with a dollar sign and sort before most field names.
func mayHaveDirectives(patch document.Value) bool {
	first := patch.Name(0)
	return first == "" || first[0] <= '$'
}

// isFlatDiff reports whether the modified item itself is its patch: current and modified have the same fields with only
// scalars, and all of them except the merge key differ.
func (d *differ) isFlatDiff(v versions) bool {
	if d.plain || v.modified.Len() < 2 {
		return false // an item that consists only of its merge key does not change
	}
	differ, ok := fastdoc.ScalarDifferences(v.current, v.modified)
	return ok && bits.OnesCount64(differ) == v.modified.Len()-1
}
