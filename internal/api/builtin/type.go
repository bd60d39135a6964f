package builtin

import (
	"slices"
	"strings"
)

// Kind is the kind of a Go type with regard to its JSON encoding. It is not a Kubernetes kind.
type Kind uint8

// The kinds of types.
const (
	Struct Kind = iota
	List
	Map // a Go map with string keys
	String
	Bool
	Int32
	Int64
	Bytes // []byte, encoded as base64
	Quantity
	Time
	MicroTime
	IntOrString
	Raw    // arbitrary JSON, which is not changed
	Fields // FieldsV1, which is not changed
	kindCount
)

// kindNames are the names of the Kinds in types.txt.gz and in error messages.
var kindNames = [kindCount]string{
	"struct", "list", "map", "string", "bool", "int32", "int64", "bytes", "quantity",
	"time", "microtime", "intorstring", "raw", "fields",
}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// IsInteger reports whether the kind is Int32 or Int64.
func (k Kind) IsInteger() bool { return k == Int32 || k == Int64 }

// Type describes a Go type that objects of built-in kinds contain. Invariants:
//
//	Kind == Struct            Name != "", Fields are sorted by name
//	Kind == List or Map       Elem != nil
//	otherwise                 Elem == nil and there are no Fields
type Type struct {
	// Name is the OpenAPI name of a struct, such as io.k8s.api.core.v1.Pod; "" for other types.
	Name string
	// GoName is the name of the type in error messages of encoding/json, such as v1.Pod or []v1.Container.
	GoName string
	Kind   Kind
	// Elem is the type of list items or map values.
	Elem   *Type
	Fields []Field

	defaults
}

// Field describes a field of a Go struct.
type Field struct {
	Name string
	Type *Type
	// Always reports whether Go encodes the field even if it has the zero value.
	Always bool
	// Pointer reports whether the field is a Go pointer. The zero value of a pointer field differs from an absent value. Pointer
	// has no meaning for lists and maps.
	Pointer bool

	// goName is the name of the field in error messages of encoding/json: the names of the embedded structs that contain it, if
	// any, and the Go name of the field.
	goName string
	// position is the index of the field in the Go struct, including the fields of embedded structs.
	position int
}

// Field returns the field with the JSON name name; false if the type has no such field.
func (t *Type) Field(name string) (*Field, bool) {
	i, ok := slices.BinarySearchFunc(t.Fields, name, func(f Field, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return nil, false
	}
	return &t.Fields[i], true
}

// Lookup returns the type of the field at path, which consists of field names; false if there is none. At a list or map, the
// path continues in the element type.
func (t *Type) Lookup(path ...string) (*Type, bool) {
	for _, name := range path {
		t = t.Innermost()
		f, ok := t.Field(name)
		if !ok {
			return nil, false
		}
		t = f.Type
	}
	return t, true
}

// Innermost follows the element types of lists and maps, and returns the first type that is neither a list nor a map. This can
// be t itself.
func (t *Type) Innermost() *Type {
	for t.Elem != nil {
		t = t.Elem
	}
	return t
}

// Builtin returns the type of a struct by its OpenAPI name, such as io.k8s.api.apps.v1.Deployment; false if it is neither a
// built-in kind nor a struct inside one.
func Builtin(name string) (*Type, bool) {
	t, ok := builtin().structs[name]
	return t, ok
}
