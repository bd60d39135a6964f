package builtin

import (
	"slices"
	"strings"
)

// Kind is what a value of a type is in Go, as far as JSON shows it.
type Kind uint8

// The kinds of values.
const (
	Struct Kind = iota
	List
	Map // by strings
	String
	Bool
	Int32
	Int64
	Bytes // a string in base 64
	Quantity
	Time
	MicroTime
	IntOrString
	Raw    // anything, kept as it is
	Fields // a set of fields in its wire form, kept as it is
	kindCount
)

// kindNames are the words for the kinds in types.txt.gz and in messages.
var kindNames = [kindCount]string{
	"struct", "list", "map", "string", "bool", "int32", "int64", "bytes", "quantity",
	"time", "microtime", "intorstring", "raw", "fields",
}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// IsInteger reports whether the kind is an integer.
func (k Kind) IsInteger() bool { return k == Int32 || k == Int64 }

// Type is what is known about the values of one Go type. Invariants:
//
//	Kind == Struct            Name != "", Fields are sorted by name
//	Kind == List or Map       Elem != nil
//	otherwise                 Elem == nil and there are no Fields
type Type struct {
	// Name is what schemas call a struct: io.k8s.api.core.v1.Pod.
	Name string
	// GoName is what Go's errors call it: v1.Pod, []v1.Container, v1.PullPolicy.
	GoName string
	Kind   Kind
	// Elem is the type of a list's items or a map's values.
	Elem   *Type
	Fields []Field

	defaults
}

// Field is a named part of a struct.
type Field struct {
	Name string
	Type *Type
	// Always says that Go writes the field even if it has nothing in it.
	Always bool
	// Pointer says that Go tells a zero from nothing: 0 is a value of its own, not an absent
	// one. It is meaningless for lists and maps.
	Pointer bool

	// goName is what Go's errors call it: with the embedded structs that it comes from.
	goName string
}

// Field returns the field of that name.
func (t *Type) Field(name string) (*Field, bool) {
	i, ok := slices.BinarySearchFunc(t.Fields, name, func(f Field, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return nil, false
	}
	return &t.Fields[i], true
}

// Lookup follows a path of field names; lists and maps on the way stand for what is in them.
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

// Innermost returns what is in a list or map, or in the lists and maps in it; any other type is
// its own.
func (t *Type) Innermost() *Type {
	for t.Elem != nil {
		t = t.Elem
	}
	return t
}

// Builtin returns the type of that name, such as io.k8s.api.apps.v1.Deployment: a built-in kind,
// or a struct in one.
func Builtin(name string) (*Type, bool) {
	t, ok := builtin().structs[name]
	return t, ok
}
