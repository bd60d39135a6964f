package cbor

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding/protobuf"
)

// Object is an encoded object whose type and managedFields can be omitted:
//
//	{ apiVersion kind …before… metadata: { … managedFields … } …after… }
//
// The head of a CBOR map has the number of its members, so that omitting a member requires another head.
type Object struct {
	is     protobuf.Type
	fields int // the number of fields without apiVersion and kind
	// before ends with the key of the metadata. It is empty if the object has no metadata.
	before, metadata, after []byte
	metadataFields          int
	// The managedFields are metadata[managedStart:managedEnd].
	managedStart, managedEnd int
}

// Encode encodes an object of any kind.
func Encode(v document.Value) (*Object, error) {
	m, err := protobuf.MessageFor(protobuf.TypeOf(v))
	if err != nil {
		return nil, err
	}
	o := NewObject(m, v)
	return &o, nil
}

// NewObject encodes an object. The message is nil for kinds without a Go type.
func NewObject(m *protobuf.Message, v document.Value) Object {
	o := Object{is: protobuf.TypeOf(v)}
	all := make([]byte, 0, v.JSONSize())
	start, end := 0, 0 // bounds of the content of the metadata
	for name, value := range v.Fields() {
		if name == "apiVersion" || name == "kind" {
			continue
		}
		o.fields++
		if name != "metadata" || value.Kind() != document.Map {
			all = appendMember(all, m, name, value)
			continue
		}
		all = appendString(all, name)
		start = len(all)
		all = o.appendMetadataOf(all, value)
		end = len(all)
	}
	o.before, o.metadata, o.after = all[:start], all[start:end], all[end:]
	return o
}

// appendMetadataOf appends the members of the metadata and records the position of managedFields.
func (o *Object) appendMetadataOf(dst []byte, metadata document.Value) []byte {
	start := len(dst)
	for name, value := range metadata.Fields() {
		o.metadataFields++
		before := len(dst)
		dst = appendMember(dst, nil, name, value)
		if name == "managedFields" {
			o.managedStart, o.managedEnd = before-start, len(dst)-start
		}
	}
	return dst
}

// Memory returns the approximate size of the object in memory.
func (o *Object) Memory() int { return cap(o.before) + 192 }

// Append appends the object: with apiVersion and kind if typed is set, which is false for items of built-in lists, and
// without managedFields if drop is set.
func (o *Object) Append(dst []byte, typed, drop bool) []byte {
	fields := o.fields
	if typed {
		fields += 2
	}
	dst = appendHead(dst, majorMap, uint64(fields))
	if typed {
		dst = appendType(dst, o.is)
	}
	dst = append(dst, o.before...)
	if len(o.before) > 0 {
		dst = o.appendMetadata(dst, drop)
	}
	return append(dst, o.after...)
}

// AppendPartial appends an object of type as with the metadata of this object.
func (o *Object) AppendPartial(dst []byte, as protobuf.Type, drop bool) []byte {
	dst = appendHead(dst, majorMap, 3)
	dst = appendType(dst, as)
	dst = appendString(dst, "metadata")
	return o.appendMetadata(dst, drop)
}

func (o *Object) appendMetadata(dst []byte, drop bool) []byte {
	if !drop || o.managedStart == o.managedEnd {
		dst = appendHead(dst, majorMap, uint64(o.metadataFields))
		return append(dst, o.metadata...)
	}
	dst = appendHead(dst, majorMap, uint64(o.metadataFields-1))
	dst = append(dst, o.metadata[:o.managedStart]...)
	return append(dst, o.metadata[o.managedEnd:]...)
}

func appendType(dst []byte, t protobuf.Type) []byte {
	dst = appendString(dst, "apiVersion")
	dst = appendString(dst, t.APIVersion)
	dst = appendString(dst, "kind")
	return appendString(dst, t.Kind)
}

// AppendListHead appends the part of a list before its items.
func AppendListHead(dst []byte, is protobuf.Type, metadata document.Value, items int) []byte {
	dst = append(dst, Prefix...)
	dst = appendHead(dst, majorMap, 4)
	dst = appendType(dst, is)
	dst = appendMember(dst, nil, "metadata", metadata)
	dst = appendString(dst, "items")
	return appendHead(dst, majorList, uint64(items))
}

// AppendEventHead appends the part of a watch event before its object.
func AppendEventHead(dst []byte, event string) []byte {
	dst = append(dst, Prefix...)
	dst = appendHead(dst, majorMap, 2)
	dst = appendString(dst, "type")
	dst = appendString(dst, event)
	return appendString(dst, "object")
}
