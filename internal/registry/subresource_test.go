package registry

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/internal/api"
)

// TestSubresourcesAreImplemented checks that the registry implements all subresources that kind files list, and no others.
func TestSubresourcesAreImplemented(t *testing.T) {
	used := map[string]bool{}
	for _, k := range api.Builtin() {
		for _, name := range k.Subresources {
			used[name] = true
			if !slices.ContainsFunc(Subresources(), func(s api.SubresourceInfo) bool { return s.Name == name }) {
				t.Errorf("%v: the subresource %q of its kind file is not implemented; see subresources()", k, name)
			}
		}
	}
	for _, s := range Subresources() {
		if !used[s.Name] {
			t.Errorf("the registry implements the subresource %q, but no kind file lists it; remove it", s.Name)
		}
	}
}
