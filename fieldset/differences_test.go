package fieldset

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/cadastre/cadastre/document"
)

// Each test of this file checks a deliberate difference from structured-merge-diff ("upstream"). docs/differences.md
// lists the differences.

// rejected is the expected result for a text that is a syntax error.
const rejected = "rejected"

// difference is a FieldsV1 text that the two libraries read differently: upstream and ours are the FieldsV1 that each
// library writes after reading text, or rejected.
type difference struct{ text, upstream, ours string }

func checkDifferences(t *testing.T, differences ...difference) {
	t.Helper()
	for _, d := range differences {
		ours, upstream := rejected, rejected
		if s, err := ParseFieldsV1(d.text); err == nil {
			ours = s.FieldsV1()
		}
		if s, err := parseUpstream(d.text); err == nil {
			upstream = toJSON(t, s)
		}
		if upstream != d.upstream {
			t.Errorf("%q: upstream returns %s, want %s", d.text, upstream, d.upstream)
		}
		if ours != d.ours {
			t.Errorf("%q: got %s, want %s", d.text, ours, d.ours)
		}
	}
}

// Upstream reads every number as a float64. It therefore rounds a set item or a key beyond 2^53 when it reads
// managedFields, and two items may become one item. This package keeps all digits.
func TestDifferenceLargeIntegersKeepTheirDigits(t *testing.T) {
	checkDifferences(t,
		difference{`{"v:9007199254740993":{}}`, `{"v:9007199254740992":{}}`, `{"v:9007199254740993":{}}`},
		difference{`{"v:9007199254740992":{},"v:9007199254740993":{}}`, `{"v:9007199254740992":{}}`, `{"v:9007199254740992":{},"v:9007199254740993":{}}`},
		difference{`{"k:{\"id\":18446744073709551615}":{}}`, `{"k:{\"id\":18446744073709552000}":{}}`, `{"k:{\"id\":18446744073709551615}":{}}`},
		difference{`{"v:1000000000000000000001":{}}`, `{"v:1e+21":{}}`, `{"v:1000000000000000000001":{}}`},
	)
}

// Upstream rejects numbers beyond the range of float64. A document may contain such numbers, so this package accepts
// them in field sets.
func TestDifferenceNumbersOutOfRangeAreKept(t *testing.T) {
	digits := strings.Repeat("9", 400)
	checkDifferences(t,
		difference{`{"v:1e400":{}}`, rejected, `{"v:1e400":{}}`},
		difference{`{"v:` + digits + `":{}}`, rejected, `{"v:` + digits + `":{}}`},
	)
}

// Upstream writes a negative zero with its sign, although it equals zero. This package writes equal elements in the
// same way.
func TestDifferenceNegativeZeroHasNoSign(t *testing.T) {
	checkDifferences(t,
		difference{`{"v:-0":{}}`, `{"v:-0":{}}`, `{"v:0":{}}`},
		difference{`{"v:-0.0":{}}`, `{"v:-0":{}}`, `{"v:0":{}}`},
		difference{`{"v:-0":{},"v:0":{"f:a":{}}}`, `{"v:0":{".":{},"f:a":{}}}`, `{"v:0":{".":{},"f:a":{}}}`},
	)
}

// Upstream accepts a key with a duplicate field name and keeps both fields. No list item can match such a key. This
// package rejects it, like duplicate names in documents.
func TestDifferenceDuplicateNamesInKeysAreRejected(t *testing.T) {
	checkDifferences(t,
		difference{`{"k:{\"a\":1,\"a\":2}":{}}`, `{"k:{\"a\":1,\"a\":2}":{}}`, rejected},
		difference{`{"k:{\"a\":{\"b\":1,\"b\":2}}":{}}`, `{"k:{\"a\":{\"b\":2}}":{}}`, rejected},
		difference{`{"v:{\"b\":1,\"b\":2}":{}}`, `{"v:{\"b\":2}":{}}`, rejected},
	)
}

