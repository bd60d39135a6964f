package document

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/access"
)

// canonicalTexts are texts in canonical JSON.
var canonicalTexts = []string{
	`null`, `true`, `false`, `0`, `-0`, `-1.50e+3`, `1E5`, `"a"`, `""`, `{}`, `[]`, `[[],{}]`, `[null]`, `{"":""}`,
	`{"a":1,"b":[1,2,{"c":null}]}`, `{"a":"\n\"","b":"é"}`, `12345678901234567890123`, `1e999`, `-9223372036854775809`,
	`0.10`, `"\u003c\u003e\u0026\u2028\u2029"`, `"\b\f\n\r\t\\\""`, `"\u0000\u001f"`, `"😀"`, `{"A":1,"a":2,"é":3}`,
}

func TestCanonicalTextIsUnchanged(t *testing.T) {
	for _, text := range canonicalTexts {
		v := mustParse(t, text)
		if got := v.JSON(); got != text {
			t.Errorf("ParseJSON(%s).JSON() = %s, want the text unchanged", text, got)
		}
		if got := string(v.AppendJSON([]byte("x"))); got != "x"+text {
			t.Errorf("ParseJSON(%s).AppendJSON(x) = %s, want x and the text unchanged", text, got)
		}
		if v.Kind() >= List && v.form()&canonical == 0 {
			t.Errorf("ParseJSON(%s) is not marked as canonical", text)
		}
	}
}

// nonCanonicalTexts are valid but not canonical JSON; want is the canonical JSON of text.
var nonCanonicalTexts = []struct{ text, want string }{
	{" 1\n", `1`},
	{"\t{ }\r\n", `{}`},
	{`[ ]`, `[]`},
	{`[1 ,2]`, `[1,2]`},
	{`[1, 2]`, `[1,2]`},
	{`[ 1,2 ]`, `[1,2]`},
	{`{"a" :1}`, `{"a":1}`},
	{`{"a": 1}`, `{"a":1}`},
	{`{ "a":1 }`, `{"a":1}`},
	{`{"b":1,"a":2}`, `{"a":2,"b":1}`},
	{`{"b":{"d":1,"c":2},"a":2}`, `{"a":2,"b":{"c":2,"d":1}}`},
	{`{"x":[{"b":1,"a":2}]}`, `{"x":[{"a":2,"b":1}]}`},
	{`{"\u0062":1,"a":2}`, `{"a":2,"b":1}`},
	{`{"b":1,"\u0061":2}`, `{"a":2,"b":1}`},
	{`{"\u0062":1,"\u0061":2}`, `{"a":2,"b":1}`},
	{`{"abcdefghz":1,"abcdefgha":2}`, `{"abcdefgha":2,"abcdefghz":1}`},
	{`{"abcdefgh1":1,"abcdefgh":2}`, `{"abcdefgh":2,"abcdefgh1":1}`},
	{`{"ab":1,"a":2,"":3}`, `{"":3,"a":2,"ab":1}`},
	{`["<a>"]`, `["\u003ca\u003e"]`},
	{`{"a&b":1}`, `{"a\u0026b":1}`},
	{`["\u0061"]`, `["a"]`},
	{`["\/"]`, `["/"]`},
	{`["\u000a"]`, `["\n"]`},
	{`["\u003C"]`, `["\u003c"]`},
	{"[\"\u2028\"]", `["\u2028"]`},
	{`["\ud83d\ude00"]`, `["😀"]`},
	{`["\u00e9"]`, `["é"]`},
	{"[\"\x7f\"]", "[\"\x7f\"]"},
}

func TestNonCanonicalTextIsRewritten(t *testing.T) {
	for _, test := range nonCanonicalTexts {
		v := mustParse(t, test.text)
		if got := v.JSON(); got != test.want {
			t.Errorf("ParseJSON(%s).JSON() = %s, want %s", test.text, got, test.want)
		}
		if again := mustParse(t, test.want); !Equal(v, again) {
			t.Errorf("Equal(%s, its canonical JSON) = false, want true", test.text)
		}
	}
}

