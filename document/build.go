package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Field is a field of a map: a name and its value.
type Field struct {
	Name  string
	Value Value
}

var (
	nullDoc   = doc{kind: Null}
	trueDoc   = doc{kind: Bool, text: "true"}
	falseDoc  = doc{kind: Bool, text: "false"}
	emptyMap  = doc{kind: Map, text: "{}", form: canonical}
	emptyList = doc{kind: List, text: "[]", form: canonical}
)

// NewNull returns the JSON value null.
func NewNull() Value { return Value{d: &nullDoc} }

// NewBool returns a JSON boolean.
func NewBool(b bool) Value {
	if b {
		return Value{d: &trueDoc}
	}
	return Value{d: &falseDoc}
}

// NewString returns a JSON string. Invalid UTF-8 is replaced by U+FFFD.
func NewString(s string) Value {
	s = strings.ToValidUTF8(s, "\uFFFD")
	d := &doc{kind: String, text: s}
	if isPlain(s) {
		d.form = plain
	}
	return Value{d: d}
}

// NewInt returns a JSON number without fraction and exponent.
func NewInt(i int64) Value { return newLiteral(strconv.FormatInt(i, 10)) }

// NewNumber returns a number that keeps the spelling of literal, or an error if literal is not a JSON number.
func NewNumber(literal string) (Value, error) {
	if end := scanNumber(literal, 0); end != len(literal) || end == 0 {
		return Value{}, fmt.Errorf("expected a JSON number, received %q", literal)
	}
	return newLiteral(literal), nil
}

func newLiteral(number string) Value { return Value{d: &doc{kind: Number, text: number}} }

// NewList returns a list of the items. It panics if an item is absent.
func NewList(items ...Value) Value {
	if len(items) == 0 {
		return Value{d: &emptyList}
	}
	members := make([]Field, len(items))
	for i, item := range items {
		if item.IsAbsent() {
			panic("document: a list can't contain an absent value")
		}
		members[i].Value = item
	}
	return Value{d: &doc{kind: List, members: members}}
}

// NewMap returns a map; the fields may be in any order. A field with an absent value is left out, and of fields with
// the same name the last one is kept. Invalid UTF-8 in a name is replaced by U+FFFD.
func NewMap(fields ...Field) Value {
	members := make([]Field, 0, len(fields))
	for _, f := range fields {
		if !f.Value.IsAbsent() {
			members = append(members, Field{strings.ToValidUTF8(f.Name, "\uFFFD"), f.Value})
		}
	}
	if len(members) == 0 {
		return Value{d: &emptyMap}
	}
	return Value{d: &doc{kind: Map, members: sortMembers(members)}}
}

// sortMembers sorts fields by name; of fields with the same name it keeps the last one.
func sortMembers(fields []Field) []Field {
	if len(fields) <= maxLinearFields {
		insertionSort(fields)
	} else {
		slices.SortStableFunc(fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	}
	kept := fields[:0]
	for i := range fields {
		if i+1 == len(fields) || fields[i].Name != fields[i+1].Name {
			kept = append(kept, fields[i])
		}
	}
	return kept
}

// insertionSort sorts fields by name; it is fast for few fields that are mostly sorted.
func insertionSort(fields []Field) {
	for i := 1; i < len(fields); i++ {
		for k := i; k > 0 && fields[k].Name < fields[k-1].Name; k-- {
			fields[k], fields[k-1] = fields[k-1], fields[k]
		}
	}
}

// With returns a copy of a map in which the named field has the given value; an absent value removes the field. A value
// that is not a map is replaced by a new map. The name must be UTF-8. With panics if the receiver is unparsed.
func (v Value) With(name string, value Value) Value {
	if v.isUnparsed() {
		panic("document: an unparsed value can't be modified")
	}
	index, found := v.Find(name)
	if value.IsAbsent() && !found || found && Same(v.At(index), value) {
		return v
	}
	size := 0
	if v.Kind() == Map {
		size = v.Len()
	}
	members := make([]Field, 0, size+1)
	members = v.appendMembers(members, 0, index)
	if !value.IsAbsent() {
		members = append(members, Field{name, value})
	}
	if found {
		index++
	}
	members = v.appendMembers(members, index, size)
	if len(members) == 0 {
		return Value{d: &emptyMap}
	}
	return Value{d: &doc{kind: Map, members: members}}
}

// appendMembers appends the fields of the map v at the indexes from ≤ i < end to the slice to.
func (v Value) appendMembers(to []Field, from, end int) []Field {
	for i := from; i < end; i++ {
		to = append(to, Field{v.Name(i), v.At(i)})
	}
	return to
}

// Without returns a copy of a map without the named field; see [Value.With].
func (v Value) Without(name string) Value { return v.With(name, Value{}) }

// isPlain reports whether a string needs no escapes in canonical JSON and is ASCII.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if byteClass[s[i]] != plainByte {
			return false
		}
	}
	return true
}
