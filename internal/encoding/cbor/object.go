package cbor

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding/protobuf"
)

// Object is an object encoded as CBOR, from which apiVersion, kind and managedFields can be omitted without encoding it
// again:
//
//	{ apiVersion kind …before… metadata: { … managedFields … } …after… }
//
// The head of a CBOR map contains the number of its members, so omitting a member requires another head.
type Object struct {
	is     protobuf.Type
	fields int // the number of members of the object other than apiVersion and kind
	// before ends with the name of the metadata member; it is empty if the object has no metadata.
	before, metadata, after []byte
	metadataFields          int
	// The member managedFields, including its name, is metadata[managedStart:managedEnd].
	managedStart, managedEnd int
}

// Encode encodes an object of any kind. Its apiVersion and kind determine which fields are base64 strings in JSON.
func Encode(v document.Value) (*Object, error) {
	m, err := protobuf.MessageFor(protobuf.TypeOf(v))
	if err != nil {
		return nil, err
	}
	o := NewObject(m, v)
	return &o, nil
}

// NewObject encodes an object. m is nil for kinds without a Go type.
func NewObject(m *protobuf.Message, v document.Value) Object {
	o := Object{is: protobuf.TypeOf(v)}
	all := make([]byte, 0, v.JSONSize())
	start, end := 0, 0 // the offsets of the start and end of the metadata's members
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
		all = o.appendMetadataMembers(all, value)
		end = len(all)
	}
	o.before, o.metadata, o.after = all[:start], all[start:end], all[end:]
	return o
}

// appendMetadataMembers appends the members of metadata, and records in o the offsets of managedFields.
func (o *Object) appendMetadataMembers(dst []byte, metadata document.Value) []byte {
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

// Memory returns the approximate size of the object in memory, in bytes.
func (o *Object) Memory() int { return cap(o.before) + 192 }

// Append appends the object. typed includes apiVersion and kind, which items of built-in lists do not have; drop omits
// managedFields.
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

// AppendPartial appends a PartialObjectMetadata that has the type typ and the metadata of o; drop omits managedFields.
func (o *Object) AppendPartial(dst []byte, typ protobuf.Type, drop bool) []byte {
	dst = appendHead(dst, majorMap, 3)
	dst = appendType(dst, typ)
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

// AppendListHead appends the part of a list that precedes its items: its type, its metadata and the number of items.
func AppendListHead(dst []byte, typ protobuf.Type, metadata document.Value, items int) []byte {
	dst = append(dst, Prefix...)
	dst = appendHead(dst, majorMap, 4)
	dst = appendType(dst, typ)
	dst = appendMember(dst, nil, "metadata", metadata)
	dst = appendString(dst, "items")
	return appendHead(dst, majorList, uint64(items))
}

// AppendEventHead appends the part of a watch event that precedes its object.
func AppendEventHead(dst []byte, event string) []byte {
	dst = append(dst, Prefix...)
	dst = appendHead(dst, majorMap, 2)
	dst = appendString(dst, "type")
	dst = appendString(dst, event)
	return appendString(dst, "object")
}
