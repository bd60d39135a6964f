package protobuf

import (
	"slices"

	"github.com/cadastre/cadastre/document"
)

// writer writes protobuf from the last byte to the first.
type writer struct {
	buffer       []byte // written bytes are at the end
	start        int    // the offset of the written bytes
	fieldIndexes []int  // stack of field indexes; see findFields
}

// newWriter returns a writer for an object with the given size in JSON, which is close to its size in protobuf.
func newWriter(size int) *writer {
	size += size/4 + 256
	return &writer{buffer: make([]byte, size), start: size}
}

// The wire types of protobuf.
const (
	varintType = 0
	fixedType  = 1 // 8 bytes
	bytesType  = 2
)

// room returns space for count bytes before the written bytes.
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

// written returns the number of written bytes.
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

// close writes the tag and length of a value, which consists of the bytes written since before.
func (w *writer) close(number, before int) {
	w.varint(uint64(w.written() - before))
	w.tag(number, bytesType)
}

// message writes the fields of a message. For an absent value, only the fields that are always written are written.
func (w *writer) message(m *Message, v document.Value) {
	places := w.findFields(m, v)
	for i := len(m.fields) - 1; i >= 0; i-- {
		w.fieldAt(&m.fields[i], v, w.fieldIndexes[places+i])
	}
	w.fieldIndexes = w.fieldIndexes[:places]
}

// findFields appends to fieldIndexes, for each field of a message, the index of the map's member with its name, and returns the
// start of these indexes. Most fields are absent, so that it iterates over the members instead of the fields.
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

// absent is the index of a field that the map does not have.
const absent = -1

// fieldAt writes the field whose value is at an index of the map.
func (w *writer) fieldAt(f *field, v document.Value, place int) {
	switch {
	case f.name == "":
		before := w.written()
		w.message(f.message, v)
		w.close(f.number, before)
	case place == absent:
		if f.cardinality == always {
			w.value(f, f.number, document.Value{})
		}
	default:
		_, value := v.Field(place)
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

// entries writes a map as messages with a key and a value, sorted by key like documents.
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

// value writes a value with its tag.
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
