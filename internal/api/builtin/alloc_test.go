//go:build !race

package builtin

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestNoAllocations is excluded under the race detector, which empties sync.Pools.
func TestNoAllocations(t *testing.T) {
	of, doc := complete(t)
	if n := testing.AllocsPerRun(100, func() { _, _, _ = of.Decode(doc) }); n > 0 {
		t.Errorf("Decode() allocates %v times, want 0", n)
	}
	if n := testing.AllocsPerRun(100, func() { of.Default(doc) }); n > 0 {
		t.Errorf("Default() allocates %v times, want 0", n)
	}
	if n := testing.AllocsPerRun(100, func() { of.Warnings(doc, document.Value{}) }); n > 0 {
		t.Errorf("Warnings() allocates %v times, want 0", n)
	}
}
