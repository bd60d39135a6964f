// Package access gives the internal packages fastdoc and fastset access to unexported parts of the public packages
// document and fieldset.
//
// A public package registers its implementation of an interface of this package when it is initialized; the internal
// package, which imports the public one, retrieves it. The type parameters of the interfaces are types of the public
// package, which this package can't import. docs/decisions/0001-internal-access.md explains the reasons.
package access

// AnyItem is the path element that matches every item of a list, in a path of values that stay unparsed.
const AnyItem = "*"

// Document is implemented by package document for package fastdoc. V is document.Value, F is document.Field and L is
// document.Limits.
type Document[V, F, L any] interface {
	// ParseJSON parses one document into memory of its own; see Parser.ParseJSON.
	ParseJSON(text string, limits L, base V, unparsed []string) (V, error)
	// NewParser returns a parser that reuses its memory.
	NewParser() Parser[V, L]
	// NewContainers returns an allocator of lists and maps that were not parsed from a text.
	NewContainers() Containers[V, F]
	// Members returns the fields or items of a list or map that was not parsed from a text, and nil for all other
	// values. The caller must not modify them.
	Members(container V) []F
	// HasPlainNames implements fastdoc.HasPlainNames.
	HasPlainNames(v V) bool
	// ScalarDifferences implements fastdoc.ScalarDifferences.
	ScalarDifferences(a, b V) (differ uint64, ok bool)
}

// Parser parses JSON into memory that it reuses. It is not safe for concurrent use.
type Parser[V, L any] interface {
	// ParseJSON parses one document, which is valid until Reset. Lists and maps that have the same path and the same
	// text in base are shared with base. Lists and maps at the path unparsed are stored as text only.
	ParseJSON(text string, limits L, base V, unparsed []string) (V, error)
	// Reset makes the memory of all parsed documents available for further documents. The parsed documents must not be
	// used afterwards.
	Reset()
}

// Containers allocates lists and maps in chunks. It is not safe for concurrent use.
type Containers[V, F any] interface {
	// Map returns a map of the fields, which must be sorted and not empty. The map retains fields; the caller must not
	// modify the slice afterwards.
	Map(fields []F) V
	// List returns a list of the items, which must not be empty and whose names are ignored. The list retains items; the
	// caller must not modify the slice afterwards.
	List(items []F) V
	// Reset drops the allocator's references to the lists and maps that it returned. These lists and maps stay valid.
	Reset()
	// Recycle makes the memory of the returned lists and maps available for further lists and maps. The returned lists
	// and maps must not be used afterwards.
	Recycle()
}

// FieldSet is implemented by package fieldset for package fastset. S is fieldset.Set, E is fieldset.Element and K is
// fieldset.ElementKind.
type FieldSet[S, E, K any] interface {
	// NewBuilder returns an empty builder of sets.
	NewBuilder() SetBuilder[S, E]
	// NewArena returns an allocator for the sets that a query returns.
	NewArena() SetArena[S]
	// Intersection implements fastset.Intersection.
	Intersection(text string, paths S) (intersection S, ok bool)
	// Difference implements fastset.Difference.
	Difference(text, other string) (difference S, ok bool)
	// Element returns the element with the given kind and spelling. The spelling must be valid; this is not checked.
	Element(kind K, spelling string) E
	// Spelling returns the kind of an element and its spelling: the name of a field, or the key, value or index as it
	// is in FieldsV1 after the prefix and inside of the quotes.
	Spelling(element E) (kind K, spelling string)
}

// SetBuilder builds sets bottom up; see fastset.Builder. It is not safe for concurrent use.
type SetBuilder[S, E any] interface {
	// Push adds element to the stack. member reports whether the path of element is in the set, and below contains the
	// paths below element.
	Push(element E, member bool, below S)
	// Set pops the elements of the stack from index mark on, and returns the set that these elements form.
	Set(mark int) S
	// Reset drops the builder's references to the sets that it returned. These sets stay valid.
	Reset()
}

// SetArena allocates short-lived sets; see fastset.Arena. It is not safe for concurrent use.
type SetArena[S any] interface {
	// Project implements fastset.Arena.Project.
	Project(text string, paths S) (projection S, ok bool)
	// Reset makes the memory of the returned sets available for further sets. The returned sets must not be used
	// afterwards.
	Reset()
}

// document and fieldSet are the registered implementations. They are set once, during package initialization, and only
// read afterwards.
var document, fieldSet any

// RegisterDocument registers the implementation of package document.
func RegisterDocument[V, F, L any](implementation Document[V, F, L]) { document = implementation }

// OpenDocument returns the implementation that package document registered.
func OpenDocument[V, F, L any]() Document[V, F, L] { return document.(Document[V, F, L]) }

// RegisterFieldSet registers the implementation of package fieldset.
func RegisterFieldSet[S, E, K any](implementation FieldSet[S, E, K]) { fieldSet = implementation }

// OpenFieldSet returns the implementation that package fieldset registered.
func OpenFieldSet[S, E, K any]() FieldSet[S, E, K] { return fieldSet.(FieldSet[S, E, K]) }
