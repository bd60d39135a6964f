package packed

import "testing"

// TestAllKindsCanBeWeighed: what can be sent in protobuf can be weighed before it is read.
func TestAllKindsCanBeWeighed(t *testing.T) {
	for gvk := range GoTypes().AllKnownTypes() {
		is := Type{gvk.GroupVersion().String(), gvk.Kind}
		if err := CheckWeight(is, nil); err != nil {
			t.Errorf("%v: %v", is, err)
		}
	}
}
