package document

import (
	"iter"
	"strconv"
	"strings"
)

// Kind is the type of a Value.
type Kind uint8

// The kinds of values. Absent is the kind of the zero Value.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	List
	Map
)

// String returns the kind's name for error messages, such as "boolean"; it is "nothing" for Absent.
func (k Kind) String() string {
	switch k {
	case Absent:
		return "nothing"
	case Null:
		return "null"
	case Bool:
		return "boolean"
	case Number:
		return "number"
	case String:
		return "string"
	case List:
		return "list"
	case Map:
		return "map"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Value is an immutable JSON value, or the absence of one. It is a small handle that should be passed by value. Values
// may share memory with each other.
type Value struct {
	d *doc
	i uint32 // the index of the value in d.nodes; unused if d.nodes is nil
}

// doc stores values. There are two variants. A parsed text becomes one doc, whose nodes hold offsets into the text:
// nodes contain no pointers, so the garbage collector does not scan them, however many fields there are. A value that
// was built with a constructor is its own doc without nodes; its fields or items are values of any doc. Invariants:
//
//	nodes != nil    kind, form and members are not used
//	nodes == nil    kind and form describe the value; text is defined as in node
type doc struct {
	text    string // the text that was parsed; without nodes, the text of the value
	extra   string // the concatenated contents of strings that had escapes
	nodes   []node
	shared  []Value // containers of the base document that nodes refer to; see base.go
	members []Field // fields of a map, or items of a list (Name is empty)
	kind    Kind
	form    form
}

// node is a value in a parsed text. Invariants:
//
//	kind == Number            its text is the literal as spelled in the input
//	kind == String            its text is the content, unescaped; plain means that
//	                          it is written without escapes
//	kind == Bool              its text is "true" or "false"
//	kind == List || Map       nodes[first:first+count] are the items or fields;
//	                          canonical means that its text is the canonical JSON of
//	                          the whole container, except for unparsed parts
//	kind == Map               the names are sorted and unique
//	unparsed                  count == 0 and canonical; names in the text may be in
//	                          any order and may be duplicates
//	fromBase                  count == 0 and canonical; shared[first] is the container
//	kind != List, != Map      count == 0
type node struct {
	name, nameSize uint32 // offset and length of a field's name
	text, size     uint32 // offset and length of the text
	first, count   uint32
	pos            uint32 // offset of the field name, or of the value if there is none, for error messages
	kind           Kind
	form           form
}

// form is a set of flags about the storage and the spelling of a value.
type form uint8

const (
	plain         form = 1 << iota // a string that is written without escapes
	canonical                      // a container whose text is its canonical JSON
	unparsed                       // a container that is stored as text only; see unparsed.go
	extraText                      // a string with its content in doc.extra
	extraName                      // a field with its name in doc.extra
	fromBase                       // a container that is shared with the base document; see base.go
	escapableName                  // a field whose name may need escapes
)

// nameOf returns the field name of a node, "" for a list item.
func (d *doc) nameOf(n *node) string {
	if n.form&extraName != 0 {
		return d.extra[n.name : n.name+n.nameSize]
	}
	return d.text[n.name : n.name+n.nameSize]
}

// textOf returns the text of a node, whose meaning depends on the kind; see node.
func (d *doc) textOf(n *node) string {
	if n.form&extraText != 0 {
		return d.extra[n.text : n.text+n.size]
	}
	return d.text[n.text : n.text+n.size]
}

// text returns the text of a value that is not absent. Its meaning depends on the kind; see node.
func (v Value) text() string {
	if v.d.nodes != nil {
		return v.d.textOf(&v.d.nodes[v.i])
	}
	return v.d.text
}

func (v Value) form() form {
	switch {
	case v.d == nil:
		return 0
	case v.d.nodes != nil:
		return v.d.nodes[v.i].form
	}
	return v.d.form
}

// Kind returns the value's kind.
func (v Value) Kind() Kind {
	switch {
	case v.d == nil:
		return Absent
	case v.d.nodes != nil:
		return v.d.nodes[v.i].kind
	}
	return v.d.kind
}

// IsAbsent reports whether the value is absent.
func (v Value) IsAbsent() bool { return v.d == nil }

// IsNull reports whether the value is null; an absent value is not.
func (v Value) IsNull() bool { return v.Kind() == Null }

// IsScalar reports whether the value is a boolean, a number or a string.
func (v Value) IsScalar() bool {
	k := v.Kind()
	return k == Bool || k == Number || k == String
}

// Len returns the number of items of a list or fields of a map, 0 for other kinds.
func (v Value) Len() int {
	switch {
	case v.d == nil:
		return 0
	case v.d.nodes != nil:
		return int(v.d.nodes[v.i].count)
	}
	return len(v.d.members)
}

// At returns the list item, or the value of the map field, at index i. Like Name and Field it panics if i is not less
// than Len.
func (v Value) At(i int) Value {
	if v.d.nodes == nil {
		return v.d.members[i].Value
	}
	child := v.child(i)
	if n := &v.d.nodes[child]; n.form&fromBase != 0 {
		return v.d.shared[n.first]
	}
	return Value{v.d, child}
}

// Name returns the name of the map field at index i.
func (v Value) Name(i int) string {
	if v.d.nodes == nil {
		return v.d.members[i].Name
	}
	return v.d.nameOf(&v.d.nodes[v.child(i)])
}

// Field returns the name and value of the map field at index i.
func (v Value) Field(i int) (name string, value Value) {
	if v.d.nodes == nil {
		m := &v.d.members[i]
		return m.Name, m.Value
	}
	child := v.child(i)
	n := &v.d.nodes[child]
	if n.form&fromBase != 0 {
		return v.d.nameOf(n), v.d.shared[n.first]
	}
	return v.d.nameOf(n), Value{v.d, child}
}

// child returns the index in v.d.nodes of the i-th item or field. It panics if i is out of range.
func (v Value) child(i int) uint32 {
	n := &v.d.nodes[v.i]
	if uint(i) >= uint(n.count) {
		panic("document: index of item or field out of range")
	}
	return n.first + uint32(i)
}

// maxLinearFields is the maximum number of fields for which Get scans a map instead of using binary search: most names
// differ in length, and comparing lengths is cheaper than comparing names.
const maxLinearFields = 12

// Get returns the value of the map field with the given name. It is absent if there is no such field or v is not a map.
func (v Value) Get(name string) Value {
	if v.Kind() != Map {
		return Value{}
	}
	if v.Len() > maxLinearFields {
		if i, ok := v.Find(name); ok {
			return v.At(i)
		}
		return Value{}
	}
	if v.d.nodes == nil {
		return v.d.member(name)
	}
	return v.childByName(name)
}

// TextOf returns the content of the string field with the given name; ok is false if there is no such field or its
// value is not a string.
func (v Value) TextOf(name string) (text string, ok bool) {
	if v.Kind() != Map || v.Len() > maxLinearFields || v.d.nodes == nil {
		field := v.Get(name)
		return field.Text(), field.Kind() == String
	}
	children, size := v.children(), uint32(len(name))
	for i := range children {
		if child := &children[i]; child.nameSize == size && v.d.nameOf(child) == name {
			if child.kind != String {
				return "", false
			}
			return v.d.textOf(child), true
		}
	}
	return "", false
}

// member returns the value of the named field of a map that was built with a constructor, absent if there is no such
// field.
func (d *doc) member(name string) Value {
	for i := range d.members {
		if m := &d.members[i]; m.Name == name {
			return m.Value
		}
	}
	return Value{}
}

// childByName returns the value of the named field of a parsed map, absent if there is no such field.
func (v Value) childByName(name string) Value {
	children, size := v.children(), uint32(len(name))
	for i := range children {
		if child := &children[i]; child.nameSize == size && v.d.nameOf(child) == name {
			return v.At(i)
		}
	}
	return Value{}
}

// Find returns the index of the map field with the given name and true. Without such a field it returns the index at
// which the field would be inserted and false; for other kinds it returns 0 and false.
func (v Value) Find(name string) (i int, ok bool) {
	if v.Kind() != Map {
		return 0, false
	}
	low, high := 0, v.Len()
	for low < high {
		middle := int(uint(low+high) >> 1)
		if v.Name(middle) < name {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < v.Len() && v.Name(low) == name
}

// Lookup returns the value at a path of field names, such as Lookup("spec", "replicas"). It is absent if one of the
// fields is missing.
func (v Value) Lookup(path ...string) Value {
	for _, name := range path {
		v = v.Get(name)
	}
	return v
}

// Fields iterates over the fields of a map, sorted by name. It yields nothing for other kinds.
func (v Value) Fields() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != Map {
			return
		}
		for i := range v.Len() {
			if !yield(v.Field(i)) {
				return
			}
		}
	}
}

// Items iterates over the items of a list. It yields nothing for other kinds.
func (v Value) Items() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != List {
			return
		}
		for i := range v.Len() {
			if !yield(i, v.At(i)) {
				return
			}
		}
	}
}

