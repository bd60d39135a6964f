package packed

import (
	"github.com/cadastre/cadastre/document"
)

// Object is an object in protobuf. Its metadata comes first, and says how long it is:
//
//	0x0a LENGTH … ManagedFields … rest
//	            └────metadata────┘
//
// so that managedFields can be left out by telling another length.
type Object struct {
	is    Type
	bytes []byte // from the contents of the metadata on
	// managed is where the managedFields are, and metadata where the contents of the metadata end. An object
	// without metadata has -1.
	//
	//	managedStart <= managedEnd <= metadata
	managedStart, managedEnd, metadata int
}

// metadataTag is that of the metadata in all kinds.
const metadataTag = 1<<3 | bytesType

// NewObject returns an object in protobuf.
func NewObject(m *Message, v document.Value) Object {
	is := typeOf(v)
	w := newWriter(v.JSONSize())
	if !m.hasMetadata() {
		w.message(m, v)
		return Object{is: is, bytes: w.bytes(), metadata: -1}
	}
	w.find(m, v)
	for i := len(m.fields) - 1; i > 0; i-- {
		w.fieldAt(&m.fields[i], v, w.places[i])
	}
	rest := w.written()
	metadata, fields := v.Get("metadata"), m.fields[0].message.fields
	places := w.find(m.fields[0].message, metadata)
	managedStart, managedEnd := rest, rest // as distances from the end
	for i := len(fields) - 1; i >= 0; i-- {
		before := w.written()
		w.fieldAt(&fields[i], metadata, w.places[places+i])
		if fields[i].name == "managedFields" {
			managedStart, managedEnd = w.written(), before
		}
	}
	all := w.written()
	return Object{is: is, bytes: w.bytes(), managedStart: all - managedStart, managedEnd: all - managedEnd, metadata: all - rest}
}

// hasMetadata reports whether a message is that of a kind whose objects have metadata.
func (m *Message) hasMetadata() bool {
	return len(m.fields) > 0 && m.fields[0].name == "metadata" && m.fields[0].number == 1 && m.fields[0].message != nil
}

// Type returns what the object is.
func (o Object) Type() Type { return o.is }

// Memory returns about how much memory the object takes.
func (o Object) Memory() int { return cap(o.bytes) + 64 }

// Size returns how much Append appends.
func (o Object) Size(drop bool) int {
	if o.metadata < 0 {
		return len(o.bytes)
	}
	length := o.metadataSize(drop)
	return 1 + varintSize(uint64(length)) + length + len(o.bytes) - o.metadata
}

// metadataSize returns how long the contents of the metadata are.
func (o Object) metadataSize(drop bool) int {
	if drop {
		return o.metadata - (o.managedEnd - o.managedStart)
	}
	return o.metadata
}

// Append appends the object, with its managedFields or without.
func (o Object) Append(dst []byte, drop bool) []byte {
	if o.metadata < 0 {
		return append(dst, o.bytes...)
	}
	dst = o.AppendMetadata(dst, drop)
	return append(dst, o.bytes[o.metadata:]...)
}

// AppendMetadata appends the object as if it had only metadata.
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

// MetadataSize returns how much AppendMetadata appends.
func (o Object) MetadataSize(drop bool) int {
	if o.metadata < 0 {
		return 0
	}
	length := o.metadataSize(drop)
	return 1 + varintSize(uint64(length)) + length
}
