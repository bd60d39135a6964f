package fieldset

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// validTexts are FieldsV1 that this package and upstream accept; want is the FieldsV1 that both write, "" if it is the
// text itself. The texts also seed the fuzz tests.
var validTexts = []struct{ name, text, want string }{
	{"empty", `{}`, ""},
	{"null as the empty set", `null`, `{}`},
	{"a member", `{"f:a":{}}`, ""},
	{"all kinds in order", `{"f:a":{},"k:{\"name\":\"x\"}":{},"v:\"x\"":{},"i:0":{}}`, ""},
	{"all kinds out of order", `{"i:0":{},"v:\"x\"":{},"k:{\"name\":\"x\"}":{},"f:a":{}}`, `{"f:a":{},"k:{\"name\":\"x\"}":{},"v:\"x\"":{},"i:0":{}}`},
	{"a member with one below", `{"f:a":{".":{},"f:b":{}}}`, ""},
	{"dot last", `{"f:a":{"f:b":{},".":{}}}`, `{"f:a":{".":{},"f:b":{}}}`},
	{"dot alone", `{"f:a":{".":{}}}`, `{"f:a":{}}`},
	{"dot at the root", `{".":{},"f:a":{}}`, `{"f:a":{}}`},
	{"duplicate dot", `{"f:a":{".":{},".":{},"f:b":{}}}`, `{"f:a":{".":{},"f:b":{}}}`},
	{"an escaped dot", `{"f:a":{"\u002e":{},"f:b":{}}}`, `{"f:a":{".":{},"f:b":{}}}`},
	{"dot with any value", `{"f:a":{".":[1,{"x":"}\""},null,-1.5e3,true,"a,b"],"f:b":{}}}`, `{"f:a":{".":{},"f:b":{}}}`},
	{"null instead of an object", `{"f:a":null,"f:b":{"f:c":null}}`, `{"f:a":{},"f:b":{"f:c":{}}}`},
	{"white space", " \t\r\n{ \"f:a\" : { \"f:b\" : { } , \".\" : { } } , \"f:c\" : null } \n", `{"f:a":{".":{},"f:b":{}},"f:c":{}}`},
	{"an escaped prefix", `{"\u0066:name":{},"f\u003abc":{}}`, `{"f:bc":{},"f:name":{}}`},
	{"an escaped name", `{"f:\u006e\u00e9\ud83d\ude00\/\"\\\b\f\n\r\t":{}}`, `{"f:né😀/\"\\\u0008\u000c\n\r\t":{}}`},
	{"HTML characters in a name", `{"f:<&>":{}}`, `{"f:\u003c\u0026\u003e":{}}`},
	{"HTML characters in keys", `{"k:{\"<\":\"<\"}":{}}`, `{"k:{\"\u003c\":\"\\u003c\"}":{}}`},
	{"an empty name", `{"f:":{}}`, ""},
	{"names that look like other syntax", `{"f:f:a":{},"f:.":{},"f:{}":{},"f:k:{}":{}}`, `{"f:.":{},"f:f:a":{},"f:k:{}":{},"f:{}":{}}`},
	{"unknown prefixes", `{"x:y":{"f:a":{}},"f:b":{},"::":{},"F:a":1,"x:🙂":[]}`, `{"f:b":{}}`},
	{"only unknown prefixes make a member", `{"f:a":{"x:y":{}}}`, `{"f:a":{}}`},
	{"ignored values may have duplicates", `{"x:y":{"a":1,"a":2},"f:b":{}}`, `{"f:b":{}}`},
	{"duplicate", `{"f:a":{},"f:a":{}}`, `{"f:a":{}}`},
	{"duplicate: the last with children wins", `{"f:a":{"f:b":{}},"f:a":{"f:c":{}}}`, `{"f:a":{"f:c":{}}}`},
	{"duplicate: member if the first is", `{"f:a":{"f:b":{}},"f:a":{}}`, `{"f:a":{".":{},"f:b":{}}}`},
	{"duplicate: member if the second is", `{"f:a":{},"f:a":{"f:b":{}}}`, `{"f:a":{".":{},"f:b":{}}}`},
	{"three duplicates, not adjacent", `{"f:b":{"f:x":{}},"f:a":{},"f:b":{},"f:c":{},"f:b":{"f:y":{}},"f:b":null}`, `{"f:a":{},"f:b":{".":{},"f:y":{}},"f:c":{}}`},
	{"duplicate by value", `{"v:1":{},"v:1.0":{"f:a":{}},"v:1e0":{"f:b":{}}}`, `{"v:1":{".":{},"f:b":{}}}`},
	{"an empty key", `{"k:{}":{}}`, ""},
	{"null as an empty key", `{"k:null":{}}`, `{"k:{}":{}}`},
	{"keys out of order", `{"k:{\"b\":1,\"a\":\"x\"}":{}}`, `{"k:{\"a\":\"x\",\"b\":1}":{}}`},
	{"keys with white space", `{"k: { \"b\" : 1 , \"a\" : [ ] } ":{}}`, `{"k:{\"a\":[],\"b\":1}":{}}`},
	{"keys in order", `{"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:name":{}}}`, ""},
	{"keys of all kinds", `{"k:{\"a\":null,\"b\":true,\"c\":-1.5,\"d\":[1,\"x\"],\"e\":{\"y\":{},\"z\":false}}":{}}`, ""},
	{"a key with an empty name", `{"k:{\"\":\"\"}":{}}`, ""},
	{"an escaped key", `{"\u006b:{\"\u006eame\":\"\u0061pp\"}":{}}`, `{"k:{\"name\":\"app\"}":{}}`},
	{"a key escaped inside", `{"k:{\"\\u006eame\":\"\\u0061pp\\u003c\"}":{}}`, `{"k:{\"name\":\"app\\u003c\"}":{}}`},
	{"key order by number, not by text", `{"k:{\"p\":80}":{},"k:{\"p\":443}":{},"k:{\"p\":8080}":{}}`, ""},
	{"key order by text, not by spelling", `{"k:{\"n\":\"a\"}":{},"k:{\"n\":\"aB\"}":{},"k:{\"n\":\"a~\"}":{}}`, ""},
	{"key order: shorter first", `{"k:{}":{},"k:{\"a\":1}":{},"k:{\"a\":1,\"b\":1}":{},"k:{\"b\":0}":{}}`, ""},
	{"values of all kinds in order", `{"v:-1":{},"v:0.5":{},"v:10":{},"v:\"\"":{},"v:\"a\\u003c\"":{},"v:false":{},"v:true":{},"v:[]":{},"v:[1]":{},"v:{}":{},"v:{\"a\":1}":{},"v:null":{}}`, ""},
	{"other spellings of values", `{"v: 1":{},"v:2e0":{},"v:\"\\u0061\"":{},"v:[ 3 ]":{}}`, `{"v:1":{},"v:2":{},"v:\"a\"":{},"v:[3]":{}}`},
	{"small numbers", `{"v:1e-7":{},"v:0.000001":{}}`, `{"v:1e-07":{},"v:0.000001":{}}`},
	{"large numbers", `{"k:{\"a\":1000000000000000000000}":{},"k:{\"a\":1e22}":{}}`, `{"k:{\"a\":1e+21}":{},"k:{\"a\":1e+22}":{}}`},
	{"indices", `{"i:-1":{},"i:+2":{},"i:010":{},"i:9":{}}`, `{"i:-1":{},"i:2":{},"i:9":{},"i:10":{}}`},
}

