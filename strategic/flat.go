package strategic

import (
	"math/bits"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// A flat patch of a map sets all of its fields, and no others, to scalars, as it is with most
// items of lists of small maps (variables, ports, taints, conditions). There is nothing to put
// together then: what comes of merging it is the patch itself, and a patch that sets all fields
// but the merge key is the wanted item itself, whose text is at hand. Both are shortcuts: without
// them, which is how tests compare, the same comes out field by field.

// mergeFlat merges a flat patch into a map. It reports false for any other patch.
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

// mayHaveDirectives reports false if a map that is not empty has no directives, which would be
// among its first fields, because of their dollar sign.
func mayHaveDirectives(patch document.Value) bool {
	first := patch.Name(0)
	return first == "" || first[0] <= '$'
}

// isFlatDiff reports whether the patch of an item is the wanted item itself. The versions have the
// same merge key, and all else has to differ.
func (d *differ) isFlatDiff(v versions) bool {
	if d.plain || v.modified.Len() < 2 {
		return false // an item that has nothing but its key does not change
	}
	differ, ok := fastdoc.ScalarDifferences(v.current, v.modified)
	return ok && bits.OnesCount64(differ) == v.modified.Len()-1
}
