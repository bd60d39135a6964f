//go:build !race

package builtin

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestNoAllocations checks that decoding, defaulting and computing the warnings of a complete object do not allocate memory. It
// is excluded from builds with the race detector, which empties sync.Pools.
func TestNoAllocations(t *testing.T) {
	of, doc := complete(t)
	if n := testing.AllocsPerRun(100, func() { _, _, _ = of.Decode(doc) }); n > 0 {
		t.Errorf("Decode(): got %v allocations, want 0", n)
	}
	if n := testing.AllocsPerRun(100, func() { of.Default(doc) }); n > 0 {
		t.Errorf("Default(): got %v allocations, want 0", n)
	}
	if n := testing.AllocsPerRun(100, func() { of.Warnings(doc, document.Value{}) }); n > 0 {
		t.Errorf("Warnings(): got %v allocations, want 0", n)
	}
}
