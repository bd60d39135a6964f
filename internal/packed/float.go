package packed

import (
	"encoding/binary"
	"math"
)

// The first bytes of floats of 2, 4 and 8 bytes.
const (
	cborFloat16 = 7<<5 | 25
	cborFloat32 = 7<<5 | 26
	cborFloat64 = 7<<5 | 27
)

// appendFloat appends a float in as few bytes as keep its value.
func appendFloat(dst []byte, f float64) []byte {
	short := float32(f)
	if float64(short) != f {
		return binary.BigEndian.AppendUint64(append(dst, cborFloat64), math.Float64bits(f))
	}
	if half, ok := toHalf(short); ok {
		return binary.BigEndian.AppendUint16(append(dst, cborFloat16), half)
	}
	return binary.BigEndian.AppendUint32(append(dst, cborFloat32), math.Float32bits(short))
}

// toHalf returns a float in 2 bytes; ok is false if it does not fit.
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
	case exponent >= -24 && exponent < -14: // without the first bit, which all larger ones have unsaid
		whole, shift := fraction|1<<23, uint(-exponent-1)
		return sign | uint16(whole>>shift), whole&(1<<shift-1) == 0
	}
	return 0, false
}
