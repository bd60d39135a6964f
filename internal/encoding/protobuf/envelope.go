package protobuf

import (
	"encoding/binary"
	"strconv"

	"github.com/cadastre/cadastre/document"
)

// An object in protobuf does not contain its type, so every response has an envelope that contains it:
//
//	k8s 0x00  { 1: { 1: APIVERSION  2: KIND }  2: OBJECT  3: ""  4: "" }

// Type is the apiVersion and kind of an object.
type Type struct{ APIVersion, Kind string }

// TypeOf returns the type of a document with apiVersion and kind.
func TypeOf(v document.Value) Type { return Type{v.Get("apiVersion").Text(), v.Get("kind").Text()} }

const envelopePrefix = "k8s\x00"

// envelopeEnd is the part of an envelope after the object: an empty contentEncoding and an empty contentType.
const envelopeEnd = "\x1a\x00\x22\x00"

// EnvelopeSize returns the size in bytes of an envelope that contains an object of the given size in bytes.
func (t Type) EnvelopeSize(object int) int {
	own := t.size()
	return len(envelopePrefix) + 1 + varintSize(uint64(own)) + own + 1 + varintSize(uint64(object)) + object + len(envelopeEnd)
}

func (t Type) size() int {
	return 2 + varintSize(uint64(len(t.APIVersion))) + len(t.APIVersion) + varintSize(uint64(len(t.Kind))) + len(t.Kind)
}

// AppendEnvelope appends the part of an envelope that precedes the object. object is the size of the object in bytes.
func (t Type) AppendEnvelope(dst []byte, object int) []byte {
	dst = append(dst, envelopePrefix...)
	dst = appendLength(dst, 1, t.size())
	dst = appendText(dst, 1, t.APIVersion)
	dst = appendText(dst, 2, t.Kind)
	return appendLength(dst, 2, object)
}

// AppendEnvelopeEnd appends the part of an envelope that follows the object.
func AppendEnvelopeEnd(dst []byte) []byte { return append(dst, envelopeEnd...) }

// ListMeta is the metadata of a list.
type ListMeta struct {
	ResourceVersion int64 // 0 means none
	Continue        string
	Remaining       int // 0 means unknown
}

func (m ListMeta) append(dst []byte) []byte {
	dst = appendText(dst, 1, "") // the deprecated selfLink
	version := ""
	if m.ResourceVersion != 0 {
		version = strconv.FormatInt(m.ResourceVersion, 10)
	}
	dst = appendText(dst, 2, version)
	dst = appendText(dst, 3, m.Continue)
	if m.Remaining > 0 {
		dst = append(dst, 4<<3|varintType)
		dst = appendVarint(dst, uint64(m.Remaining))
	}
	return dst
}

// AppendListMeta appends the metadata as the first field of a list.
func (m ListMeta) AppendListMeta(dst []byte) []byte {
	var scratch [128]byte
	meta := m.append(scratch[:0])
	dst = appendLength(dst, 1, len(meta))
	return append(dst, meta...)
}

// AppendItemHead appends the tag and the length that precede a list item of size bytes.
func AppendItemHead(dst []byte, size int) []byte { return appendLength(dst, 2, size) }

// ItemSize returns the size of a list item of size bytes with its tag and length.
func ItemSize(size int) int { return 1 + varintSize(uint64(size)) + size }

// AppendEventHead appends the part of a watch event that precedes its object: the length of the frame, and the type of the
// event. object is the size in bytes of the object in its envelope.
func AppendEventHead(dst []byte, event string, object int) []byte {
	raw := ItemSize(object)
	dst = binary.BigEndian.AppendUint32(dst, uint32(ItemSize(len(event))+ItemSize(raw)))
	dst = appendText(dst, 1, event)
	dst = appendLength(dst, 2, raw)
	return appendLength(dst, 1, object)
}

func appendText(dst []byte, number int, s string) []byte {
	dst = appendLength(dst, number, len(s))
	return append(dst, s...)
}

// appendLength appends the tag and length of a length-delimited field, which precede its value.
func appendLength(dst []byte, number, length int) []byte {
	dst = append(dst, byte(number<<3|bytesType))
	return appendVarint(dst, uint64(length))
}

func appendVarint(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }
