package applyconfiggen

import "cmp"

// Suffix is the suffix of the names of generated structs.
const Suffix = "ApplyConfiguration"

// runtimePath is the import path of the package that all generated code imports.
const runtimePath = "github.com/cadastre/cadastre/applyruntime"

// Package is a package to generate.
type Package struct {
	// Path is the import path of the package, Name its name, such as v1.
	Path, Name string
	// Doc is the API package in the package comment, such as apps/v1.
	Doc   string
	Types []*Type
}

// Type is a struct to generate.
type Type struct {
	// Package is the import path of the struct's package, Name the name of the struct without Suffix.
	Package, Name string
	Doc           string
	// Atomic means that the struct is atomic, independent of the markers of the fields that contain it.
	Atomic bool
	// Item means that lists of type map contain the struct as an item.
	Item   bool
	Fields []*Field
	// Root describes the kind; nil if the struct is not a kind.
	Root *Root
}

// Root contains the properties of a kind.
type Root struct {
	APIVersion, Kind string
	Namespaced       bool
	// HasMetadata is false for kinds such as DeleteOptions, which cannot be applied.
	HasMetadata bool
	// Embedded means that the kind has no endpoint of its own, such as Scale; its constructor has no parameter name.
	Embedded bool
	// Object is the Go type of the objects that Extract functions accept; any for kinds without a Go type.
	Object GoName
	// Subresources are the subresources for which Extract functions are generated.
	Subresources []string
}

// GoName is the name of a type in the package with the import path Path; Path is "" for predeclared types.
type GoName struct{ Path, Name string }

// Embedding states whether and how a field is embedded in its struct.
type Embedding int

// The embeddings. The fields of an Inlined struct belong to the JSON object of the outer struct; Metadata is an
// embedded pointer with a JSON name of its own.
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
	// Merge is the value of the struct tag merge; see package applyruntime.
	Merge string
	// Fixed means that the field has no Unset function, because it identifies the object.
	Fixed bool
}

// Shape is the kind of a Go type expression.
type Shape int

// The shapes: a type that is not generated, a generated struct, and a list or map of another expression.
const (
	Leaf Shape = iota
	Struct
	List
	Map
)

// Expr is the Go type of a field. Name is the name of a leaf, or of a struct without Suffix. Elem is the type of the
// items of a list or the values of a map, and Key is the type of the keys of a map.
type Expr struct {
	Shape Shape
	Name  GoName
	Elem  *Expr
	Key   GoName
	// Nilable means that the type of a leaf has the value nil, so its field is not a pointer.
	Nilable bool
	// Collection means that a leaf is a named map type, such as ResourceList.
	Collection bool
	// Target is the generated struct; it may be nil unless the field is embedded.
	Target *Type
}

func leaf(path, name string) *Expr { return &Expr{Name: GoName{path, name}} }

var (
	anyExpr    = &Expr{Name: GoName{"", "any"}, Nilable: true}
	objectExpr = &Expr{Shape: Map, Key: GoName{"", "string"}, Elem: anyExpr}
)

func compareTypes(a, b *Type) int { return cmp.Compare(a.Name, b.Name) }
