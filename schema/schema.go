package schema

import (
	"iter"
	"maps"
	"slices"
)

// Schema is a set of types with names, some of which are the root types of kinds. It is immutable and safe for
// concurrent use.
type Schema struct {
	types map[string]*Type
	kinds map[groupVersionKind]*Type
}

type groupVersionKind struct{ group, version, kind string }

// Type returns the type with the given name, and false if there is none. For an alias it returns the type that the
// alias refers to.
func (s *Schema) Type(name string) (*Type, bool) {
	t, ok := s.types[name]
	return t, ok
}

// Kind returns the root type of a kind, and false if there is none. The group of core kinds such as Pod is empty.
func (s *Schema) Kind(group, version, kind string) (*Type, bool) {
	t, ok := s.kinds[groupVersionKind{group, version, kind}]
	return t, ok
}

// Types iterates over all types and their names, sorted by name.
func (s *Schema) Types() iter.Seq2[string, *Type] {
	return func(yield func(string, *Type) bool) {
		for _, name := range slices.Sorted(maps.Keys(s.types)) {
			if !yield(name, s.types[name]) {
				return
			}
		}
	}
}
