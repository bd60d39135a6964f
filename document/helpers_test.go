package document

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func mustParse(t testing.TB, text string) Value {
	t.Helper()
	v, err := ParseJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// parseUnparsed parses text to a document, and leaves the lists and maps at the given path unparsed.
func parseUnparsed[T Text](text T, limits Limits, path ...string) (Value, error) {
	return parseJSON(nil, string(text), limits, path, Value{})
}

// parseWithBase parses text to a document that shares unchanged lists and maps with base. It leaves the lists and
// maps at unparsedPath unparsed.
func parseWithBase[T Text](text T, limits Limits, base Value, unparsedPath ...string) (Value, error) {
	return parseJSON(nil, string(text), limits, unparsedPath, base)
}

// equalAsFloats compares two values as Equal does, but rounds numbers to float64.
func equalAsFloats(a, b Value) bool {
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	if a.Kind() == Number {
		x, _ := strconv.ParseFloat(a.Text(), 64)
		y, _ := strconv.ParseFloat(b.Text(), 64)
		return x == y
	}
	if a.Len() == 0 {
		return Equal(a, b)
	}
	for i := range a.Len() {
		if a.Kind() == Map && a.Name(i) != b.Name(i) || !equalAsFloats(a.At(i), b.At(i)) {
			return false
		}
	}
	return true
}

// anyPart reports whether f returns true for v or for any value inside of v.
func anyPart(v Value, f func(Value) bool) bool {
	if f(v) {
		return true
	}
	for i := range v.Len() {
		if anyPart(v.At(i), f) {
			return true
		}
	}
	return false
}

// trickyStrings are strings that JSON or YAML must escape or quote, or that YAML could read as another type.
var trickyStrings = []string{
	"", "a", "name", "é", "日本", "😀", "\u2028", "\u2029", "\u0085", "\u007f", "\ufeff", "\ufffd", "\x00", "\x1b", "\t", "\r", "\r\n",
	"<a&b>", `"`, `\`, `'`, "a'b", "it's: \"x\"", " a", "a ", " ", "\n", "a\nb", "a\nb\n", "a\n\nb\n\n", "\na", " a\nb", "a \nb", "a\n b", "a\nb ", "\n ",
	"yes", "No", "on", "y", "n", "true", "null", "~", "Null", ".inf", "-.INF", ".nan", "0", "-0", "1", "1.0", "1e3", "0x1F", "0o17", "017", "089", "0b11",
	"1_000", "+1", ".5", "5.", "1e999", "12345678901234567890123", "2001-01-01", "2001-12-14T21:59:43.1Z", "1:30", "190:20:30.15", "<<", "=",
	"- a", "-", "--", "---", "---a", "...", "a: b", "a:", ":a", ":", "a #b", "a#b", "#a", "? a", "?", "[a", "{a", "]", "}", ",", "&a", "*a", "!a", "|", ">", "%a", "@a", "`a", "a, b",
	strings.Repeat("long ", 40), strings.Repeat("x", 2000),
}

var trickyNumbers = []string{"0", "-0", "1", "-1", "1.0", "1.50", "1e0", "1E+2", "0.1", "-2.5e-3", "9007199254740991", "1e21", "1e-7"}

// randomValue returns a random value; depth limits the nesting.
func randomValue(r *rand.Rand, depth int) Value {
	switch kind := r.IntN(9); {
	case kind < 2 && depth > 0:
		items := make([]Value, r.IntN(4))
		for i := range items {
			items[i] = randomValue(r, depth-1)
		}
		return NewList(items...)
	case kind < 5 && depth > 0:
		var fields []Field
		for range r.IntN(4) {
			fields = append(fields, Field{trickyStrings[r.IntN(len(trickyStrings))], randomValue(r, depth-1)})
		}
		return NewMap(fields...)
	case kind == 5:
		return NewNull()
	case kind == 6:
		return NewBool(r.IntN(2) == 0)
	case kind == 7:
		v, _ := NewNumber(trickyNumbers[r.IntN(len(trickyNumbers))])
		return v
	}
	return NewString(trickyStrings[r.IntN(len(trickyStrings))])
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
