package builtin

import (
	"slices"
	"strings"
)

// Kind is the kind of a Go type as seen through its JSON encoding.
type Kind uint8

// The kinds of types.
const (
	Struct Kind = iota
	List
	Map // with string keys
	String
	Bool
	Int32
	Int64
	Bytes // a base64 string
	Quantity
	Time
	MicroTime
	IntOrString
	Raw    // any JSON, unchanged
	Fields // a field set (FieldsV1), unchanged
	kindCount
)

// kindNames are the names of the kinds in types.txt.gz and in messages.
var kindNames = [kindCount]string{
	"struct", "list", "map", "string", "bool", "int32", "int64", "bytes", "quantity",
	"time", "microtime", "intorstring", "raw", "fields",
}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// IsInteger reports whether the kind is an integer.
func (k Kind) IsInteger() bool { return k == Int32 || k == Int64 }

// Type describes a Go type. Invariants:
//
//	Kind == Struct            Name != "", Fields are sorted by name
//	Kind == List or Map       Elem != nil
//	otherwise                 Elem == nil and there are no Fields
type Type struct {
	// Name is the OpenAPI name of a struct: io.k8s.api.core.v1.Pod.
	Name string
	// GoName is the name of the type in Go's error messages: v1.Pod, []v1.Container, v1.PullPolicy.
	GoName string
	Kind   Kind
	// Elem is the type of list items or map values.
	Elem   *Type
	Fields []Field

	defaults
}

// Field is a field of a struct.
type Field struct {
	Name string
	Type *Type
	// Always marks fields that Go encodes even if they are empty.
	Always bool
	// Pointer marks fields of a pointer type, for which a zero value differs from an absent one. It is meaningless for
	// lists and maps.
	Pointer bool

	// goName is the name of the field in Go's error messages, with the embedded structs that contain it.
	goName string
}

// Field returns a field by its JSON name.
func (t *Type) Field(name string) (*Field, bool) {
	i, ok := slices.BinarySearchFunc(t.Fields, name, func(f Field, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return nil, false
	}
	return &t.Fields[i], true
}

// Lookup returns the type at a path of field names; elements of lists and maps are implied.
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

// Innermost returns the element type of nested lists and maps; other types are returned themselves.
func (t *Type) Innermost() *Type {
	for t.Elem != nil {
		t = t.Elem
	}
	return t
}

// Builtin returns a struct by its OpenAPI name, such as io.k8s.api.apps.v1.Deployment: a built-in kind, or a struct in
// one.
func Builtin(name string) (*Type, bool) {
	t, ok := builtin().structs[name]
	return t, ok
}
