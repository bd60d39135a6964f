package schema

import (
	"fmt"
	"testing"
)

// TestLookup checks the lookup of present and absent fields in structs of many sizes. In one case the names differ in
// the bytes that the hash samples, and in the second case only in bytes that it does not sample.
func TestLookup(t *testing.T) {
	for _, name := range []struct{ format, absent string }{
		{"%dfield", "1fields"},
		{"x%03dabcde", "x999abcde"},
	} {
		for size := range 200 {
			m := &Map{Fields: make([]Field, size)}
			for i := range size {
				m.Fields[i].Name = fmt.Sprintf(name.format, i)
			}
			for i := range size {
				if found := m.find(m.Fields[i].Name); found != i {
					t.Fatalf("%d fields: find(%s) = %d, want %d", size, m.Fields[i].Name, found, i)
				}
			}
			for _, absent := range []string{"", name.absent, name.absent[1:]} {
				if found := m.find(absent); found != -1 {
					t.Fatalf("%d fields: find(%q) = %d, want -1", size, absent, found)
				}
			}
		}
	}
}

// TestLookupOfSimilarNames checks that names with equal sampled bytes are hashed as a whole. A lookup then does not
// compare all of these names.
func TestLookupOfSimilarNames(t *testing.T) {
	m := &Map{Fields: make([]Field, 10_000)}
	for i := range m.Fields {
		m.Fields[i].Name = fmt.Sprintf("a%05dmmmmmmmmmm%05dz", i, i)
	}
	l := newLookup(m.Fields)
	if !l.fullHash || l.maxProbe > 100 {
		t.Errorf("fullHash = %v, maxProbe = %d, want true and at most 100", l.fullHash, l.maxProbe)
	}
}
