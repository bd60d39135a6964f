//go:build !race

package builtin

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

// TestNothingIsAllocated is left out with the race detector, which makes pools forget.
func TestNothingIsAllocated(t *testing.T) {
	of, doc := complete(t)
	if n := testing.AllocsPerRun(100, func() { _, _, _ = of.Read(doc) }); n > 0 {
		t.Errorf("reading allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { of.Default(doc) }); n > 0 {
		t.Errorf("defaulting allocates %v times", n)
	}
	if n := testing.AllocsPerRun(100, func() { of.Warnings(doc, document.Value{}) }); n > 0 {
		t.Errorf("looking for something to warn of allocates %v times", n)
	}
}
