package applyconfiggen

import "cmp"

// Suffix is the suffix of the names of generated structs.
const Suffix = "ApplyConfiguration"

// runtimePath is the import path of the package that all generated code requires.
const runtimePath = "github.com/cadastre/cadastre/applyruntime"

// Package is a package to generate.
type Package struct {
	// Path is its import path, Name its name, such as v1.
	Path, Name string
	// Doc is the subject of its package comment, such as apps/v1.
	Doc   string
	Types []*Type
}

// Type is a struct to generate.
type Type struct {
	// Package and Name identify it; Name is without the suffix.
	Package, Name string
	Doc           string
	// Atomic means that the struct is owned as a whole wherever it is.
	Atomic bool
	// Item means that the struct is an item of a list of type map.
	Item   bool
	Fields []*Field
	// Root is set for kinds.
	Root *Root
}

// Root describes a kind.
type Root struct {
	APIVersion, Kind string
	Namespaced       bool
	// HasMetadata is false for kinds such as DeleteOptions, which cannot be applied.
	HasMetadata bool
	// Embedded means that the kind has no endpoint of its own, such as Scale, so that its constructor has no name.
	Embedded bool
	// Object is the Go type of the kind; any type if it has no name.
	Object GoName
	// Subresources are those with an Extract function of their own.
	Subresources []string
}

// GoName is a name in a package; of a predeclared type if the path is "".
type GoName struct{ Path, Name string }

// Embedding is how a field is embedded in its struct.
type Embedding int

// The embeddings: none, a struct whose fields belong to the JSON object of the outer one, and metadata, an embedded
// pointer with a JSON name.
const (
	NotEmbedded Embedding = iota
	Inlined
	Metadata
)

// Field is a field of a struct to generate.
type Field struct {
	Name, JSON, Doc string
	Type            *Expr
	Embedding       Embedding
	// Merge is the content of the tag merge; see package applyruntime.
	Merge string
	// Fixed means that the field identifies the object and has no Unset function.
	Fixed bool
}

// Shape is the form of a Go type expression.
type Shape int

// The shapes: a leaf, a generated struct, a list or map of another expression.
const (
	Leaf Shape = iota
	Struct
	List
	Map
)

// Expr is the Go type of a field. Name is that of a leaf, or of a struct without suffix. Elem is the element of a list
// or map, Key the type of the keys of a map.
type Expr struct {
	Shape Shape
	Name  GoName
	Elem  *Expr
	Key   GoName
	// Nilable means that a leaf has a nil value, so that its field is no pointer.
	Nilable bool
	// Collection means that a leaf is a map with a name, such as a ResourceList.
	Collection bool
	// Target is the struct, if it is known: it is required for embedded ones.
	Target *Type
}

func leaf(path, name string) *Expr { return &Expr{Name: GoName{path, name}} }

var (
	anyExpr    = &Expr{Name: GoName{"", "any"}, Nilable: true}
	objectExpr = &Expr{Shape: Map, Key: GoName{"", "string"}, Elem: anyExpr}
)

func compareTypes(a, b *Type) int { return cmp.Compare(a.Name, b.Name) }
