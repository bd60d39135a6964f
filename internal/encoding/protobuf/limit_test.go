package protobuf

import (
	"testing"

	"github.com/cadastre/cadastre/internal/api/scheme"
)

// TestMemoryOfAllKinds checks that the memory of every built-in kind can be computed.
func TestMemoryOfAllKinds(t *testing.T) {
	for gvk := range scheme.Builtin().AllKnownTypes() {
		is := Type{gvk.GroupVersion().String(), gvk.Kind}
		if err := checkMessageMemory(is, nil); err != nil {
			t.Errorf("checkMessageMemory(%v) = %v, want no error", is, err)
		}
	}
}
