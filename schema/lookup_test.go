package schema

import (
	"fmt"
	"testing"
)

// TestLookup finds every field of structs of many sizes, and no other: with names that
// differ where the hash looks, and with names that do not.
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
					t.Fatalf("%d fields: %s is number %d, want %d", size, m.Fields[i].Name, found, i)
				}
			}
			for _, absent := range []string{"", name.absent, name.absent[1:]} {
				if found := m.find(absent); found != -1 {
					t.Fatalf("%d fields: found %q at %d, want nothing", size, absent, found)
				}
			}
		}
	}
}

// TestLookupOfSimilarNames: names that the short hash can't tell apart are told apart
// nevertheless, without looking through all of them.
func TestLookupOfSimilarNames(t *testing.T) {
	m := &Map{Fields: make([]Field, 10_000)}
	for i := range m.Fields {
		m.Fields[i].Name = fmt.Sprintf("a%05dmmmmmmmmmm%05dz", i, i)
	}
	l := newLookup(m.Fields)
	if !l.careful || l.reach > 100 {
		t.Errorf("careful is %v with a reach of %d, want true and a short one", l.careful, l.reach)
	}
}