// Bool returns the value of a boolean, false for other kinds.
func (v Value) Bool() bool { return v.Kind() == Bool && v.text() == "true" }

// Text returns the content of a string or the literal of a number, "" for other kinds.
func (v Value) Text() string {
	if k := v.Kind(); k != String && k != Number {
		return ""
	}
	return v.text()
}

// Int64 returns a number as an integer; ok is false for other kinds, for literals with a fraction or an exponent, and
// for integers that overflow.
func (v Value) Int64() (i int64, ok bool) {
	if v.Kind() != Number || !isInteger(v.text()) {
		return 0, false
	}
	i, err := strconv.ParseInt(v.text(), 10, 64)
	return i, err == nil
}

// Float64 returns a number as a float, rounded if necessary; ok is false for other kinds and for literals beyond the
// range of float64.
func (v Value) Float64() (f float64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text(), 64)
	return f, err == nil
}

// Same reports whether two values are the same part of the same document. It is a cheap test: values for which Same is
// true are equal, but equal values need not be the same.
func Same(a, b Value) bool { return a == b }

// String returns the value as canonical JSON, or "<absent>".
func (v Value) String() string {
	if v.d == nil {
		return "<absent>"
	}
	return v.JSON()
}

// isInteger reports whether a number literal has neither fraction nor exponent.
func isInteger(literal string) bool { return !strings.ContainsAny(literal, ".eE") }