// invalidTexts are texts that this package and upstream reject; want is the error of this package.
var invalidTexts = []struct{ name, text, want string }{
	{"empty input", ``, `at byte 0: expected '{', received the end`},
	{"space", ` `, `at byte 1: expected '{', received the end`},
	{"a list", `[]`, `at byte 0: expected '{', received '['`},
	{"a string", `"f:a"`, `at byte 0: expected '{'`},
	{"truncated null", `nul`, `at byte 0: expected '{'`},
	{"not closed", `{`, `at byte 1: expected '"', received the end`},
	{"not closed after a name", `{"f:a":{}`, `at byte 9: expected '}', received the end`},
	{"a name not closed", `{"f:a`, `expected a closing quote, received the end`},
	{"a name that ends in a backslash", `{"f:a\`, `expected a closing quote, received the end`},
	{"a name without a value", `{"f:a"}`, `at byte 6: expected ':', received '}'`},
	{"extra comma", `{"f:a":{},}`, `at byte 10: expected '"', received '}'`},
	{"missing comma", `{"f:a":{} "f:b":{}}`, `at byte 10: expected '}', received '"'`},
	{"trailing data", `{} {}`, `at byte 3: expected the end, received '{'`},
	{"trailing data after null", `null x`, `at byte 5: expected the end, received 'x'`},
	{"number instead of an object", `{"f:a":1}`, `at byte 7: expected '{', received '1'`},
	{"list instead of an object", `{"f:a":[]}`, `at byte 7: expected '{', received '['`},
	{"number instead of an object, deeper", `{"f:a":{"f:b":true}}`, `at byte 14: expected '{', received 't'`},
	{"no name", `{"":{}}`, `at byte 2: expected a path element such as f:name, received ""`},
	{"name too short", `{"f":{}}`, `expected a path element such as f:name, received "f"`},
	{"no prefix", `{"name":{}}`, `expected a path element such as f:name, received "name"`},
	{"a bad index", `{"i:x":{}}`, `at byte 2: expected an index after i:, received "x"`},
	{"no index", `{"i:":{}}`, `expected an index after i:, received ""`},
	{"a large index", `{"i:99999999999999999999":{}}`, `expected an index after i:, received "99999999999999999999"`},
	{"a bad value", `{"v:x":{}}`, `at byte 2: expected a JSON value after v:, received "x"`},
	{"no value", `{"v:":{}}`, `expected a JSON value after v:, received ""`},
	{"two values", `{"v:1 2":{}}`, `expected a JSON value after v:, received "1 2"`},
	{"a value between line breaks", `{"v:\nab\n":{}}`, `expected a JSON value after v:, received "\nab\n"`},
	{"a value that ends like a string", `{"v:\nab\"":{}}`, `expected a JSON value after v:, received "\nab\""`},
	{"unterminated string", `{"v:\"ab\\":{}}`, `expected a JSON value after v:`},
	{"a bad key", `{"k:x":{}}`, `at byte 2: expected a JSON object with keys after k:, received "x"`},
	{"a key that is a string", `{"k:\"a\"":{}}`, `expected a JSON object with keys after k:, received "\"a\""`},
	{"a key that is a list", `{"k:[]":{}}`, `expected a JSON object with keys after k:, received "[]"`},
	{"no key", `{"k:":{}}`, `expected a JSON object with keys after k:, received ""`},
	{"a key not closed", `{"k:{\"a\":1":{}}`, `expected a JSON object with keys after k:, received "{\"a\":1"`},
	{"a key with a comma too many", `{"k:{\"a\":1,}":{}}`, `expected a JSON object with keys after k:`},
	{"a key without a colon", `{"k:{\"a\"}":{}}`, `expected a JSON object with keys after k:`},
	{"a key with a leading zero", `{"k:{\"a\":01}":{}}`, `expected a JSON object with keys after k:`},
	{"a key with trailing data", `{"k:{\"a\":1}}":{}}`, `expected a JSON object with keys after k:`},
	{"a bad escape", `{"f:\x":{}}`, `at byte 2: expected a path element`},
	{"a control character", "{\"f:a\nb\":{}}", `at byte 2: expected a path element`},
	{"an ignored value that is not JSON", `{"x:y":{"a"},"f:b":{}}`, `at byte 7: expected a JSON value, received "{\"a\"}"`},
	{"dot without a value", `{"f:a":{".":}}`, `at byte 12: expected a JSON value, received ""`},
	{"too deep", strings.Repeat(`{"f:a":`, 10_000) + "{}" + strings.Repeat("}", 10_000), `nested more than 10000 deep`},
}

func TestParseFieldsV1(t *testing.T) {
	for _, test := range validTexts {
		t.Run(test.name, func(t *testing.T) {
			if test.want == "" {
				test.want = test.text
			}
			s := mustParse(t, test.text)
			checkInvariants(t, s)
			if got := s.FieldsV1(); got != test.want {
				t.Errorf("FieldsV1() = %s\nwant         %s", got, test.want)
			}
			if got := toJSON(t, mustParseUpstream(t, test.text)); got != test.want {
				t.Errorf("upstream writes %s\nwant            %s", got, test.want)
			}
		})
	}
}

func TestParseFieldsV1Errors(t *testing.T) {
	for _, test := range invalidTexts {
		t.Run(test.name, func(t *testing.T) {
			s, err := ParseFieldsV1(test.text)
			switch {
			case err == nil:
				t.Errorf("ParseFieldsV1(%s) = %s, want an error", test.text, s.FieldsV1())
			case !strings.HasPrefix(err.Error(), "field set: at byte ") || !strings.Contains(err.Error(), test.want):
				t.Errorf("ParseFieldsV1(%s) error = %v, want it to contain %s", test.text, err, test.want)
			}
			if _, err := parseUpstream(test.text); err == nil {
				t.Errorf("upstream accepts %s, want an error", test.text)
			}
		})
	}
}

func TestDeepestSet(t *testing.T) {
	text := strings.Repeat(`{"f:a":`, 9_999) + "{}" + strings.Repeat("}", 9_999)
	if !checkLikeUpstream(t, text) {
		t.Error("ParseFieldsV1 rejects 10000 nested levels, want no error")
	}
}

// TestParsedLevelsDoNotOverlap checks that the slice of each level has no spare capacity, because levels share one
// array and appending must not overwrite the next level. It also checks that a pooled stack holds no references to
// sets.
func TestParsedLevelsDoNotOverlap(t *testing.T) {
	var check func(s Set)
	check = func(s Set) {
		if cap(s.children) != len(s.children) {
			t.Fatalf("level of length %d has capacity %d, want no spare capacity", len(s.children), cap(s.children))
		}
		for i := range s.Len() {
			check(s.Child(i))
		}
	}
	check(mustParse(t, deployment("app")))
	_, _ = ParseFieldsV1(deployment("app") + "x")
	stack := *stacks.Get().(*[]node)
	for _, n := range stack[:cap(stack)] {
		if n.text != "" || n.children != nil {
			t.Fatalf("the pooled stack refers to element %s, want no references", n.element())
		}
	}
}

// TestRoundTrip checks that this package and upstream parse each other's output as the same set.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(2000) {
		r := newRand(seed)
		p := randomSetPair(r, randomElements(r))
		text := p.ours.FieldsV1()
		if back := mustParse(t, text); !back.Equal(p.ours) {
			t.Fatalf("seed %d: ParseFieldsV1(%s) = %s, want the same set", seed, text, back.FieldsV1())
		}
		checkSame(t, text, p.ours, mustParseUpstream(t, text))
		raw, err := p.upstream.ToJSON()
		if err != nil || !mustParse(t, string(raw)).Equal(p.ours) {
			t.Fatalf("seed %d: parsing upstream's output %s does not return the set %s", seed, raw, text)
		}
	}
	checkLikeUpstream(t, deployment("app"))
	if text := deployment("app"); mustParse(t, text).FieldsV1() != text {
		t.Error("parsing and writing the FieldsV1 of a Deployment changes it, want it unchanged")
	}
}

func TestMutatedTexts(t *testing.T) {
	read := 0
	for seed := range uint64(6000) {
		r := newRand(seed)
		text := randomSetPair(r, randomElements(r)).ours.FieldsV1()
		if seed%3 == 0 {
			text = validTexts[r.IntN(len(validTexts))].text
		}
		for range 1 + r.IntN(3) {
			text = mutate(r, text)
		}
		if checkLikeUpstream(t, text) {
			read++
		}
	}
	if read < 1000 {
		t.Errorf("only %d mutated texts are valid, want at least 1000", read)
	}
}

// mutationFragments are pieces of FieldsV1 and of other JSON that mutate inserts.
var mutationFragments = []string{
	`{}`, `null`, `".":{},`, `"f:a":{},`, `"f:a":{"f:b":{}},`, `"x:y":[{}],`, `"k:{\"a\":1}":{},`, `"v:1":null,`, `"i:1":{},`, `"f:a":1,`,
	" ", "\n", ",", ":", `"`, `\`, `\"`, "{", "}", "[", "]", "0", "-", "e", ".", "true", `\u0066`, `\\u003c`, "<", "\u2028", "é", "\x01", "\xff",
}

// mutate returns a randomly modified text, which often still is valid FieldsV1.
func mutate(r *rand.Rand, text string) string {
	i := r.IntN(len(text) + 1)
	j := min(len(text), i+r.IntN(12))
	switch r.IntN(6) {
	case 0:
		return text[:i] + text[j:]
	case 1:
		return text[:i] + text[i:j] + text[i:j] + text[j:]
	case 2:
		return text[:i] + mutationFragments[r.IntN(len(mutationFragments))] + text[i:]
	case 3: // insert an entry at the start of an object
		if at := strings.IndexByte(text[i:], '{'); at >= 0 {
			return text[:i+at+1] + mutationFragments[2+r.IntN(8)] + text[i+at+1:]
		}
	case 4:
		if i < len(text) && text[i] > ' ' && text[i] < 0x7f {
			return fmt.Sprintf(`%s\u%04x%s`, text[:i], text[i], text[i+1:])
		}
	case 5:
		if at := strings.Index(text[i:], "{}"); at >= 0 {
			return text[:i+at] + "null" + text[i+at+2:]
		}
	}
	return text
}

// checkLikeUpstream fails the test unless this package and upstream parse text to the same set, or both reject text.
// The differences of differences_test.go are allowed. It reports whether text is valid.
func checkLikeUpstream(t *testing.T, text string) bool {
	t.Helper()
	ours, err := ParseFieldsV1(text)
	upstream, upstreamErr := parseUpstream(text)
	switch {
	case err != nil && upstreamErr == nil && !isAcceptedOnlyByUpstream(text):
		t.Fatalf("ParseFieldsV1(%q): error %v\nwant upstream's set %s", text, err, toJSON(t, upstream))
	case err == nil && upstreamErr != nil && !extremeNumbers.MatchString(text):
		t.Fatalf("ParseFieldsV1(%q) = %s\nwant an error as from upstream: %v", text, ours.FieldsV1(), upstreamErr)
	case err == nil && upstreamErr == nil && !extremeNumbers.MatchString(text):
		checkSame(t, fmt.Sprintf("%q", text), ours, upstream)
	}
	if err != nil {
		return false
	}
	checkInvariants(t, ours)
	if back := mustParse(t, ours.FieldsV1()); !back.Equal(ours) {
		t.Fatalf("%q is written as %s, which is read back as %s; want the same set", text, ours.FieldsV1(), back.FieldsV1())
	}
	return true
}

// extremeNumbers matches texts that may contain a number that upstream rounds or rejects.
var extremeNumbers = regexp.MustCompile(`-0|[0-9]{16}|[eE][+-]?[0-9]{3}`)

// isAcceptedOnlyByUpstream reports whether upstream accepts text although this package must reject it. It does not use
// this package's parser.
func isAcceptedOnlyByUpstream(text string) bool {
	if !utf8.ValidString(text) || !json.Valid([]byte(text)) || surrogateEscape.MatchString(text) {
		return true
	}
	tokens := json.NewDecoder(strings.NewReader(text))
	for {
		token, err := tokens.Token()
		if err != nil {
			return false
		}
		name, _ := token.(string)
		if strings.HasPrefix(name, "v:") || strings.HasPrefix(name, "k:") {
			if body := name[2:]; !json.Valid([]byte(body)) || hasDuplicateNames(json.NewDecoder(strings.NewReader(body))) {
				return true
			}
		}
	}
}

// surrogateEscape matches the \u escape of one half of a surrogate pair.
var surrogateEscape = regexp.MustCompile(`(?i)ud[89a-f]`)

// hasDuplicateNames reads the next value of tokens, and reports whether a JSON object at any depth of that value
// contains a name twice.
func hasDuplicateNames(tokens *json.Decoder) bool {
	token, err := tokens.Token()
	if err == io.EOF || err != nil {
		return false
	}
	names := map[any]bool{}
	switch token {
	case json.Delim('['):
		for tokens.More() {
			if hasDuplicateNames(tokens) {
				return true
			}
		}
		_, _ = tokens.Token()
	case json.Delim('{'):
		for tokens.More() {
			name, _ := tokens.Token()
			if names[name] || hasDuplicateNames(tokens) {
				return true
			}
			names[name] = true
		}
		_, _ = tokens.Token()
	}
	return false
}
