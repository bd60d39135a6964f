package document

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Equal reports whether two values are equal in Kubernetes' sense: numbers are compared by value (1 equals 1.0),
// everything else exactly. An absent value equals only an absent value.
func Equal(a, b Value) bool {
	if a == b {
		return true
	}
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case Number:
		return equalNumbers(a.text(), b.text())
	case String, Bool:
		return a.text() == b.text()
	case List, Map:
		return equalContainers(a, b)
	}
	return true
}

// equalContainers is [Equal] for two lists or two maps; either value may be unparsed.
func equalContainers(a, b Value) bool {
	if a.form()&b.form()&canonical != 0 && a.text() == b.text() {
		return true
	}
	a, b = a.parsed(), b.parsed()
	if a.Len() != b.Len() || a.Kind() != b.Kind() {
		return false
	}
	named := a.Kind() == Map
	for i := range a.Len() {
		if named && a.Name(i) != b.Name(i) || !Equal(a.At(i), b.At(i)) {
			return false
		}
	}
	return true
}

// Compare compares two values in the order in which Kubernetes sorts path elements: numbers, strings, booleans, lists,
// maps, null, and absent values last. The result is negative if a is less than b, 0 if they are equal, and positive if
// a is greater.
func Compare(a, b Value) int {
	if c := cmp.Compare(kindRank(a.Kind()), kindRank(b.Kind())); c != 0 {
		return c
	}
	switch a.Kind() {
	case Number:
		return compareNumbers(a.text(), b.text())
	case String, Bool:
		return strings.Compare(a.text(), b.text())
	case List:
		return compareLists(a, b)
	case Map:
		return compareMaps(a, b)
	}
	return 0
}

// kindRank returns the position of a kind in the order of [Compare].
func kindRank(k Kind) int {
	switch k {
	case Number:
		return 0
	case String:
		return 1
	case Bool:
		return 2
	case List:
		return 3
	case Map:
		return 4
	case Null:
		return 5
	}
	return 6
}

func compareLists(a, b Value) int {
	a, b = a.parsed(), b.parsed()
	for i := 0; i < min(a.Len(), b.Len()); i++ {
		if c := Compare(a.At(i), b.At(i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.Len(), b.Len())
}

// compareMaps compares the fields in the order of their names. The first field that differs decides: by its name, or by
// its value if the names are equal. If one map is a prefix of the other, the shorter map is less.
func compareMaps(a, b Value) int {
	a, b = a.parsed(), b.parsed()
	for i := 0; i < min(a.Len(), b.Len()); i++ {
		if c := strings.Compare(a.Name(i), b.Name(i)); c != 0 {
			return c
		}
		if c := Compare(a.At(i), b.At(i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a.Len(), b.Len())
}

// equalNumbers reports whether two number literals have the same value, such as 1 and 1.0.
func equalNumbers(a, b string) bool { return a == b || compareNumbers(a, b) == 0 }

// compareNumbers compares two number literals by value: integers of any size exactly, literals with a fraction or an
// exponent as float64. An integer is not rounded for the comparison with a float: with rounding, two different integers
// could equal the same float, and the order would not be transitive.
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
		return cmp.Compare(a, b) // both literals are beyond the range of float64: order them by spelling
	}
	return cmp.Compare(x, y)
}

// asFloat converts a number literal to a float64; a literal beyond the range of float64 becomes an infinity.
func asFloat(literal string) float64 {
	f, _ := strconv.ParseFloat(literal, 64)
	return f
}

// compareMixed compares an integer literal of any size with a float64.
func compareMixed(integer string, f float64) int {
	const exact = 1 << 53 // float64 represents every integer up to 2^53 exactly
	rounded := asFloat(integer)
	switch {
	case rounded != f:
		return cmp.Compare(rounded, f)
	case math.IsInf(f, 0):
		return -cmp.Compare(f, 0) // f is an infinity; the integer is finite however long it is
	case math.Abs(f) < exact:
		return 0
	}
	whole, _ := new(big.Float).SetFloat64(f).Int(nil) // f is too large to have a fraction
	return compareIntegers(integer, whole.String())
}

// compareIntegers compares integer literals of any size without converting them to numbers: JSON allows no leading
// zeros, so the longer literal has the larger absolute value.
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

// appendFloat formats a float as encoding/json does.
func appendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // negative zero is written as 0, which it equals
	}
	format := byte('f')
	if size := math.Abs(f); size < 1e-6 || size >= 1e21 {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		// The exponent e-09 is shortened to e-9.
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// scalarDifferences compares two maps that have the same field names, at most 64, and only booleans, numbers and
// strings as values. Bit i of differ is set if the fields at index i differ. ok is false if a map does not meet these
// conditions, or if two numbers are equal but spelled differently.
func scalarDifferences(a, b Value) (differ uint64, ok bool) {
	count := a.Len()
	if count != b.Len() || count > 64 || a.Kind() != Map || b.Kind() != Map {
		return 0, false
	}
	if a.d.nodes != nil && b.d.nodes != nil {
		return nodeDifferences(a, b)
	}
	for i := range count {
		x, y := a.At(i), b.At(i)
		if a.Name(i) != b.Name(i) || !x.IsScalar() || !y.IsScalar() {
			return 0, false
		}
		switch {
		case x.Kind() != y.Kind():
			differ |= 1 << i
		case x.text() == y.text():
		case Equal(x, y):
			return 0, false
		default:
			differ |= 1 << i
		}
	}
	return differ, true
}

// nodeDifferences implements [scalarDifferences] for two parsed maps with the same number of fields.
func nodeDifferences(a, b Value) (differ uint64, ok bool) {
	x, y := a.children(), b.children()
	for i := range y {
		m, n := &x[i], &y[i]
		if m.nameSize != n.nameSize || m.kind-Bool > String-Bool || n.kind-Bool > String-Bool || a.d.nameOf(m) != b.d.nameOf(n) {
			return 0, false
		}
		if m.kind == n.kind && m.size == n.size && a.d.textOf(m) == b.d.textOf(n) {
			continue
		}
		if m.kind == Number && n.kind == Number && equalNumbers(a.d.textOf(m), b.d.textOf(n)) {
			return 0, false
		}
		differ |= 1 << i
	}
	return differ, true
}

// children returns the nodes of the fields or items of a parsed container.
func (v Value) children() []node {
	n := &v.d.nodes[v.i]
	return v.d.nodes[n.first : n.first+n.count]
}
