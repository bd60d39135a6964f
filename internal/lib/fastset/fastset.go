// Package fastset offers the parts of package fieldset that trade safety for speed: building sets with few allocations,
// and querying FieldsV1 text without decoding all of it. It is for the apply engine and the API server. The input is
// not checked: duplicate elements, spellings that Kubernetes does not write, or text that is not FieldsV1 produce wrong
// sets instead of errors. Package fieldset contains the safe equivalents; tests compare the results of both.
package fastset

import (
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/access"
)

// library is the access to the unexported parts of package fieldset.
var library = access.OpenFieldSet[fieldset.Set, fieldset.Element, fieldset.ElementKind]()

// Intersection returns the paths that are both in FieldsV1 text and in a set. It searches the text for the paths of the
// set and skips the rest without validating it. The text must be as Kubernetes writes it. ok is false if the search
// finds text that it does not support, such as white space; the caller must then decode the text.
func Intersection(text string, paths fieldset.Set) (intersection fieldset.Set, ok bool) {
	return library.Intersection(text, paths)
}

// Difference returns the paths that are in the FieldsV1 text but not in the FieldsV1 other. The cost is proportional to
// the difference: the common prefix and suffix of the texts are compared as bytes. Both texts must be as Kubernetes
// writes them; ok is false under the same conditions as in Intersection.
func Difference(text, other string) (difference fieldset.Set, ok bool) {
	return library.Difference(text, other)
}

// Element returns the element with the given kind and spelling. Package fieldsv1 must have written the spelling. It
// serves callers that write the spellings of many elements into one buffer.
func Element(kind fieldset.ElementKind, spelling string) fieldset.Element {
	return library.Element(kind, spelling)
}

// Spelling returns the kind of an element and its spelling in FieldsV1 without prefix and quotes. For a field name it
// returns the name without escapes.
func Spelling(e fieldset.Element) (kind fieldset.ElementKind, spelling string) {
	return library.Spelling(e)
}

// Builder builds sets bottom up with few allocations: the elements of one level are collected on a stack, then moved to
// memory that many levels share.
//
//	mark := b.Mark()
//	b.Push(element, true, below)
//	set := b.Set(mark)
//
// Elements may be pushed in any order, but each only once per level; sorted elements are faster. The zero Builder is
// ready to use. It is not safe for concurrent use.
type Builder struct {
	sets   access.SetBuilder[fieldset.Set, fieldset.Element] // nil until the first element
	pushed int                                               // the number of elements on the stack
}

// Mark starts a level and returns its mark, which must be passed to Set.
func (b *Builder) Mark() int { return b.pushed }

// Push adds the element e to the innermost level; below contains the paths below e. If e is not a member and below is
// empty, Push does nothing.
func (b *Builder) Push(e fieldset.Element, member bool, below fieldset.Set) {
	if member || !below.IsEmpty() {
		b.push(e, member, below)
	}
}

func (b *Builder) push(e fieldset.Element, member bool, below fieldset.Set) {
	if b.sets == nil {
		b.sets = library.NewBuilder()
	}
	b.sets.Push(e, member, below)
	b.pushed++
}

// Set finishes the level that was started with mark and returns its set.
func (b *Builder) Set(mark int) fieldset.Set {
	if b.pushed == mark {
		return fieldset.Set{}
	}
	b.pushed = mark
	return b.sets.Set(mark)
}

// Reset prepares the builder for other sets. It drops the references to the sets that were built, which stay valid.
func (b *Builder) Reset() {
	if b.sets != nil {
		b.sets.Reset()
	}
	b.pushed = 0
}

// Arena allocates the sets that Project returns. The zero Arena is ready to use. It is not safe for concurrent use.
type Arena struct {
	sets access.SetArena[fieldset.Set] // nil until the first query
}

// Project restricts the set in FieldsV1 text to the given paths and their prefixes: the result states, for each element
// of these paths, whether it is a member and whether there are paths below it. Other elements are left out. ok is false
// under the same conditions as in Intersection. The result is valid until Reset.
func (a *Arena) Project(text string, paths fieldset.Set) (projection fieldset.Set, ok bool) {
	if a.sets == nil {
		a.sets = library.NewArena()
	}
	return a.sets.Project(text, paths)
}

// Reset makes the memory of the sets that Project returned available for further sets. The returned sets must not be
// used afterwards.
func (a *Arena) Reset() {
	if a.sets != nil {
		a.sets.Reset()
	}
}
