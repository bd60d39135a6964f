// Package access gives the internal packages fastdoc and fastset access to unexported parts of the public packages
// document and fieldset.
//
// A public package registers an implementation of an interface of this package when it is initialized; the internal
// package, which imports the public one, looks it up. The type parameters stand for the types of the public package,
// which this package can't import. docs/decisions/0001-internal-access.md explains why.
package access

// AnyItem is the path element that matches every item of a list, in the path of values to leave unparsed.
const AnyItem = "*"

// Document is implemented by package document for package fastdoc. V is document.Value, F is document.Field and L is
// document.Limits.
type Document[V, F, L any] interface {
	// ParseJSON parses one document into newly allocated memory; see Parser.
	ParseJSON(text string, limits L, base V, unparsed []string) (V, error)
	// NewParser returns a parser that reuses its memory.
	NewParser() Parser[V, L]
	// NewContainers returns an allocator of lists and maps.
	NewContainers() Containers[V, F]
	// Members returns the fields or items of a container that was not parsed, and nil for all other values. The
	// caller must not modify them.
	Members(container V) []F
	// HasPlainNames implements fastdoc.HasPlainNames.
	HasPlainNames(v V) bool
	// ScalarDifferences implements fastdoc.ScalarDifferences.
	ScalarDifferences(a, b V) (differ uint64, ok bool)
}

// Parser parses JSON into memory that it reuses. It is not safe for concurrent use.
type Parser[V, L any] interface {
	// ParseJSON parses one document. Containers that have the same path and the same text in base are shared with base.
	// Containers at the path unparsed are stored as unparsed text.
	ParseJSON(text string, limits L, base V, unparsed []string) (V, error)
	// Reset makes the memory of all parsed documents available again.
	Reset()
}

// Containers allocates lists and maps in chunks. It is not safe for concurrent use.
type Containers[V, F any] interface {
	// Map returns a map of the fields, which must be sorted and not empty. The map keeps the slice.
	Map(fields []F) V
	// List returns a list of the items, which must not be empty. The list keeps the slice.
	List(items []F) V
	// Reset drops all references to containers; they stay valid.
	Reset()
	// Recycle makes the memory of all containers available again.
	Recycle()
}

// FieldSet is implemented by package fieldset for package fastset. S is fieldset.Set, E is fieldset.Element and K is
// fieldset.ElementKind.
type FieldSet[S, E, K any] interface {
	// NewBuilder returns an empty builder of sets.
	NewBuilder() SetBuilder[S, E]
	// NewArena returns memory for the sets of a query.
	NewArena() SetArena[S]
	// Intersection implements fastset.Intersection.
	Intersection(text string, paths S) (intersection S, ok bool)
	// Difference implements fastset.Difference.
	Difference(text, other string) (difference S, ok bool)
	// Element returns the element of a kind with the given spelling, which is not checked.
	Element(kind K, spelling string) E
	// Spelling returns the kind of an element and its spelling: the name of a field, or a key, value or index as
	// FieldsV1 has it after its prefix, inside of the quotes.
	Spelling(element E) (kind K, spelling string)
}

// SetBuilder builds sets bottom up; see fastset.Builder. It is not safe for concurrent use.
type SetBuilder[S, E any] interface {
	// Push adds an element to the stack.
	Push(element E, member bool, below S)
	// Set removes the elements from index mark on from the stack and returns their set.
	Set(mark int) S
	// Reset drops all references to sets.
	Reset()
}

// SetArena is memory for sets; see fastset.Arena. It is not safe for concurrent use.
type SetArena[S any] interface {
	// Project implements fastset.Arena.Project.
	Project(text string, paths S) (projection S, ok bool)
	// Reset makes the memory of all sets available again.
	Reset()
}

// document and fieldSet are the registered implementations. They are set once, by package initialization, and only read
// afterwards.
var document, fieldSet any

// RegisterDocument registers the implementation of package document.
func RegisterDocument[V, F, L any](implementation Document[V, F, L]) { document = implementation }

// OpenDocument returns the implementation of package document.
func OpenDocument[V, F, L any]() Document[V, F, L] { return document.(Document[V, F, L]) }

// RegisterFieldSet registers the implementation of package fieldset.
func RegisterFieldSet[S, E, K any](implementation FieldSet[S, E, K]) { fieldSet = implementation }

// OpenFieldSet returns the implementation of package fieldset.
func OpenFieldSet[S, E, K any]() FieldSet[S, E, K] { return fieldSet.(FieldSet[S, E, K]) }
