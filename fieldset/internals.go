package fieldset

import "github.com/cadastre/cadastre/internal/lib/access"

// internals makes unexported parts of this package available to internal/lib/fastset: queries of FieldsV1 text that do
// not build the set, builders with shared memory, and elements by their spelling.
type internals struct{}

func init() { access.RegisterFieldSet[Set, Element, ElementKind](internals{}) }

func (internals) NewBuilder() access.SetBuilder[Set, Element] { return new(builder) }

func (internals) NewArena() access.SetArena[Set] { return new(arena) }

func (internals) Intersection(text string, paths Set) (Set, bool) {
	return textIntersection(text, paths)
}

func (internals) Difference(text, other string) (Set, bool) { return textDifference(text, other) }

func (internals) Element(kind ElementKind, spelling string) Element { return Element{kind, spelling} }

func (internals) Spelling(e Element) (ElementKind, string) { return e.kind, e.text }
