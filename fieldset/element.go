package fieldset

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fieldsv1"
)

// ElementKind is the kind of an Element.
type ElementKind uint8

// The kinds of elements, in their sort order.
const (
	// FieldName selects a field of a map by its name.
	FieldName ElementKind = iota + 1
	// Key selects an item of a list of type map by the values of its key fields.
	Key
	// SetValue selects an item of a list of type set by its value.
	SetValue
	// Index selects an item of a list by its index.
	Index
)

// Element is one element of a path. Elements are comparable with ==. The zero Element selects nothing.
type Element struct {
	kind ElementKind
	// text is the name of a FieldName element. For other kinds it is the key, value or index as FieldsV1 spells it after
	// the prefix and inside of the quotes, such as {\"name\":\"app\"}, so elements are read and written without decoding.
	// The spelling is always the one that Kubernetes writes.
	text string
}

// KeyField is the name and value of one key of a list item, for lists of type map.
type KeyField struct {
	Name  string
	Value document.Value
}

// NameElement returns the element that selects a field by name.
func NameElement(name string) Element { return Element{FieldName, name} }

// IndexElement returns the element that selects a list item by index.
func IndexElement(i int) Element { return Element{Index, strconv.Itoa(i)} }

// ValueElement returns the element that selects an item of a list of type set by value. It returns the zero Element for
// an absent value.
func ValueElement(v document.Value) Element {
	if v.IsAbsent() {
		return Element{}
	}
	return Element{SetValue, string(fieldsv1.AppendValue(nil, v))}
}

// KeyElement returns the element that selects an item of a list of type map by its keys, which may be in any order. A
// key with an absent value is left out, and of keys with the same name the last one is used.
func KeyElement(fields ...KeyField) Element {
	all := make([]document.Field, len(fields))
	for i, f := range fields {
		all[i] = document.Field(f)
	}
	return keyElement(document.NewMap(all...))
}

func keyElement(keys document.Value) Element {
	text := []byte{'{'}
	for i := range keys.Len() {
		if i > 0 {
			text = append(text, ',')
		}
		text = fieldsv1.AppendKeyField(text, keys.Name(i), keys.At(i))
	}
	return Element{Key, string(append(text, '}'))}
}

// Kind returns the kind of the element.
func (e Element) Kind() ElementKind { return e.kind }

// Name returns the name of a FieldName element, "" for other kinds.
func (e Element) Name() string {
	if e.kind != FieldName {
		return ""
	}
	return e.text
}

// Index returns the list index of an Index element, -1 for other kinds.
func (e Element) Index() int {
	i, err := strconv.Atoi(e.text)
	if e.kind != Index || err != nil {
		return -1
	}
	return i
}

// Value returns the value of a SetValue element, an absent value for other kinds.
func (e Element) Value() document.Value {
	if e.kind != SetValue {
		return document.Value{}
	}
	return decodeValue(e.text)
}

// KeyFields returns the keys of a Key element, nil for other kinds.
func (e Element) KeyFields() []KeyField {
	if e.kind != Key {
		return nil
	}
	var fields []KeyField
	for name, value := range decodeValue(e.text).Fields() {
		fields = append(fields, KeyField{name, value})
	}
	return fields
}

// decodeValue decodes the spelling of a key or value. It panics if the spelling is invalid, which can't happen for an
// Element that this package created.
func decodeValue(text string) document.Value {
	quoted, err := document.ParseJSON([]byte(`"` + text + `"`))
	if err == nil {
		var v document.Value
		if v, err = document.ParseJSON([]byte(quoted.Text())); err == nil {
			return v
		}
	}
	panic(fmt.Sprintf("fieldset: element with an invalid spelling: %s: %v", text, err))
}

// Compare compares two elements in the order of Kubernetes: first by kind (field names, keys, values, indexes), then
// strings by bytes and numbers by value. It returns 0 exactly if the elements are equal.
func (e Element) Compare(other Element) int {
	if e.kind != other.kind {
		return cmp.Compare(e.kind, other.kind)
	}
	if e.text == other.text {
		return 0
	}
	switch e.kind {
	case FieldName:
		return strings.Compare(e.text, other.text)
	case Index:
		return cmp.Compare(e.Index(), other.Index())
	case Key:
		return compareKeys(e.text, other.text)
	}
	return compareValues(e.text, other.text)
}

// String returns the element in the notation of Kubernetes: .name, [key="value"], [="value"] or [0].
func (e Element) String() string { return string(e.appendString(nil)) }

// appendString appends the element in the notation of String.
func (e Element) appendString(dst []byte) []byte {
	switch e.kind {
	case FieldName:
		return append(append(dst, '.'), e.text...)
	case Key:
		return append(e.appendKeyString(append(dst, '[')), ']')
	case SetValue:
		dst = append(dst, "[="...)
		dst = append(dst, valueString(e.Value())...)
		return append(dst, ']')
	case Index:
		return append(append(append(dst, '['), e.text...), ']')
	}
	return append(dst, "{{invalid path element}}"...)
}

// appendKeyString appends the keys of a Key element in the notation of String.
func (e Element) appendKeyString(dst []byte) []byte {
	if simple, ok := e.appendSimpleKey(dst, func(string) bool { return true }); ok {
		return simple
	}
	for i, f := range e.KeyFields() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, f.Name...), '=')
		dst = append(dst, valueString(f.Value)...)
	}
	return dst
}

// appendSimpleKey appends the keys of a Key element, in the notation of String, without decoding them. ok is false if a
// key must be decoded, or if accepts(name) is false for the name of a key.
func (e Element) appendSimpleKey(dst []byte, accepts func(name string) bool) (shown []byte, ok bool) {
	start := len(dst)
	for rest := e.text; ; {
		f, ok := cutKeyField(&rest)
		switch {
		case ok && f == keyFieldText{}:
			return dst, true
		case !ok, !accepts(f.name), !isSimpleString(f.value) && !isSimpleInteger(f.value):
			return nil, false
		}
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(append(dst, f.name...), '=')
		if isSimpleInteger(f.value) {
			dst = append(dst, f.value...)
		} else {
			dst = strconv.AppendQuote(dst, f.value[2:len(f.value)-2])
		}
	}
}

// valueString returns a value in the notation of Path.String.
func valueString(v document.Value) string {
	switch v.Kind() {
	case document.String:
		return strconv.Quote(v.Text())
	case document.List:
		items := make([]string, v.Len())
		for i := range items {
			items[i] = valueString(v.At(i))
		}
		return "[" + strings.Join(items, ",") + "]"
	case document.Map:
		var b strings.Builder
		for name, field := range v.Fields() {
			b.WriteString(name + "=" + valueString(field))
		}
		return b.String()
	}
	return v.JSON()
}
