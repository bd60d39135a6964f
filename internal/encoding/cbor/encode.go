package cbor

import (
	"encoding/base64"
	"encoding/binary"
	"math"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding/protobuf"
)

// The major types of CBOR, in the three highest bits of an item's first byte.
const (
	majorUint  = 0 << 5
	majorNeg   = 1 << 5
	majorBytes = 2 << 5
	majorText  = 3 << 5
	majorList  = 4 << 5
	majorMap   = 5 << 5
	majorTag   = 6 << 5
	majorMask  = 7 << 5

	simpleFalse = 7<<5 | 20
	simpleTrue  = 7<<5 | 21
	simpleNull  = 7<<5 | 22
	float16     = 7<<5 | 25
	float32Head = 7<<5 | 26
	float64Head = 7<<5 | 27
)

// tagBase64 is the CBOR tag of byte strings that are base64 strings in JSON.
const tagBase64 = 22

// Prefix is the self-described CBOR tag (55799), with which every object and every watch event starts.
const Prefix = "\xd9\xd9\xf7"

// Append appends v as CBOR. m determines which fields are base64 strings in JSON; it is nil if there are none.
func Append(dst []byte, m *protobuf.Message, v document.Value) []byte {
	switch v.Kind() {
	case document.Map:
		dst = appendHead(dst, majorMap, uint64(v.Len()))
		for i := range v.Len() {
			name, value := v.Field(i)
			dst = appendMember(dst, m, name, value)
		}
		return dst
	case document.List:
		dst = appendHead(dst, majorList, uint64(v.Len()))
		for _, item := range v.Items() {
			dst = Append(dst, m, item)
		}
		return dst
	case document.String:
		return appendString(dst, v.Text())
	case document.Number:
		return appendNumber(dst, v)
	case document.Bool:
		if v.Bool() {
			return append(dst, simpleTrue)
		}
		return append(dst, simpleFalse)
	}
	return append(dst, simpleNull)
}

// appendMember appends a member of an object: its name and its value.
func appendMember(dst []byte, m *protobuf.Message, name string, value document.Value) []byte {
	dst = appendString(dst, name)
	isBytes, isMap, message := m.Lookup(name)
	switch {
	case isBytes:
		return appendDecoded(dst, value)
	case isMap && message != nil:
		return appendEntries(dst, message, value)
	}
	return Append(dst, message, value)
}

// appendEntries appends a map whose values are messages: its keys are not fields of a message.
func appendEntries(dst []byte, m *protobuf.Message, v document.Value) []byte {
	if v.Kind() != document.Map {
		return Append(dst, nil, v)
	}
	dst = appendHead(dst, majorMap, uint64(v.Len()))
	for name, value := range v.Fields() {
		dst = appendString(dst, name)
		dst = Append(dst, m, value)
	}
	return dst
}

// appendDecoded appends v, a base64 string, as a byte string. If v is a list or map, it converts each item or value in this
// way.
func appendDecoded(dst []byte, v document.Value) []byte {
	switch v.Kind() {
	case document.Map:
		dst = appendHead(dst, majorMap, uint64(v.Len()))
		for name, value := range v.Fields() {
			dst = appendString(dst, name)
			dst = appendDecoded(dst, value)
		}
		return dst
	case document.List:
		dst = appendHead(dst, majorList, uint64(v.Len()))
		for _, item := range v.Items() {
			dst = appendDecoded(dst, item)
		}
		return dst
	case document.String:
		decoded, err := base64.StdEncoding.DecodeString(v.Text())
		if err != nil {
			break // cannot happen: base64 is validated when an object is written
		}
		dst = appendHead(dst, majorTag, tagBase64)
		dst = appendHead(dst, majorBytes, uint64(len(decoded)))
		return append(dst, decoded...)
	}
	return Append(dst, nil, v)
}

// appendString appends a string as a CBOR byte string, as Kubernetes does, because decoders validate the UTF-8 of text
// strings.
func appendString(dst []byte, s string) []byte {
	dst = appendHead(dst, majorBytes, uint64(len(s)))
	return append(dst, s...)
}

// appendHead appends the head of an item: its major type and its argument, which is a count, a length, or the value itself.
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

// appendNumber appends an integer, or a float if the number has a fraction or overflows int64. A number beyond the range of
// float64 becomes the largest float64, because Kubernetes' decoder would reject a whole list that contains an infinity.
func appendNumber(dst []byte, v document.Value) []byte {
	i, ok := v.Int64()
	switch {
	case !ok:
		f, _ := v.Float64()
		return appendFloat(dst, min(max(f, -math.MaxFloat64), math.MaxFloat64))
	case i < 0:
		return appendHead(dst, majorNeg, uint64(-(i + 1)))
	}
	return appendHead(dst, majorUint, uint64(i))
}

// appendFloat appends f in 2, 4 or 8 bytes, whichever is the smallest size that represents it exactly.
func appendFloat(dst []byte, f float64) []byte {
	short := float32(f)
	if float64(short) != f {
		return binary.BigEndian.AppendUint64(append(dst, float64Head), math.Float64bits(f))
	}
	if half, ok := toHalf(short); ok {
		return binary.BigEndian.AppendUint16(append(dst, float16), half)
	}
	return binary.BigEndian.AppendUint32(append(dst, float32Head), math.Float32bits(short))
}

// toHalf returns the bits of f as a half-precision float; ok is false if f cannot be represented exactly.
//
//	float32   sign 1  exponent 8 (-127)  fraction 23
//	half      sign 1  exponent 5 (-15)   fraction 10
func toHalf(f float32) (half uint16, ok bool) {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	exponent := int(bits>>23&0xff) - 127
	fraction := bits & 0x7fffff
	switch {
	case f == 0:
		return sign, true
	case exponent >= -14 && exponent <= 15:
		return sign | uint16(exponent+15)<<10 | uint16(fraction>>13), fraction&0x1fff == 0
	case exponent >= -24 && exponent < -14: // a subnormal number, whose leading bit is explicit
		whole, shift := fraction|1<<23, uint(-exponent-1)
		return sign | uint16(whole>>shift), whole&(1<<shift-1) == 0
	}
	return 0, false
}
