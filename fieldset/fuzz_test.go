package fieldset

import (
	"fmt"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

func FuzzParseFieldsV1(f *testing.F) {
	for _, test := range valid {
		f.Add(test.text)
	}
	for _, test := range invalid {
		f.Add(test.text[:min(len(test.text), 100)])
	}
	f.Add(deployment("app"))
	f.Fuzz(func(t *testing.T, text string) {
		before := allocated()
		_, _ = ParseFieldsV1(text)
		if cost := allocated() - before; cost > mostMemory(text, 100) {
			t.Errorf("%d bytes of text take %d bytes of memory", len(text), cost)
		}
		checkLikeUpstream(t, text)
		if s, err := ParseFieldsV1(text); err == nil && s.FieldsV1() == text {
			if found, ok := common(text, s); !ok || !found.Equal(s) {
				t.Errorf("%q has not all of itself in common with itself", text)
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
				t.Fatalf("an error that does not say where and what: %v", err)
			}
			return
		}
		back, err := ParsePath(p.Quoted())
		if err != nil || !back.Equal(p) {
			t.Fatalf("%q is written as %q, and read back as %q, %v", text, p.Quoted(), back.Quoted(), err)
		}
		s := New(p)
		checkInvariants(t, s)
		if s.Has(p) != (len(p) > 0) {
			t.Fatalf("the set of %q does not have it", text)
		}
		// Names may hold bytes that are no UTF-8, which FieldsV1 can't.
		again := mustParse(t, s.FieldsV1())
		if again.FieldsV1() != mustParse(t, again.FieldsV1()).FieldsV1() {
			t.Fatalf("%q does not settle", text)
		}
	})
}

// allocated returns how many bytes the program has asked for so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// mostMemory bounds what reading a text may take: a fixed amount, for what the
// runtime does at the same time, and some bytes for each byte of the text.
func mostMemory(text string, each int) uint64 { return 1<<20 + uint64(each*len(text)) }

// Texts whose cost would be quadratic if the reader were careless, with the memory
// that each byte may take.
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
		start, before := time.Now(), allocated()
		_, err := ParseFieldsV1(test.text)
		if cost := allocated() - before; cost > mostMemory(test.text, test.each) {
			t.Errorf("%s: %d bytes of text take %d bytes of memory", test.name, len(test.text), cost)
		}
		if took := time.Since(start); took > 10*time.Second { // a quadratic reader takes minutes
			t.Errorf("%s: took %v", test.name, took)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("%s: an error of %d bytes", test.name, len(err.Error()))
		}
	}
}

// Reading takes one allocation, whatever the size: the memory of all nodes.
func TestParseFieldsV1Allocations(t *testing.T) {
	text := deployment("app")
	if got := testing.AllocsPerRun(100, func() { _, _ = ParseFieldsV1(text) }); got > 1 {
		t.Errorf("%v allocations, want 1", got)
	}
}
