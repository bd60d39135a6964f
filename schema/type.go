package schema

import (
	"strconv"
	"sync/atomic"

	"github.com/cadastre/cadastre/document"
)

// Type is the compiled topology of one field or item. It has an alternative for each shape of value that the field
// accepts: a string field has one alternative, an untyped field has three (scalar, list and map), and the value decides
// which one applies. A Type without alternatives accepts nothing; loaders never return one.
//
// Types are immutable once a loader has returned them, are compared by pointer, and may refer to themselves.
type Type struct {
	// Name is the name of the type in the schema, for error messages; it may be empty.
	Name string

	// Scalar, List and Map are the alternatives; one that the type does not accept is NoScalar or nil.
	Scalar Scalar
	List   *List
	Map    *Map
}

// Scalar is the set of scalar types that a Type accepts. Null is always accepted.
type Scalar uint8

// The values of Type.Scalar. NoScalar means that the type accepts only lists or maps, AnyScalar that it accepts every
// scalar.
const (
	NoScalar Scalar = iota
	Numeric
	String
	Boolean
	AnyScalar
)

// String returns the accepted scalars as one word, such as numeric.
func (s Scalar) String() string {
	return constantName("Scalar", uint8(s), "none", "numeric", "string", "boolean", "any")
}

// constantName returns names[constant], or typ and the number, such as Scalar(9), if the constant has no name.
func constantName(typ string, constant uint8, names ...string) string {
	if int(constant) < len(names) {
		return names[constant]
	}
	return typ + "(" + strconv.Itoa(int(constant)) + ")"
}

// Relationship is the list type. It determines whether items are owned individually, and how they are identified.
type Relationship uint8

// The relationships between the items of a list.
const (
	// Atomic means that the list is replaced and owned as a whole.
	Atomic Relationship = iota
	// Set means that the items are unique scalars, each owned individually (list type set).
	Set
	// Keyed means that the items are maps, which their key fields identify; each item, and each field of an item, is owned
	// individually (list type map).
	Keyed
)

// String returns the relationship as one word, such as keyed.
func (r Relationship) String() string {
	return constantName("Relationship", uint8(r), "atomic", "set", "keyed")
}

// List is the list alternative of a Type.
type List struct {
	Relationship Relationship
	// Keys are the fields that identify an item of a Keyed list, in the order of the schema. It is empty for other
	// lists.
	Keys []Key
	// Item is the topology of each item.
	Item *Type
}

// Key is one of the fields that identify the items of a keyed list (x-kubernetes-list-map-keys).
type Key struct {
	Name string
	// Default is the value of a key field that an item does not contain; it is absent if the field has no default.
	Default document.Value
}

// Map is the map alternative of a Type: a struct if it has declared fields, a map with arbitrary names if it has an
// element type, or both.
type Map struct {
	// Atomic means that the map or struct is replaced and owned as a whole (x-kubernetes-map-type: atomic).
	Atomic bool
	// Fields are the declared fields, sorted by name.
	Fields []Field
	// Element is the topology of the fields that are not declared; nil if undeclared fields are rejected.
	Element *Type

	lookup atomic.Pointer[lookup]
}

// Field is a declared field of a struct.
type Field struct {
	Name string
	Type *Type
	// Default is the declared default of the field; it is absent if the field has no default.
	Default document.Value
}

// Find returns the declared field with the given name, and false if the field is not declared.
func (m *Map) Find(name string) (*Field, bool) {
	if i := m.find(name); i >= 0 {
		return &m.Fields[i], true
	}
	return nil, false
}

// TypeOf returns the topology of a field and whether the field is declared. The topology is nil if the map rejects the
// field.
func (m *Map) TypeOf(name string) (t *Type, declared bool) {
	if i := m.find(name); i >= 0 {
		return m.Fields[i].Type, true
	}
	return m.Element, false
}

// Resolve returns the alternative that applies to a value of the given kind. For null, and for a kind that the Type
// does not accept, it returns the first alternative of the Type, in the order map, scalar, list.
func (t *Type) Resolve(kind document.Kind) Alternative {
	switch kind {
	case document.Bool, document.Number, document.String:
		if t.Scalar != NoScalar {
			return ScalarAlternative
		}
	case document.List:
		if t.List != nil {
			return ListAlternative
		}
	case document.Map:
		if t.Map != nil {
			return MapAlternative
		}
	}
	return t.firstAlternative()
}

// Alternative identifies one of the three shapes of values that a Type may accept.
type Alternative uint8

// The alternatives of a Type, in the order in which Resolve tries them for null.
const (
	NoAlternative Alternative = iota
	MapAlternative
	ScalarAlternative
	ListAlternative
)

// firstAlternative returns the first alternative of the Type, NoAlternative if the Type has no alternatives.
func (t *Type) firstAlternative() Alternative {
	switch {
	case t.Map != nil:
		return MapAlternative
	case t.Scalar != NoScalar:
		return ScalarAlternative
	case t.List != nil:
		return ListAlternative
	}
	return NoAlternative
}
