package structural

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// same compares two values as Go compares what upstream decodes them to: 1 is not 1.0, since one is an int64 and the
// other a float64.
func same(a, b document.Value) bool {
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
		return sameParts(a, b)
	}
	return true
}

func sameParts(a, b document.Value) bool {
	if fastdoc.IsUnparsed(a) || fastdoc.IsUnparsed(b) {
		return document.Equal(a, b)
	}
	named := a.Kind() == document.Map
	for i := range a.Len() {
		if named && a.Name(i) != b.Name(i) || !same(a.At(i), b.At(i)) {
			return false
		}
	}
	return true
}

// enumerates tells whether a value is one of those that are listed. Upstream converts it to the type of the listed
// one first, by Go's rules: 1.5 becomes 1, and 97 becomes the text "a".
func (n *node) enumerates(v document.Value) bool {
	return slices.ContainsFunc(n.enum, func(listed document.Value) bool {
		switch {
		case v.Kind() == document.Number && listed.Kind() == document.Number:
			return converts(quantityOf(v), quantityOf(listed))
		case v.Kind() == document.Number && listed.Kind() == document.String:
			q := quantityOf(v)
			return q.whole && string(rune(clamp(q.i))) == listed.Text()
		case listed.IsNull():
			return false
		}
		return same(v, listed)
	})
}

// clamp keeps what is no rune from becoming one by losing bits.
func clamp(i int64) int32 {
	if i != int64(int32(i)) {
		return -1
	}
	return int32(i)
}

// converts tells whether a number is another one after it was made one of the same sort.
func converts(q, to quantity) bool {
	if to.whole && !q.whole {
		return int64(q.f) == to.i
	}
	if !to.whole && q.whole {
		return float64(q.i) == to.f
	}
	return q == to
}

// repeats tells whether two items of a list are the same.
func repeats(v document.Value) bool {
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

// identity is a text that two values have in common if and only if they are the same.
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
