package document

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
)

// equalNumbers tells whether two literals stand for one number.
func equalNumbers(a, b string) bool { return a == b || compareNumbers(a, b) == 0 }

// compareNumbers orders two literals by their value: integers exactly, whatever
// their size; those with a fraction or an exponent as the float64 that they are
// read as. An integer is not rounded to be compared with a float, for otherwise
// two integers could equal one float without being equal, and nothing could be
// sorted.
func compareNumbers(a, b string) int {
	switch {
	case isInteger(a) && isInteger(b):
		return compareIntegers(withoutMinusZero(a), withoutMinusZero(b))
	case isInteger(a):
		return compareMixed(a, asFloat(b))
	case isInteger(b):
		return -compareMixed(b, asFloat(a))
	}
	x, y := asFloat(a), asFloat(b)
	if math.IsInf(x, 0) && x == y {
		return cmp.Compare(a, b) // no telling them apart by value
	}
	return cmp.Compare(x, y)
}

// asFloat reads a literal; one that is out of range yields an infinity.
func asFloat(literal string) float64 {
	f, _ := strconv.ParseFloat(literal, 64)
	return f
}

// compareMixed orders an integer literal and a float.
func compareMixed(integer string, f float64) int {
	const exact = 1 << 53 // up to here every integer is a float64
	rounded := asFloat(integer)
	switch {
	case rounded != f:
		return cmp.Compare(rounded, f)
	case math.IsInf(f, 0):
		return -cmp.Compare(f, 0) // both are out of range, but the integer is finite
	case math.Abs(f) < exact:
		return 0
	}
	whole, _ := new(big.Float).SetFloat64(f).Int(nil) // f is too large to have a fraction
	return compareIntegers(integer, whole.String())
}

// compareIntegers orders integer literals of any size without converting them:
// JSON allows no leading zeros, so that the longer of two is the larger.
func compareIntegers(a, b string) int {
	negativeA, negativeB := a[0] == '-', b[0] == '-'
	switch {
	case negativeA && !negativeB:
		return -1
	case !negativeA && negativeB:
		return 1
	case negativeA:
		a, b = b, a
	}
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return cmp.Compare(a, b)
}

func withoutMinusZero(literal string) string {
	if literal == "-0" {
		return "0"
	}
	return literal
}

// appendFloat writes a float as encoding/json does.
func appendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // a negative zero loses its sign, as it equals zero
	}
	format := byte('f')
	if size := math.Abs(f); size < 1e-6 || size >= 1e21 {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		// e-09 is written e-9.
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}
