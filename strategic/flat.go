package strategic

import (
	"math/bits"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// A flat patch sets exactly the fields of a live map, all to scalars. That is the case for most items of lists of small
// maps (environment variables, ports, taints, conditions). The result of merging a flat patch is the patch itself, and a
// patch that sets all fields except the merge key is the modified item itself; both reuse existing text. Tests compare
// these fast paths with the general path.

// mergeFlat merges a flat patch into a map. ok is false if the patch is not flat.
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

// mayHaveDirectives reports whether a non-empty map may have directives. Their names start with a dollar sign and
// sort before most field names, so that only the first name is examined.
func mayHaveDirectives(patch document.Value) bool {
	first := patch.Name(0)
	return first == "" || first[0] <= '$'
}

// isFlatDiff reports whether the patch of an item is the modified item itself: both versions have the same merge key,
// and all other fields are scalars that differ.
func (d *differ) isFlatDiff(v versions) bool {
	if d.plain || v.modified.Len() < 2 {
		return false // an item with only its merge key does not change
	}
	differ, ok := fastdoc.ScalarDifferences(v.current, v.modified)
	return ok && bits.OnesCount64(differ) == v.modified.Len()-1
}
