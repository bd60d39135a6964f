package fieldset

import (
	"fmt"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

func FuzzParseFieldsV1(f *testing.F) {
	for _, test := range validTexts {
		f.Add(test.text)
	}
	for _, test := range invalidTexts {
		f.Add(test.text[:min(len(test.text), 100)])
	}
	f.Add(deployment("app"))
	f.Fuzz(func(t *testing.T, text string) {
		before := allocatedBytes()
		_, _ = ParseFieldsV1(text)
		if cost := allocatedBytes() - before; cost > maxMemory(text, 100) {
			t.Errorf("parsing %d bytes of text allocated %d bytes, more than the limit", len(text), cost)
		}
		checkLikeUpstream(t, text)
		if s, err := ParseFieldsV1(text); err == nil && s.FieldsV1() == text {
			if found, ok := textIntersection(text, s); !ok || !found.Equal(s) {
				t.Errorf("the intersection of the set %q with itself is a different set", text)
			}
		}
	})
}

func FuzzParsePath(f *testing.F) {
	for _, text := range []string{
		"", ".spec.containers[name=\"app\"].image", `.metadata.labels."example.com/app"`, "a[0]", "[=1.0]", `[="x"]`, "[=null]", "[]",
		`[port=80,protocol="TCP"]`, `["a=b"=[1,{"c":"]"}]]`, `.""`, "a..b", "a[", "[=", `."\xff"`, ".a]b", "[-1]", "[a=1,a=2]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePath(text)
		if err != nil {
			if !strings.Contains(err.Error(), ": at byte ") || !strings.Contains(err.Error(), ": expected ") {
				t.Fatalf("error = %v, want a SyntaxError with an offset and a problem", err)
			}
			return
		}
		back, err := ParsePath(p.Quoted())
		if err != nil || !back.Equal(p) {
			t.Fatalf("%q: Quoted() = %q, which is parsed as %q, %v; want the same path", text, p.Quoted(), back.Quoted(), err)
		}
		s := New(p)
		checkInvariants(t, s)
		if s.Has(p) != (len(p) > 0) {
			t.Fatalf("New(%q).Has(%[1]q) = %v, want %v", text, s.Has(p), len(p) > 0)
		}
		// The set again may differ from s, because FieldsV1 can't represent invalid UTF-8 in names. Parsing and writing
		// FieldsV1 a second time must change nothing.
		again := mustParse(t, s.FieldsV1())
		if again.FieldsV1() != mustParse(t, again.FieldsV1()).FieldsV1() {
			t.Fatalf("FieldsV1 of %q changes when it is parsed and written again", text)
		}
	})
}

// allocatedBytes returns the number of bytes that the program has allocated so far.
func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// maxMemory returns the maximum number of bytes that parsing text may allocate: 1 MiB for the runtime, plus each times
// the length of text in bytes.
func maxMemory(text string, each int) uint64 { return 1<<20 + uint64(each*len(text)) }

// TestHostileTextsCostLittle checks that parsing takes linear time and memory for texts that take a naive parser quadratic time
// or memory. In the table, each is the maximum number of allocated bytes per byte of text.
func TestHostileTextsCostLittle(t *testing.T) {
	const size = 1 << 20
	var reversed []string
	for i := range size / 15 {
		reversed = append(reversed, fmt.Sprintf(`"f:%06d":{}`, size-i))
	}
	repeated := func(entry string) string {
		return "{" + strings.Repeat(entry+",", size/(len(entry)+1)) + entry + "}"
	}
	for _, test := range []struct {
		name, text string
		each       int
	}{
		{"names in reverse", "{" + strings.Join(reversed, ",") + "}", 40},
		{"one name", repeated(`"f:a":{}`), 60},
		{"dots", repeated(`".":{}`), 8},
		{"dots with values", repeated(`".":[{}]`), 8},
		{"dots below", repeated(`"f:a":{".":[]}`), 40},
		{"unknown prefixes", repeated(`"x:y":{"a":1}`), 40},
		{"nulls", repeated(`"f:a":null`), 60},
		{"levels", repeated(`"f:a":{"f:b":{"f:c":null}}`), 40},
		{"keys", repeated(`"k:{\"a\":1}":{}`), 40},
		{"escaped keys", repeated(`"k:{\"a\":\"\\n\"}":{}`), 80},
		{"escaped names", repeated(`"f:\n":{}`), 80},
		{"one level in another", strings.Repeat(`{"f:a":`, 9_999) + "{}" + strings.Repeat("}", 9_999), 40},
		{"braces in a name", `{"f:` + strings.Repeat("{", size) + `":{}}`, 8},
		{"braces in a bad name", `{"` + strings.Repeat("{", size) + `":{}}`, 8},
		{"braces in a value", `{"x:y":` + strings.Repeat("[", size), 8},
		{"digits", `{"v:` + strings.Repeat("9", size) + `":{}}`, 16},
		{"an open name", `{"f:` + strings.Repeat(`\"`, size/2), 8},
	} {
		start, before := time.Now(), allocatedBytes()
		_, err := ParseFieldsV1(test.text)
		if cost := allocatedBytes() - before; cost > maxMemory(test.text, test.each) {
			t.Errorf("%s: parsing %d bytes of text allocated %d bytes, want at most %d", test.name, len(test.text), cost, maxMemory(test.text, test.each))
		}
		if took := time.Since(start); took > 10*time.Second { // quadratic parsing takes minutes
			t.Errorf("%s: parsing took %v, want at most 10s", test.name, took)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: the error has %d bytes, want a short one", test.name, len(err.Error()))
		}
	}
}

// TestParseFieldsV1Allocations checks that parsing makes one allocation for a text of any size.
func TestParseFieldsV1Allocations(t *testing.T) {
	text := deployment("app")
	if got := testing.AllocsPerRun(100, func() { _, _ = ParseFieldsV1(text) }); got > 1 {
		t.Errorf("ParseFieldsV1 makes %v allocations, want 1", got)
	}
}