// TestOnlyEnclosingContainersAreNonCanonical checks that a deviation from canonical JSON affects only the containers
// around it, not their siblings.
func TestOnlyEnclosingContainersAreNonCanonical(t *testing.T) {
	v := mustParse(t, `{"a":{"b":[1,2]},"c":[ 1],"d":{"e":{}}}`)
	for _, test := range []struct {
		name string
		want form
	}{{"a", canonical}, {"c", 0}, {"d", canonical}} {
		if got := v.Get(test.name).form(); got != test.want {
			t.Errorf("%s: form = %b, want %b", test.name, got, test.want)
		}
	}
	if v.form() != 0 {
		t.Error("the root is marked as canonical although a field of it is not")
	}
}

// badTexts are texts that both this package and encoding/json reject; want is the error of this package.
var badTexts = []struct{ text, want string }{
	{``, `line 1, column 1: expected a value, received the end of the document`},
	{` `, `line 1, column 2: expected a value, received the end of the document`},
	{`x`, `line 1, column 1: expected a value, received 'x'`},
	{`tru`, `line 1, column 1: expected true, received "tru"`},
	{`nulL`, `line 1, column 1: expected null, received "nulL"`},
	{`1 2`, `line 1, column 3: expected the end of the document, received '2'`},
	{`{}}`, `line 1, column 3: expected the end of the document, received '}'`},
	{`01`, `line 1, column 2: expected the end of the document, received '1'`},
	{`-`, `line 1, column 1: expected a number, received "-"`},
	{`1.`, `line 1, column 1: expected a number, received "1."`},
	{`[.5]`, `line 1, column 2: [0]: expected a value, received '.'`},
	{`[+1]`, `line 1, column 2: [0]: expected a value, received '+'`},
	{`1e`, `line 1, column 1: expected a number, received "1e"`},
	{`1e+`, `line 1, column 1: expected a number, received "1e+"`},
	{`[1.x, 2]`, `line 1, column 2: [0]: expected a number, received "1.x"`},
	{`{"a":trueish}`, `line 1, column 10: .a: expected , or } after a field, received 'i'`},
	{`[nothing-of-this-sort-is-known-to-anybody-here]`, `line 1, column 2: [0]: expected null, received "nothing-of-this-sort-is-known-to-anybody…"`},
	{`0x10`, `line 1, column 2: expected the end of the document, received 'x'`},
	{`NaN`, `line 1, column 1: expected a value, received 'N'`},
	{`[1,]`, `line 1, column 4: [1]: expected a value, received ']'`},
	{`[1 2]`, `line 1, column 4: [0]: expected , or ] after a list item, received '2'`},
	{`[1`, `line 1, column 3: [0]: expected , or ] after a list item, received the end of the document`},
	{`[`, `line 1, column 2: [0]: expected a value, received the end of the document`},
	{`{`, `line 1, column 2: expected a field name in quotes, received the end of the document`},
	{`{"a":1,}`, `line 1, column 8: expected a field name in quotes, received '}'`},
	{`{a:1}`, `line 1, column 2: expected a field name in quotes, received 'a'`},
	{`{"a" 1}`, `line 1, column 6: .a: expected : after a field name, received '1'`},
	{`{"a"`, `line 1, column 5: .a: expected : after a field name, received the end of the document`},
	{`{"a":}`, `line 1, column 6: .a: expected a value, received '}'`},
	{`{"a":1 "b":2}`, `line 1, column 8: .a: expected , or } after a field, received '"'`},
	{`{"a":1`, `line 1, column 7: .a: expected , or } after a field, received the end of the document`},
	{`"a`, `line 1, column 3: expected a closing quote, received the end of the document`},
	{`"\`, `line 1, column 3: expected a closing quote, received the end of the document`},
	{`"\"`, `line 1, column 4: expected a closing quote, received the end of the document`},
	{`"\x"`, `line 1, column 2: expected an escape such as \n or \u00e9, received "\\x"`},
	{`"é\u12"`, `line 1, column 3: expected an escape such as \n or \u00e9, received "\\u12"`},
	{"\"a\nb\"", `line 1, column 3: expected control characters in strings to be escaped, received '\n'`},
	{"\"\x00\"", `line 1, column 2: expected control characters in strings to be escaped, received '\x00'`},
	{"{\n  \"a\": {\n    \"é\": [1, {\"b\": ?}]\n  }\n}", `line 3, column 20: .a.é[1].b: expected a value, received '?'`},
	{"\ufeff{}", `line 1, column 1: expected a value, received '\ufeff'`},
	{"{\"a\":1}\x00", `line 1, column 8: expected the end of the document, received '\x00'`},
}

// strictTexts are texts that this package rejects and encoding/json accepts: encoding/json keeps the last of duplicate
// fields and replaces invalid Unicode.
var strictTexts = []struct{ text, want string }{
	{`{"a":1,"a":2}`, `line 1, column 8: .a: the field occurs twice in one map, first on line 1, column 2; remove one of them`},
	{"{\"a\":1,\n\"b\":2,\n\"a\":3}", `line 3, column 1: .a: the field occurs twice in one map, first on line 1, column 2; remove one of them`},
	{`{"x":[{"b":1,"\u0061":1,"a":2}]}`, `line 1, column 25: .x[0].a: the field occurs twice in one map, first on line 1, column 14; remove one of them`},
	{`["\ud800"]`, `line 1, column 3: [0]: expected both halves of a surrogate pair, such as \ud83d\ude00, received "\\ud800"`},
	{`"\ude00\ud83d"`, `line 1, column 2: expected both halves of a surrogate pair, such as \ud83d\ude00, received "\\ude00"`},
	{`"\ud83d\u0061"`, `line 1, column 2: expected both halves of a surrogate pair, such as \ud83d\ude00, received "\\ud83d"`},
	{"{\"a\":\"\xff\"}", `line 1, column 7: .a: expected UTF-8, received the byte 0xff`},
	{"{\"\xc3\":1}", `line 1, column 3: expected UTF-8, received the byte 0xc3`},
	{"\"\xed\xa0\x80\"", `line 1, column 2: expected UTF-8, received the byte 0xed`}, // a surrogate, encoded as UTF-8
	{"\"\xc0\x80\"", `line 1, column 2: expected UTF-8, received the byte 0xc0`},     // an overlong encoding of U+0000
}

func TestErrors(t *testing.T) {
	for _, test := range badTexts {
		checkError(t, test.text, test.want)
		if json.Valid([]byte(test.text)) {
			t.Errorf("encoding/json accepts %q, want an error", test.text)
		}
	}
	for _, test := range strictTexts {
		checkError(t, test.text, test.want)
		if !json.Valid([]byte(test.text)) {
			t.Errorf("encoding/json rejects %q, want no error", test.text)
		}
	}
}

func checkError(t *testing.T, text, want string) {
	t.Helper()
	v, err := ParseJSON([]byte(text))
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		t.Errorf("%q: error = %v, want a SyntaxError", text, err)
		return
	}
	if err.Error() != want {
		t.Errorf("%q:\nerror = %s\nwant    %s", text, err, want)
	}
	if !v.IsAbsent() {
		t.Errorf("%q: value = %s, want absent with an error", text, v)
	}
}

