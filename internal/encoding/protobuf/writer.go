package protobuf

import (
	"slices"

	"github.com/cadastre/cadastre/document"
)

// writer writes protobuf from the last byte to the first, because the length of a message precedes its content.
type writer struct {
	buffer       []byte // the written bytes are at its end
	start        int    // the offset of the written bytes in buffer
	fieldIndexes []int  // a stack of member indexes; see findFields
}

// newWriter returns a writer for an object. size is its size in JSON, in bytes, which is close to its size in protobuf.
func newWriter(size int) *writer {
	size += size/4 + 256
	return &writer{buffer: make([]byte, size), start: size}
}

// The wire types of protobuf that Kubernetes uses.
const (
	varintType = 0
	fixedType  = 1 // a value of 8 bytes
	bytesType  = 2
)

// room adds count bytes before the written bytes. It returns the added bytes, which the caller must fill in.
func (w *writer) room(count int) []byte {
	if w.start < count {
		w.grow(count)
	}
	w.start -= count
	return w.buffer[w.start : w.start+count]
}

func (w *writer) grow(count int) {
	written := w.buffer[w.start:]
	larger := make([]byte, max(2*len(w.buffer), len(written)+count, 1024))
	w.start = len(larger) - len(written)
	copy(larger[w.start:], written)
	w.buffer = larger
}

// written returns the number of bytes written so far.
func (w *writer) written() int { return len(w.buffer) - w.start }

func (w *writer) text(s string) { copy(w.room(len(s)), s) }

func (w *writer) varint(v uint64) {
	b := w.room(varintSize(v))
	for i := range b {
		b[i] = byte(v) | 0x80
		v >>= 7
	}
	b[len(b)-1] &= 0x7f
}

func (w *writer) tag(number, wireType int) { w.varint(uint64(number)<<3 | uint64(wireType)) }

// close writes the length and the tag of a length-delimited field. The field's value is all that has been written since
// written() returned start.
func (w *writer) close(number, start int) {
	w.varint(uint64(w.written() - start))
	w.tag(number, bytesType)
}

// message writes the fields of a message. For an absent value it writes only the fields with cardinality always.
func (w *writer) message(m *Message, v document.Value) {
	places := w.findFields(m, v)
	for i := len(m.fields) - 1; i >= 0; i-- {
		w.fieldAt(&m.fields[i], v, w.fieldIndexes[places+i])
	}
	w.fieldIndexes = w.fieldIndexes[:places]
}

// findFields appends to fieldIndexes, for each field of a message, the index of the member of the map v with the field's name,
// or absent. It returns the index in fieldIndexes at which these indexes start. It iterates over the members of v instead of
// the fields, because most fields are absent.
func (w *writer) findFields(m *Message, v document.Value) int {
	start := len(w.fieldIndexes)
	for range m.fields {
		w.fieldIndexes = append(w.fieldIndexes, absent)
	}
	if v.Kind() != document.Map {
		return start
	}
	for i := range v.Len() {
		if place, ok := m.fieldIndexes[v.Name(i)]; ok {
			w.fieldIndexes[start+place] = i
		}
	}
	return start
}

// absent is the index in fieldIndexes of a field for which the map has no member.
const absent = -1

// fieldAt writes the field f, whose value is the member of v at the given index. If index is absent, it writes the field only
// if its cardinality is always.
func (w *writer) fieldAt(f *field, v document.Value, index int) {
	switch {
	case f.name == "":
		before := w.written()
		w.message(f.message, v)
		w.close(f.number, before)
	case index == absent:
		if f.cardinality == always {
			w.value(f, f.number, document.Value{})
		}
	default:
		_, value := v.Field(index)
		w.field(f, value)
	}
}

func (w *writer) field(f *field, v document.Value) {
	switch f.cardinality {
	case always:
		w.value(f, f.number, v)
	case optional:
		if !v.IsAbsent() && !v.IsNull() {
			w.value(f, f.number, v)
		}
	case repeated:
		for i := v.Len() - 1; i >= 0; i-- {
			w.value(f, f.number, v.At(i))
		}
	case mapped:
		w.entries(f, v)
	}
}

// entries writes a map as a sequence of messages with a key and a value. They are sorted by key, because documents are.
func (w *writer) entries(f *field, v document.Value) {
	if v.Kind() != document.Map {
		return
	}
	for i := v.Len() - 1; i >= 0; i-- {
		name, value := v.Field(i)
		before := w.written()
		if f.value != bytes || !value.IsNull() {
			w.value(f, 2, value)
		}
		w.textField(1, name)
		w.close(f.number, before)
	}
}

// value writes a single value of a field, with its tag.
func (w *writer) value(f *field, number int, v document.Value) {
	switch f.value {
	case boolean:
		flag := uint64(0)
		if v.Bool() {
			flag = 1
		}
		w.varint(flag)
		w.tag(number, varintType)
		return
	case integer:
		w.varint(uint64(integerOf(v)))
		w.tag(number, varintType)
		return
	case double:
		w.fixed(v)
		w.tag(number, fixedType)
		return
	}
	before := w.written()
	switch f.value {
	case text:
		w.text(v.Text())
	case message:
		w.message(f.message, v)
	default:
		w.special(f, v)
	}
	w.close(number, before)
}

// bytes returns a copy of the written bytes.
func (w *writer) bytes() []byte { return slices.Clone(w.buffer[w.start:]) }
