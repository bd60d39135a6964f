package schema

import (
	"strconv"
	"sync/atomic"

	"github.com/cadastre/cadastre/document"
)

// Type is the compiled topology of one field or item. It has up to three alternatives, because a field may accept
// values of several shapes: a string has one alternative, an untyped field is a scalar, a list or a map, depending on
// its value. A Type without any alternative accepts nothing; loaders never return one.
//
// Types are immutable once a loader has returned them, are compared by pointer, and may refer to themselves.
type Type struct {
	// Name is the name of the type in the schema, for error messages; it may be empty.
	Name string

	Scalar Scalar
	List   *List
	Map    *Map
}

// Scalar is the set of scalars that a Type accepts. Null is always accepted.
type Scalar uint8

// The scalar alternatives of a Type.
const (
	NoScalar Scalar = iota
	Numeric
	String
	Boolean
	AnyScalar
)

// String returns the accepted scalars in one word, such as numeric.
func (s Scalar) String() string {
	return constantName("Scalar", uint8(s), "none", "numeric", "string", "boolean", "any")
}

// constantName returns the name of a constant, or its type and number if it has none.
func constantName(typ string, constant uint8, names ...string) string {
	if int(constant) < len(names) {
		return names[constant]
	}
	return typ + "(" + strconv.Itoa(int(constant)) + ")"
}

// Relationship is the list type: whether items are owned individually, and how they are identified.
type Relationship uint8

// The relationships between the items of a list.
const (
	// Atomic lists are replaced and owned as a whole.
	Atomic Relationship = iota
	// Set lists hold unique scalars, each owned individually (list type set).
	Set
	// Keyed lists hold maps that are identified by their key fields; each item, and each field in it, is owned
	// individually (list type map).
	Keyed
)

// String returns the relationship in one word, such as keyed.
func (r Relationship) String() string {
	return constantName("Relationship", uint8(r), "atomic", "set", "keyed")
}

// List is the list alternative of a Type.
type List struct {
	Relationship Relationship
	// Keys are the fields that identify an item of a Keyed list, in the order of the schema. It is empty for other
	// lists.
	Keys []Key
	// Item is the topology of every item.
	Item *Type
}

// Key is a key field of a keyed list.
type Key struct {
	Name string
	// Default is the value of a missing key field; it is absent if there is none.
	Default document.Value
}

// Map is the map alternative of a Type: a struct if it has fields, a map with arbitrary names if it has an element
// type, or both.
type Map struct {
	// Atomic maps and structs are replaced as a whole.
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
	// Default is the declared default of the field; it is absent if there is none.
	Default document.Value
}

// Find returns the declared field with the given name, and false if there is none.
func (m *Map) Find(name string) (*Field, bool) {
	if i := m.find(name); i >= 0 {
		return &m.Fields[i], true
	}
	return nil, false
}

// TypeOf returns the topology of a field and whether the field is declared. The topology is nil if the field is
// rejected.
func (m *Map) TypeOf(name string) (t *Type, declared bool) {
	if i := m.find(name); i >= 0 {
		return m.Fields[i].Type, true
	}
	return m.Element, false
}

// Resolve returns the alternative for a value of the given kind. For null, and for a kind that the Type does not
// accept, it is the first alternative that the Type has.
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
	return t.first()
}

// Alternative is one of the three shapes of a Type.
type Alternative uint8

// The alternatives, in the order of precedence for null.
const (
	NoAlternative Alternative = iota
	MapAlternative
	ScalarAlternative
	ListAlternative
)

func (t *Type) first() Alternative {
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