// Upstream's JSON parser accepts control characters after an escape, unpaired surrogates, invalid UTF-8, and null as a
// name. This package accepts only JSON.
func TestDifferenceOnlyJSONIsRead(t *testing.T) {
	checkDifferences(t,
		difference{"{\"f:\\\"\n\":{}}", `{"f:\"\n":{}}`, rejected},
		difference{`{"f:\ud800":{}}`, "{\"f:\ufffd\":{}}", rejected},
		difference{"{\"f:\xff\":{}}", "{\"f:\xff\":{}}", rejected},
		difference{`{"v:{\"a\":1,null:2}":{}}`, `{"v:{\"\":2,\"a\":1}":{}}`, rejected},
	)
}

// Upstream accepts null at a depth at which it rejects the object that it then writes for null. This package rejects
// both.
func TestDifferenceNullIsNotDeeperThanObjects(t *testing.T) {
	text := strings.Repeat(`{"f:a":`, 10_000) + "null" + strings.Repeat("}", 10_000)
	if _, err := ParseFieldsV1(text); err == nil {
		t.Error("ParseFieldsV1 accepts null beyond the maximum depth, want an error")
	}
	s, err := parseUpstream(text)
	if err != nil {
		t.Fatalf("upstream: %v", err)
	}
	if _, err := parseUpstream(toJSON(t, s)); err == nil {
		t.Error("upstream accepts its own output, want an error")
	}
}

// Upstream's String method writes floats with an exponent, and all numbers from managedFields are floats: the port
// 1000000 becomes 1e+06. This package writes numbers as FieldsV1 spells them.
func TestDifferenceNumbersInPathsAreShownAsSpelled(t *testing.T) {
	for _, d := range []struct {
		v              any
		upstream, ours string
	}{
		{1000000.0, "[=1e+06]", "[=1000000]"},
		{1234567.5, "[=1.2345675e+06]", "[=1234567.5]"},
		{0.00001, "[=1e-05]", "[=0.00001]"},
		{int64(1000000), "[=1000000]", "[=1000000]"},
	} {
		if got := fieldpath.ValueElement(value.NewValueInterface(d.v)).String(); got != d.upstream {
			t.Errorf("upstream: String() = %s, want %s", got, d.upstream)
		}
		if got := ValueElement(fromGo(d.v)).String(); got != d.ours {
			t.Errorf("String() = %s, want %s", got, d.ours)
		}
	}
}

// Upstream's String method writes the fields of a map inside of a path in random order. This package sorts them by
// name.
func TestDifferenceMapsInPathsAreShownInOrder(t *testing.T) {
	e := valuePair(map[string]any{"a": 1, "b": 2, "c": 3, "d": 4})
	shown := map[string]bool{}
	for range 1000 {
		shown[e.upstream.String()] = true
	}
	if len(shown) < 2 {
		t.Error("upstream writes the fields in a stable order, want a random one")
	}
	if got, want := e.ours.String(), "[=a=1b=2c=3d=4]"; got != want {
		t.Errorf("String() = %s, want %s", got, want)
	}
}

// A Go string may contain invalid UTF-8. Upstream writes such bytes into names, which is not valid JSON. This package
// writes the replacement character U+FFFD.
func TestDifferenceWrittenNamesAreUTF8(t *testing.T) {
	upstream := toJSON(t, fieldpath.NewSet(fieldpath.MakePathOrDie("a\xffb")))
	if want := "{\"f:a\xffb\":{}}"; upstream != want {
		t.Errorf("upstream writes %q, want %q", upstream, want)
	}
	key := KeyElement(KeyField{"a\xffb", document.NewString("\xff")})
	for got, want := range map[string]string{
		New(Names("a\xffb")).FieldsV1(): `{"f:a\ufffdb":{}}`,
		New(Path{key}).FieldsV1():       "{\"k:{\\\"a\ufffdb\\\":\\\"\ufffd\\\"}\":{}}",
	} {
		if got != want {
			t.Errorf("FieldsV1() = %q, want %q", got, want)
		}
		mustParse(t, got)
	}
}
