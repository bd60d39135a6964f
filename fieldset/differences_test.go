package fieldset

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/cadastre/cadastre/document"
)

// Each test here is a deliberate difference from structured-merge-diff: what it
// does, what we do, and why. docs/differences.md lists them.

// refused stands for a text that can't be read.
const refused = "refused"

type difference struct{ text, theirs, ours string }

func checkDifferences(t *testing.T, differences ...difference) {
	t.Helper()
	for _, d := range differences {
		ours, theirs := refused, refused
		if s, err := ParseFieldsV1(d.text); err == nil {
			ours = s.FieldsV1()
		}
		if s, err := parseUpstream(d.text); err == nil {
			theirs = toJSON(t, s)
		}
		if theirs != d.theirs {
			t.Errorf("%q: upstream %s, was %s", d.text, theirs, d.theirs)
		}
		if ours != d.ours {
			t.Errorf("%q: ours %s, want %s", d.text, ours, d.ours)
		}
	}
}

// Upstream reads every number as a float64, so that a set item or a key beyond 2^53
// becomes its neighbour when managedFields are read back, and two items become one.
// We keep the digits.
func TestDifferenceLargeIntegersKeepTheirDigits(t *testing.T) {
	checkDifferences(t,
		difference{`{"v:9007199254740993":{}}`, `{"v:9007199254740992":{}}`, `{"v:9007199254740993":{}}`},
		difference{`{"v:9007199254740992":{},"v:9007199254740993":{}}`, `{"v:9007199254740992":{}}`, `{"v:9007199254740992":{},"v:9007199254740993":{}}`},
		difference{`{"k:{\"id\":18446744073709551615}":{}}`, `{"k:{\"id\":18446744073709552000}":{}}`, `{"k:{\"id\":18446744073709551615}":{}}`},
		difference{`{"v:1000000000000000000001":{}}`, `{"v:1e+21":{}}`, `{"v:1000000000000000000001":{}}`},
	)
}

// Upstream refuses numbers that no float64 can hold. A document may have them, so
// that a set of its fields must be able to as well.
func TestDifferenceNumbersOutOfRangeAreKept(t *testing.T) {
	digits := strings.Repeat("9", 400)
	checkDifferences(t,
		difference{`{"v:1e400":{}}`, refused, `{"v:1e400":{}}`},
		difference{`{"v:` + digits + `":{}}`, refused, `{"v:` + digits + `":{}}`},
	)
}

// Upstream writes a negative zero with its sign, although it equals zero. We give
// equal elements one spelling.
func TestDifferenceNegativeZeroHasNoSign(t *testing.T) {
	checkDifferences(t,
		difference{`{"v:-0":{}}`, `{"v:-0":{}}`, `{"v:0":{}}`},
		difference{`{"v:-0.0":{}}`, `{"v:-0":{}}`, `{"v:0":{}}`},
		difference{`{"v:-0":{},"v:0":{"f:a":{}}}`, `{"v:0":{".":{},"f:a":{}}}`, `{"v:0":{".":{},"f:a":{}}}`},
	)
}

// Upstream takes a key that names a field twice and keeps both. No list item can
// match it. We refuse it, as we refuse such names in documents.
func TestDifferenceDoubleNamesInKeysAreRefused(t *testing.T) {
	checkDifferences(t,
		difference{`{"k:{\"a\":1,\"a\":2}":{}}`, `{"k:{\"a\":1,\"a\":2}":{}}`, refused},
		difference{`{"k:{\"a\":{\"b\":1,\"b\":2}}":{}}`, `{"k:{\"a\":{\"b\":2}}":{}}`, refused},
		difference{`{"v:{\"b\":1,\"b\":2}":{}}`, `{"v:{\"b\":2}":{}}`, refused},
	)
}

// Upstream's JSON reader is lax: it takes control characters behind an escape, half
// surrogate pairs, bytes that are no UTF-8, and null for a name. We take JSON.
func TestDifferenceOnlyJSONIsRead(t *testing.T) {
	checkDifferences(t,
		difference{"{\"f:\\\"\n\":{}}", `{"f:\"\n":{}}`, refused},
		difference{`{"f:\ud800":{}}`, "{\"f:\ufffd\":{}}", refused},
		difference{"{\"f:\xff\":{}}", "{\"f:\xff\":{}}", refused},
		difference{`{"v:{\"a\":1,null:2}":{}}`, `{"v:{\"\":2,\"a\":1}":{}}`, refused},
	)
}

// Upstream reads null one level deeper than the objects that it then writes for it.
// We refuse what we could not read back.
func TestDifferenceNullIsNotDeeperThanObjects(t *testing.T) {
	text := strings.Repeat(`{"f:a":`, 10_000) + "null" + strings.Repeat("}", 10_000)
	if _, err := ParseFieldsV1(text); err == nil {
		t.Error("ours reads it")
	}
	s, err := parseUpstream(text)
	if err != nil {
		t.Fatalf("upstream refuses it: %v", err)
	}
	if _, err := parseUpstream(toJSON(t, s)); err == nil {
		t.Error("upstream reads back what it wrote")
	}
}

// Upstream shows a number in a path with an exponent if it is a float, which all
// numbers are that were read from managedFields: a port of 1000000 is shown as
// 1e+06. We show numbers as FieldsV1 spells them.
func TestDifferenceNumbersInPathsAreShownAsSpelled(t *testing.T) {
	for _, d := range []struct {
		v            any
		theirs, ours string
	}{
		{1000000.0, "[=1e+06]", "[=1000000]"},
		{1234567.5, "[=1.2345675e+06]", "[=1234567.5]"},
		{0.00001, "[=1e-05]", "[=0.00001]"},
		{int64(1000000), "[=1000000]", "[=1000000]"},
	} {
		if got := fieldpath.ValueElement(value.NewValueInterface(d.v)).String(); got != d.theirs {
			t.Errorf("upstream shows %s, was %s", got, d.theirs)
		}
		if got := ValueElement(fromGo(d.v)).String(); got != d.ours {
			t.Errorf("ours shows %s, want %s", got, d.ours)
		}
	}
}

// Upstream shows the fields of a map inside of a path in random order, we in the
// order of names.
func TestDifferenceMapsInPathsAreShownInOrder(t *testing.T) {
	e := valueTwin(map[string]any{"a": 1, "b": 2, "c": 3, "d": 4})
	shown := map[string]bool{}
	for range 1000 {
		shown[e.theirs.String()] = true
	}
	if len(shown) < 2 {
		t.Error("upstream shows one order")
	}
	if got, want := e.ours.String(), "[=a=1b=2c=3d=4]"; got != want {
		t.Errorf("ours shows %s, want %s", got, want)
	}
}

// A Go string may hold bytes that are no UTF-8. Upstream writes them into names as
// they are, which is not JSON. We write the replacement character.
func TestDifferenceWrittenNamesAreUTF8(t *testing.T) {
	theirs := toJSON(t, fieldpath.NewSet(fieldpath.MakePathOrDie("a\xffb")))
	if want := "{\"f:a\xffb\":{}}"; theirs != want {
		t.Errorf("upstream writes %q, was %q", theirs, want)
	}
	key := KeyElement(KeyField{"a\xffb", document.NewString("\xff")})
	for got, want := range map[string]string{
		New(Names("a\xffb")).FieldsV1(): `{"f:a\ufffdb":{}}`,
		New(Path{key}).FieldsV1():       "{\"k:{\\\"a\ufffdb\\\":\\\"\ufffd\\\"}\":{}}",
	} {
		if got != want {
			t.Errorf("ours writes %q, want %q", got, want)
		}
		mustParse(t, got)
	}
}
