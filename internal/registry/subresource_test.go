package registry

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/internal/api"
)

// TestSubresourcesAreImplemented: kind files name only subresources that the registry implements.
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
			t.Errorf("no kind has the subresource %q", s.Name)
		}
	}
}
