package protobuf

import (
	"github.com/cadastre/cadastre/document"
)

// Object is an object encoded in protobuf. The metadata is its first field, preceded by its length:
//
//	0x0a LENGTH … managedFields … rest
//	            └────metadata────┘
//
// so that omitting managedFields changes only this length.
type Object struct {
	typ   Type
	bytes []byte // bytes starts with the content of the metadata
	// managedFields are bytes[managedStart:managedEnd]; the content of the metadata is bytes[:metadata]. metadata is -1 for
	// objects without metadata.
	//
	//	managedStart <= managedEnd <= metadata
	managedStart, managedEnd, metadata int
}

// metadataTag is the protobuf tag of the metadata field, which is the same for all kinds.
const metadataTag = 1<<3 | bytesType

// NewObject encodes an object whose kind has the message m.
func NewObject(m *Message, v document.Value) Object {
	typ := TypeOf(v)
	w := newWriter(v.JSONSize())
	if !m.hasMetadata() {
		w.message(m, v)
		return Object{typ: typ, bytes: w.bytes(), metadata: -1}
	}
	w.findFields(m, v)
	for i := len(m.fields) - 1; i > 0; i-- {
		w.fieldAt(&m.fields[i], v, w.fieldIndexes[i])
	}
	rest := w.written()
	metadata, fields := v.Get("metadata"), m.fields[0].message.fields
	places := w.findFields(m.fields[0].message, metadata)
	managedStart, managedEnd := rest, rest // counted from the end, because the writer writes backwards
	for i := len(fields) - 1; i >= 0; i-- {
		before := w.written()
		w.fieldAt(&fields[i], metadata, w.fieldIndexes[places+i])
		if fields[i].name == "managedFields" {
			managedStart, managedEnd = w.written(), before
		}
	}
	all := w.written()
	return Object{typ: typ, bytes: w.bytes(), managedStart: all - managedStart, managedEnd: all - managedEnd, metadata: all - rest}
}

// hasMetadata reports whether objects with this message have metadata as their first field.
func (m *Message) hasMetadata() bool {
	return len(m.fields) > 0 && m.fields[0].name == "metadata" && m.fields[0].number == 1 && m.fields[0].message != nil
}

// Type returns the apiVersion and kind of the object.
func (o Object) Type() Type { return o.typ }

// Memory returns the approximate size of the object in memory, in bytes.
func (o Object) Memory() int { return cap(o.bytes) + 64 }

// Size returns the number of bytes that Append appends for the same drop.
func (o Object) Size(drop bool) int {
	if o.metadata < 0 {
		return len(o.bytes)
	}
	length := o.metadataSize(drop)
	return 1 + varintSize(uint64(length)) + length + len(o.bytes) - o.metadata
}

// metadataSize returns the size of the content of the metadata, without managedFields if drop is set.
func (o Object) metadataSize(drop bool) int {
	if drop {
		return o.metadata - (o.managedEnd - o.managedStart)
	}
	return o.metadata
}

// Append appends the object, without its managedFields if drop is set.
func (o Object) Append(dst []byte, drop bool) []byte {
	if o.metadata < 0 {
		return append(dst, o.bytes...)
	}
	dst = o.AppendMetadata(dst, drop)
	return append(dst, o.bytes[o.metadata:]...)
}

// AppendMetadata appends the metadata of the object with its tag and length, without managedFields if drop is set.
func (o Object) AppendMetadata(dst []byte, drop bool) []byte {
	if o.metadata < 0 {
		return dst
	}
	dst = append(dst, metadataTag)
	dst = appendVarint(dst, uint64(o.metadataSize(drop)))
	if !drop {
		return append(dst, o.bytes[:o.metadata]...)
	}
	dst = append(dst, o.bytes[:o.managedStart]...)
	return append(dst, o.bytes[o.managedEnd:o.metadata]...)
}

// MetadataSize returns the number of bytes that AppendMetadata appends for the same drop.
func (o Object) MetadataSize(drop bool) int {
	if o.metadata < 0 {
		return 0
	}
	length := o.metadataSize(drop)
	return 1 + varintSize(uint64(length)) + length
}
