package packed

import (
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/cadastre/cadastre/document"
)

// The major types of CBOR, in the highest bits of the first byte of everything.
const (
	cborUint  = 0 << 5
	cborNeg   = 1 << 5
	cborBytes = 2 << 5
	cborList  = 4 << 5
	cborMap   = 5 << 5
	cborTag   = 6 << 5
	cborFalse = 7<<5 | 20
	cborTrue  = 7<<5 | 21
	cborNull  = 7<<5 | 22
)

// base64Later is the tag of bytes that are base64 in JSON.
const base64Later = 22

// CBORPrefix is what an answer in CBOR begins with: a tag that says that it is CBOR.
const CBORPrefix = "\xd9\xd9\xf7"

// AppendCBOR appends a document. The message says which fields are base64 in JSON; without one none are.
func AppendCBOR(dst []byte, m *Message, v document.Value) []byte {
	switch v.Kind() {
	case document.Map:
		dst = appendHead(dst, cborMap, uint64(v.Len()))
		for i := range v.Len() {
			name, value := v.Field(i)
			dst = appendMember(dst, m, name, value)
		}
		return dst
	case document.List:
		dst = appendHead(dst, cborList, uint64(v.Len()))
		for _, item := range v.Items() {
			dst = AppendCBOR(dst, m, item)
		}
		return dst
	case document.String:
		return appendString(dst, v.Text())
	case document.Number:
		return appendNumber(dst, v)
	case document.Bool:
		if v.Bool() {
			return append(dst, cborTrue)
		}
		return append(dst, cborFalse)
	}
	return append(dst, cborNull)
}

// appendMember appends a field with its name.
func appendMember(dst []byte, m *Message, name string, value document.Value) []byte {
	dst = appendString(dst, name)
	if m == nil {
		return AppendCBOR(dst, nil, value)
	}
	f := m.names[name]
	switch {
	case f == nil:
		return AppendCBOR(dst, nil, value)
	case f.value == bytes:
		return appendDecoded(dst, value)
	case f.many == mapped && f.message != nil:
		return appendEntries(dst, f.message, value)
	}
	return AppendCBOR(dst, f.message, value)
}

// appendEntries appends a map whose values are messages: its names are not those of fields.
func appendEntries(dst []byte, m *Message, v document.Value) []byte {
	if v.Kind() != document.Map {
		return AppendCBOR(dst, nil, v)
	}
	dst = appendHead(dst, cborMap, uint64(v.Len()))
	for name, value := range v.Fields() {
		dst = appendString(dst, name)
		dst = AppendCBOR(dst, m, value)
	}
	return dst
}

// appendDecoded appends what base64 stands for, in lists and maps too.
func appendDecoded(dst []byte, v document.Value) []byte {
	switch v.Kind() {
	case document.Map:
		dst = appendHead(dst, cborMap, uint64(v.Len()))
		for name, value := range v.Fields() {
			dst = appendString(dst, name)
			dst = appendDecoded(dst, value)
		}
		return dst
	case document.List:
		dst = appendHead(dst, cborList, uint64(v.Len()))
		for _, item := range v.Items() {
			dst = appendDecoded(dst, item)
		}
		return dst
	case document.String:
		decoded, err := base64.StdEncoding.DecodeString(v.Text())
		if err != nil {
			break // what is no base64 was refused when it was read
		}
		dst = appendHead(dst, cborTag, base64Later)
		dst = appendHead(dst, cborBytes, uint64(len(decoded)))
		return append(dst, decoded...)
	}
	return AppendCBOR(dst, nil, v)
}

// appendString appends a text as bytes, as Kubernetes does: CBOR's own texts would have to be checked for UTF-8.
func appendString(dst []byte, s string) []byte {
	dst = appendHead(dst, cborBytes, uint64(len(s)))
	return append(dst, s...)
}

// appendHead appends a major type and its number: a count, a length, or the value itself.
func appendHead(dst []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(dst, major|byte(n))
	case n < 1<<8:
		return append(dst, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, major|27), n)
}

// appendNumber appends an integer, or a float if it has a fraction or does not fit. Of what no float is as large as it
// appends the largest: Kubernetes reads no infinity, nor a list that has one in it.
func appendNumber(dst []byte, v document.Value) []byte {
	i, ok := v.Int64()
	switch {
	case !ok:
		f, _ := v.Float64()
		return appendFloat(dst, min(max(f, -math.MaxFloat64), math.MaxFloat64))
	case i < 0:
		return appendHead(dst, cborNeg, uint64(-(i + 1)))
	}
	return appendHead(dst, cborUint, uint64(i))
}
