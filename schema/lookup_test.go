package schema

import (
	"fmt"
	"testing"
)

// TestLookup checks the lookup of present and absent fields in structs of many sizes. The names differ in the bytes
// that the hash samples in one case, and only in other bytes in the other case.
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

// TestLookupOfSimilarNames checks that names with equal sampled bytes are hashed as a whole, so that a lookup does not
// probe all of them.
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
