package protobuf

import (
	"testing"

	"github.com/cadastre/cadastre/internal/api/scheme"
)

// TestMemoryOfAllKinds checks that the memory of every built-in kind can be computed.
func TestMemoryOfAllKinds(t *testing.T) {
	for gvk := range scheme.Builtin().AllKnownTypes() {
		typ := Type{gvk.GroupVersion().String(), gvk.Kind}
		if err := checkMessageMemory(typ, nil); err != nil {
			t.Errorf("checkMessageMemory(%v) = %v, want no error", typ, err)
		}
	}
}
