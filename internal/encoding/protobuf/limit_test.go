package protobuf

import (
	"testing"

	"github.com/cadastre/cadastre/internal/api/scheme"
)

// TestMemoryOfAllKinds: the memory of every kind that can be sent in protobuf is checked before it is decoded.
func TestMemoryOfAllKinds(t *testing.T) {
	for gvk := range scheme.Builtin().AllKnownTypes() {
		is := Type{gvk.GroupVersion().String(), gvk.Kind}
		if err := checkMessageMemory(is, nil); err != nil {
			t.Errorf("%v: %v", is, err)
		}
	}
}