func TestSyntaxErrorFields(t *testing.T) {
	_, err := ParseJSON([]byte("{\"spec\":\n{\"items\":[1,{\"name\":tru}]}}"))
	want := SyntaxError{Line: 2, Column: 21, Path: ".spec.items[1].name", Problem: `expected true, received "tru"`}
	if got := *err.(*SyntaxError); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDepthLimit(t *testing.T) {
	const levels = 100_000
	for name, text := range map[string]string{
		"lists":        strings.Repeat("[", levels) + strings.Repeat("]", levels),
		"maps":         strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels),
		"open lists":   strings.Repeat("[", levels),
		"open maps":    strings.Repeat(`{"a":`, levels),
		"mixed levels": strings.Repeat(`[{"a":`, levels/2),
	} {
		start := time.Now()
		_, err := ParseJSON([]byte(text))
		if err == nil || !strings.Contains(err.Error(), "nested more than 9984 deep") {
			t.Errorf("%s: error = %.200v, want \"nested more than 9984 deep\"", name, err)
		}
		if len(err.Error()) > 5000 {
			t.Errorf("%s: the error has %d bytes, want at most 5000", name, len(err.Error()))
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: parsing took %v, want at most 1s", name, took)
		}
	}
	deep := strings.Repeat("[", DefaultMaxDepth) + strings.Repeat("]", DefaultMaxDepth)
	v := mustParse(t, deep)
	if v.JSON() != deep || !Equal(v, mustParse(t, " "+deep)) || Compare(v, v) != 0 {
		t.Error("a document of the maximum depth is not written as it was parsed")
	}
	_, err := ParseJSONLimited([]byte(`{"a":[{}]}`), Limits{MaxDepth: 2})
	if want := "line 1, column 7: .a[0]: lists and maps are nested more than 2 deep"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestSizeLimit(t *testing.T) {
	limits := Limits{MaxBytes: 10}
	if _, err := ParseJSONLimited([]byte(`"12345678"`), limits); err != nil {
		t.Error(err)
	}
	want := "line 1, column 1: the document has 11 bytes, more than the limit of 10; split it or raise the limit"
	for name, parse := range map[string]func([]byte, Limits) (Value, error){
		"JSON":     ParseJSONLimited[[]byte],
		"YAML":     ParseYAMLLimited,
		"unparsed": func(text []byte, l Limits) (Value, error) { return parseUnparsed(text, l, "a") },
	} {
		if _, err := parse([]byte(`"123456789"`), limits); err == nil || err.Error() != want {
			t.Errorf("%s: error = %v, want %s", name, err, want)
		}
	}
	large := []byte(`"` + strings.Repeat("x", DefaultMaxBytes) + `"`)
	if _, err := ParseJSON(large); err == nil {
		t.Error("ParseJSON accepted a document larger than DefaultMaxBytes, want an error")
	}
	if _, err := ParseJSONLimited(large, Limits{MaxBytes: -1}); err != nil {
		t.Error(err)
	}
}

// TestHostileErrorsAreSmall checks that errors do not quote large parts of the input.
func TestHostileErrorsAreSmall(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, text := range []string{
		`{"` + long + `":tru}`, `{"` + long + `":1,"` + long + `":2}`, `"` + long + `\x"`,
		long + ": [", long + ": !!int x", "a: !!int " + long, "? " + long + "\n: *x", "a: *" + long,
	} {
		_, err := ParseYAML([]byte(text))
		if err == nil || len(err.Error()) > 5000 {
			t.Errorf("%.30s…: the error has %d bytes, want at most 5000", text, len(err.Error()))
		}
	}
}

func TestInputMayBeReused(t *testing.T) {
	for _, text := range []string{`{"a":[1,"b",{"c":"d"}]}`, `{ "a" : "\u0061" }`, "a: [b, 'c']\nd: |\n  e\n"} {
		buffer := []byte(text)
		v, err := ParseYAML(buffer)
		if err != nil {
			t.Fatal(err)
		}
		before := v.JSON()
		for i := range buffer {
			buffer[i] = '#'
		}
		if after := string(v.AppendJSON(nil)); after != before {
			t.Errorf("changing the input buffer changed the parsed value from %s to %s", before, after)
		}
	}
}

func TestAllocations(t *testing.T) {
	text := []byte(podText)
	if got := testing.AllocsPerRun(100, func() { _, _ = ParseJSON(text) }); got > 4 {
		t.Errorf("parsing a canonical object takes %v allocations, want at most 4", got)
	}
	v := mustParse(t, podText)
	buffer := make([]byte, 0, 2*len(text))
	if got := testing.AllocsPerRun(100, func() { buffer = v.AppendJSON(buffer[:0]) }); got > 0 {
		t.Errorf("writing into a large enough buffer takes %v allocations, want none", got)
	}
}

// TestStringsAsEncodingJSON checks that AppendString escapes like encoding/json, for strings of two characters from all
// byte classes.
func TestStringsAsEncodingJSON(t *testing.T) {
	runes := []rune{0x7f, 0x80, 0x9f, 0xa0, 'é', 0x2027, 0x2028, 0x2029, 0x202a, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x10ffff}
	for r := range rune(0x80) {
		runes = append(runes, r)
	}
	for _, a := range runes {
		for _, b := range runes {
			s := string(a) + string(b)
			want, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := AppendString(nil, s); string(got) != string(want) {
				t.Fatalf("AppendString(%q) = %s, encoding/json returns %s", s, got, want)
			}
			if back := mustParse(t, string(want)); back.Text() != s {
				t.Fatalf("ParseJSON(%s).Text() = %q, want %q", want, back.Text(), s)
			}
		}
	}
	for _, s := range []string{"\xff", "a\xc3b", "\xed\xa0\x80"} {
		want, _ := json.Marshal(s)
		if got := string(AppendString(nil, s)); got != string(want) {
			t.Errorf("AppendString(%q) = %s, encoding/json returns %s", s, got, want)
		}
	}
}

// podText is a typical object as an API server stores it.
const podText = `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"app":"web","tier":"front"},"name":"web","namespace":"default"},` +
	`"spec":{"containers":[{"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"image":"registry.example/web:1.2.3",` +
	`"name":"web","ports":[{"containerPort":8080,"name":"http","protocol":"TCP"}],"resources":{"limits":{"cpu":"500m","memory":"128Mi"}}}],` +
	`"restartPolicy":"Always"}}`

func BenchmarkParse(b *testing.B) {
	text := []byte(`[` + strings.Repeat(podText+",", 10) + `1]`)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ParseJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("std", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if err := json.Unmarshal(text, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestFiniteNumbers checks that Limits.FiniteNumbers rejects exactly the numbers that encoding/json cannot decode as float64,
// with their path, also in values that stay unparsed.
func TestFiniteNumbers(t *testing.T) {
	digits := strings.Repeat("9", 308)
	for _, literal := range []string{"0", "1e308", "1e309", "-1e309", "1.7976931348623157e308", "1.7976931348623159e308", "9e999", "1E400", "1e-400", "1e0000000001",
		digits, digits + "9", "-" + digits + "9", "0." + digits + "999", "1" + digits + "e-10", digits + "00e-2", "12345678901234567890123"} {
		var f float64
		finite := json.Unmarshal([]byte(literal), &f) == nil
		for _, text := range []string{literal, `{"a":[1,{"b":` + literal + `}]}`} {
			if _, err := ParseJSON(text); err != nil {
				t.Errorf("%s without the limit: %v", text, err)
			}
			_, err := parseJSON(nil, text, Limits{FiniteNumbers: true}, []string{"a", access.AnyItem}, Value{})
			if (err == nil) != finite || !finite && !errors.Is(err, ErrNumberRange) {
				t.Errorf("%s: error = %v, want one: %v", text, err, !finite)
			}
			if !finite && text != literal && !strings.Contains(err.Error(), ".a[1].b: expected a number in the range of float64, received ") {
				t.Errorf("%s: error = %v, want the path", text, err)
			}
		}
	}
	if v, err := ParseYAMLLimited([]byte("a: 1e400"), Limits{FiniteNumbers: true}); err != nil || v.JSON() != `{"a":"1e400"}` {
		t.Errorf("YAML without a tag: got %v, %v, want a string", v, err)
	}
	if _, err := ParseYAMLLimited([]byte("a: !!float 1e400"), Limits{FiniteNumbers: true}); !errors.Is(err, ErrNumberRange) {
		t.Errorf("YAML with the tag !!float: error = %v, want ErrNumberRange", err)
	}
}
