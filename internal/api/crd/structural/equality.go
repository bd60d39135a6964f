package structural

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// equal reports whether two values are equal after decoding to Go types, as in kube-apiserver: 1 differs from 1.0, because 1
// is decoded as int64 and 1.0 as float64.
func equal(a, b document.Value) bool {
	if document.Same(a, b) {
		return true
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case document.Number:
		return quantityOf(a) == quantityOf(b)
	case document.String:
		return a.Text() == b.Text()
	case document.Bool:
		return a.Bool() == b.Bool()
	case document.List, document.Map:
		return equalParts(a, b)
	}
	return true
}

func equalParts(a, b document.Value) bool {
	if fastdoc.IsUnparsed(a) || fastdoc.IsUnparsed(b) {
		return document.Equal(a, b)
	}
	named := a.Kind() == document.Map
	for i := range a.Len() {
		if named && a.Name(i) != b.Name(i) || !equal(a.At(i), b.At(i)) {
			return false
		}
	}
	return true
}

// enumerates reports whether v equals one of the schema's enum values. As in kube-apiserver, v is first converted to the Go
// type of the enum value by Go's conversion rules: 1.5 becomes 1, and 97 becomes "a".
func (n *node) enumerates(v document.Value) bool {
	return slices.ContainsFunc(n.enum, func(listed document.Value) bool {
		switch {
		case v.Kind() == document.Number && listed.Kind() == document.Number:
			return equalsConverted(quantityOf(v), quantityOf(listed))
		case v.Kind() == document.Number && listed.Kind() == document.String:
			q := quantityOf(v)
			return q.whole && string(rune(clampToRune(q.i))) == listed.Text()
		case listed.IsNull():
			return false
		}
		return equal(v, listed)
	})
}

// clampToRune converts an integer to int32. It returns -1, which is not a valid rune, for integers outside of the range of
// int32.
func clampToRune(i int64) int32 {
	if i != int64(int32(i)) {
		return -1
	}
	return int32(i)
}

// equalsConverted reports whether the number q, converted to the Go type of the number target (int64 or float64), equals
// target.
func equalsConverted(q, target quantity) bool {
	if target.whole && !q.whole {
		return int64(q.f) == target.i
	}
	if !target.whole && q.whole {
		return float64(q.i) == target.f
	}
	return q == target
}

// hasDuplicates reports whether a list contains two equal items.
func hasDuplicates(v document.Value) bool {
	seen := make(map[string]bool, v.Len())
	for _, item := range v.Items() {
		key := identity(item)
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// identity returns a string that is equal for two values if and only if the values are equal.
func identity(v document.Value) string {
	var b strings.Builder
	writeIdentity(&b, v)
	return b.String()
}

func writeIdentity(b *strings.Builder, v document.Value) {
	switch v.Kind() {
	case document.Number:
		if q := quantityOf(v); q.whole {
			b.WriteString(strconv.FormatInt(q.i, 10))
		} else {
			b.WriteString("f" + strconv.FormatFloat(q.f, 'g', -1, 64))
		}
	case document.List:
		b.WriteByte('[')
		for _, item := range v.Items() {
			writeIdentity(b, item)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case document.Map:
		b.WriteByte('{')
		for name, value := range v.Fields() {
			b.WriteString(strconv.Quote(name))
			b.WriteByte(':')
			writeIdentity(b, value)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.JSON())
	}
}
