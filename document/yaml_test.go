package document

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	sigs "sigs.k8s.io/yaml"
)

// yamlTexts are texts that this package and sigs.k8s.io/yaml read as the same value, except for the precision of
// numbers; want is the result of ParseYAML.
var yamlTexts = []struct{ text, want string }{
	// empty documents
	{"", `null`}, {"\n", `null`}, {"# only a comment\n", `null`}, {"---\n", `null`}, {"---\n...\n", `null`}, {"~", `null`},
	{"a:", `{"a":null}`}, {"a: null\nb: Null\nc: NULL\nd: ~\ne: nULL", `{"a":null,"b":null,"c":null,"d":null,"e":"nULL"}`},
	{"- \n-", `[null,null]`}, {"{}", `{}`}, {"[]", `[]`}, {"''", `""`}, {"a: {}\nb: []\nc: ''\nd: 0\ne: false", `{"a":{},"b":[],"c":"","d":0,"e":false}`},

	// words that are booleans in YAML 1.1
	{"[yes, Yes, YES, y, Y, on, On, ON, true, True, TRUE]", `[true,true,true,true,true,true,true,true,true,true,true]`},
	{"[no, No, NO, n, N, off, Off, OFF, false, False, FALSE]", `[false,false,false,false,false,false,false,false,false,false,false]`},
	{"[yEs, oN, tRUE, 'yes', \"no\"]", `["yEs","oN","tRUE","yes","no"]`},

	// integers
	{"[0, -0, 7, -7, +7, 1_000, 1__0, -_1]", `[0,-0,7,-7,7,1000,10,-1]`},
	{"[010, 0o10, 0O10, -010, 0x1F, 0X1f, -0x10, 0b101, -0b11, +0b1, 0b1_1]", `[8,8,8,-8,31,31,-16,5,-3,1,3]`},
	{"[089, 0_8, 08.5, 00, 007]", `[89,8,8.5,0,7]`},
	{"[9223372036854775807, -9223372036854775808, 9223372036854775808, 18446744073709551615]", `[9223372036854775807,-9223372036854775808,9223372036854775808,18446744073709551615]`},
	{"[0x, 0b2, 0b, 0o9, 1x, +, -, _1, 0xg, 1-2, 0x1ffffffffffffffffff]", `["0x","0b2","0b","0o9","1x","+","-","_1","0xg","1-2","0x1ffffffffffffffffff"]`},

	// floats
	{"[1.0, 1.50, -1.5e+3, 1E5, 1e-2, .5, -.5, 5., +.5, 1., 0.0]", `[1.0,1.50,-1.5e+3,1E5,1e-2,0.5,-0.5,5,0.5,1,0.0]`},
	{"[1_0.5, 1e1_0]", `[10.5,1e10]`},
	{"[1e999, -1e999, .e5, '.', 1e, 1.2.3, 0.5.]", `["1e999","-1e999",".e5",".","1e","1.2.3","0.5."]`},
	{"[1:30, 190:20:30]", `["1:30","190:20:30"]`},
	{"a: 1e-400", `{"a":1e-400}`},

	// strings
	{"[2001-01-01, 2001-12-14T21:59:43.10Z, 2001-12-14 21:59:43]", `["2001-01-01","2001-12-14T21:59:43.10Z","2001-12-14 21:59:43"]`},
	{"a: b c", `{"a":"b c"}`}, {"a: b\n  c\n\n  d", `{"a":"b c\nd"}`}, {"a: 'it''s'", `{"a":"it's"}`},
	{`a: "\x41\u00e9\U0001F600\n\t\0\e\N\_\L\P\"\\"`, `{"a":"Aé😀\n\t\u0000\u001b` + "\u0085\u00a0" + `\u2028\u2029\"\\"}`},
	{"a: \"b\n  c\\\n  d\"", `{"a":"b cd"}`},
	{"a: |\n  b\n   c\n\n  d\n", `{"a":"b\n c\n\nd\n"}`}, {"a: |-\n  b\n", `{"a":"b"}`}, {"a: |+\n  b\n\n", `{"a":"b\n\n"}`}, {"a: |2\n   b\n", `{"a":" b\n"}`},
	{"a: >\n  b\n  c\n\n  d\n", `{"a":"b c\nd\n"}`}, {"a: >-\n  b\n  c\n", `{"a":"b c"}`},
	{"a: b#c\nd: e # f", `{"a":"b#c","d":"e"}`}, {"a: http://x:1/y", `{"a":"http://x:1/y"}`}, {"a: <<", `{"a":"\u003c\u003c"}`},
	{"\ufeffa: b", `{"a":"b"}`}, {"a: b\r\nc: d\r\n", `{"a":"b","c":"d"}`},

	// containers
	{"b: 1\na: 2", `{"a":2,"b":1}`}, {"a:\n- 1\n- 2", `{"a":[1,2]}`}, {"a:\n  - 1\n  -\n    b: c\n  - - d\n    - e", `{"a":[1,{"b":"c"},["d","e"]]}`},
	{"a: [1, [2], {b: c, d}]", `{"a":[1,[2],{"b":"c","d":null}]}`}, {"{\"a\":1, b: 'c',}", `{"a":1,"b":"c"}`}, {"[a: b, c]", `[{"a":"b"},"c"]`},
	{"? a\n: b\n? c", `{"a":"b","c":null}`}, {"- a: b\n  c: d\n- e", `[{"a":"b","c":"d"},"e"]`},

	// names that are not strings
	{"1: a\n-0x10: b\n1_0: c", `{"-16":"b","1":"a","10":"c"}`}, {"yes: a\noff: b", `{"false":"b","true":"a"}`}, {"1.0: a\n1.50: b\n1e20: c\n0.1: d", `{"0.1":"d","1":"a","1.5":"b","1e+20":"c"}`},
	{".inf: a\n-.inf: b\n.nan: c", `{"-.inf":"b",".inf":"a",".nan":"c"}`}, {"2001-01-01: a", `{"2001-01-01":"a"}`}, {"'': a", `{"":"a"}`}, {"\"~\": a", `{"~":"a"}`},
	{"3.14159265358979: a", `{"3.1415927":"a"}`},

	// anchors, aliases and merges
	{"a: &x [1]\nb: *x\nc: [*x]", `{"a":[1],"b":[1],"c":[[1]]}`}, {"&k a: b\nc: *k", `{"a":"b","c":"a"}`}, {"a: &x b\n*x : c", `{"a":"b","b":"c"}`},
	{"a: &x 1\nb: &x 2\nc: *x", `{"a":1,"b":2,"c":2}`}, {"a: &x\nb: *x", `{"a":null,"b":null}`},
	{"a: &x {b: 1, c: 2}\nd:\n  <<: *x\n  b: 3", `{"a":{"b":1,"c":2},"d":{"b":3,"c":2}}`},
	{"d:\n  b: 3\n  <<: {b: 1, c: 2}", `{"d":{"b":1,"c":2}}`},
	{"<<: [{a: 1}, {a: 2, b: 2}]", `{"a":1,"b":2}`}, {"<<: {<<: {a: 1}, b: 2}\nc: 3", `{"a":1,"b":2,"c":3}`}, {"<<: {}", `{}`}, {"<<: []", `{}`},
	{"'<<': {a: 1}", `{"\u003c\u003c":{"a":1}}`}, {"<<: {a: 1}\n<<: {a: 2}", `{"a":2}`},

	// tags
	{"[!!str 1, !!int '1', !!float 1, !!bool 'yes', !!null '', !foo 1, !!foo 1, ! 1]", `["1",1,1,true,null,"1","1","1"]`},
	{"- !\n- !\n  a\n- &a !\n- !", `["","a","",""]`},
	{"&a ! 1", `"1"`}, {"\ufeff! 1", `"1"`}, {"! &a 1", `"1"`}, {"a: !!map {b: !!seq [c]}", `{"a":{"b":["c"]}}`}, {"!!binary aGVsbG8=", `"hello"`}, {"!!timestamp 2001-01-01", `"2001-01-01"`},
	{"!<tag:yaml.org,2002:int> 0x10", `16`},
	{"%YAML 1.1\n---\na: b", `{"a":"b"}`}, {"%TAG ! tag:example.org,2000:\n---\n!x a: b", `{"a":"b"}`},
}

func TestParseYAML(t *testing.T) {
	for _, test := range yamlTexts {
		got, err := ParseYAML([]byte(test.text))
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		if got.JSON() != test.want {
			t.Errorf("ParseYAML(%q)\n=    %s\nwant %s", test.text, got, test.want)
		}
		text, err := sigs.YAMLToJSON([]byte(test.text))
		if err != nil {
			t.Errorf("%q: sigs.k8s.io/yaml: %v", test.text, err)
			continue
		}
		if upstream := mustParse(t, string(text)); !equalAsFloats(got, upstream) {
			t.Errorf("ParseYAML(%q) = %s, sigs.k8s.io/yaml returns %s", test.text, got, upstream)
		}
	}
}

// TestYAMLReadsJSON checks that ParseYAML accepts JSON, even if the text does not start with {, and returns the same
// value as ParseJSON.
func TestYAMLReadsJSON(t *testing.T) {
	for _, text := range canonicalTexts {
		got, err := ParseYAML([]byte(text))
		if err != nil || !Equal(got, mustParse(t, text)) && text != "1e999" {
			t.Errorf("ParseYAML(%s) = %s, %v, want the value of the JSON text", text, got, err)
		}
		text = `{"a":` + text + `}`
		if got, err = ParseYAML([]byte("\n " + text)); err != nil || got.JSON() != text {
			t.Errorf("ParseYAML(%s) = %s, %v, want the value of the JSON text", text, got, err)
		}
	}
}

// TestYAMLReadsJSONEscapes checks a deliberate difference: ParseYAML accepts JSON with escapes that YAML 1.1 lacks;
// sigs.k8s.io/yaml rejects it.
func TestYAMLReadsJSONEscapes(t *testing.T) {
	for text, want := range map[string]string{`["\/"]`: `["/"]`, `{"a":"\/"}`: `{"a":"/"}`, `"\ud83d\ude00"`: `"😀"`} {
		got, err := ParseYAML([]byte(text))
		if err != nil || got.JSON() != want {
			t.Errorf("ParseYAML(%s) = %s, %v, want %s", text, got, err, want)
		}
		if upstream, err := sigs.YAMLToJSON([]byte(text)); err == nil {
			t.Errorf("%s: sigs.k8s.io/yaml returns %s, want an error", text, upstream)
		}
	}
}

// TestYAMLKeepsNumbers checks a deliberate difference: ParseYAML keeps the spelling of numbers; sigs.k8s.io/yaml
// converts them to int64 and float64.
func TestYAMLKeepsNumbers(t *testing.T) {
	for _, test := range []struct{ text, want, upstream string }{
		{"a: 1.0", `{"a":1.0}`, `{"a":1}`},
		{"a: 1e3", `{"a":1e3}`, `{"a":1000}`},
		{"a: 0.10", `{"a":0.10}`, `{"a":0.1}`},
		{"a: 12345678901234567890123", `{"a":12345678901234567890123}`, `{"a":1.2345678901234568e+22}`},
		{"a: +00012345678901234567890123", `{"a":12345678901234567890123}`, `{"a":1.2345678901234568e+22}`},
		{"a: 0.1234567890123456789", `{"a":0.1234567890123456789}`, `{"a":0.12345678901234568}`},
		{"a: -9223372036854775809", `{"a":-9223372036854775809}`, `{"a":-9223372036854776000}`},
	} {
		got, err := ParseYAML([]byte(test.text))
		if err != nil || got.JSON() != test.want {
			t.Errorf("ParseYAML(%q) = %s, %v, want %s", test.text, got, err, test.want)
		}
		if upstream, err := sigs.YAMLToJSON([]byte(test.text)); err != nil || string(upstream) != test.upstream {
			t.Errorf("%q: sigs.k8s.io/yaml returns %s, %v, want %s", test.text, upstream, err, test.upstream)
		}
	}
}

// yamlErrors are texts that ParseYAML rejects with the error want; strict marks texts that sigs.k8s.io/yaml accepts.
var yamlErrors = []struct {
	text, want string
	strict     bool
}{
	{"a: b\n c: d\n", "line 2, column 3: .a.c: a colon is not allowed here; check the indentation, or quote the value", false},
	{"a: b: c", "line 1, column 5: .a: a colon is not allowed here; check the indentation, or quote the value", false},
	{"a:\n  b: 1\n c: 2\n", "line 3, column 2: .a: expected a field name here; check the indentation and quotes", false},
	{"a:\n\tb: 1", "line 2, column 1: expected spaces for indentation, received a tab", false},
	{"spec:\n  containers:\n  - name: a\n    image: @x", "line 4, column 12: .spec.containers[0].image: expected a value, received a character that can't start one; quote it", false},
	{"- a\n- b: 'x' y", "line 2, column 10: [1].b: expected a field name here; check the indentation and quotes", false},
	{"- a\nb: c", "line 2, column 2: .b: expected - and a list item here; check the indentation", false},
	{"a: \"x\nb: 1\n", "line 3, column 1: .b: expected a closing quote, received the end of the document", false},
	{"a: \"\\q\"", "line 1, column 5: .a: expected an escape of YAML, such as \\n or \\u00e9, received another; single quotes need none", false},
	{"a: [1\nb: 2", "line 1, column 5: .a: expected ',' or ']'", false},
	{"é:\n  - a\n  - \xff\n", "line 3, column 5: .é[1]: expected UTF-8, received the byte 0xff", false},
	{"a: \x01\n", "line 1, column 4: .a: control characters are not allowed", false},
	{"a:\n  b: *x", "line 2, column 6: .a.b: the alias *x has no anchor before it", false},
	{"a: &x [1, *x]", "line 1, column 11: .a[1]: the alias *x refers to a node that contains it; remove the alias", false},
	{"a: {b: .inf}", "line 1, column 8: .a.b: expected a number that JSON can express, received .inf", false},
	{"- .nan", "line 1, column 3: [0]: expected a number that JSON can express, received .nan", false},
	{"a: !!int x", "line 1, column 4: .a: expected a scalar that can be read as !!int, received \"x\"", false},
	{"a: !!int 1.5", "line 1, column 4: .a: expected a scalar that can be read as !!int, received \"1.5\"", false},
	{"a: !!float x", "line 1, column 4: .a: expected a scalar that can be read as !!float, received \"x\"", false},
	{"a: !!bool 1", "line 1, column 4: .a: expected a scalar that can be read as !!bool, received \"1\"", false},
	{"a: !!null x", "line 1, column 4: .a: expected a scalar that can be read as !!null, received \"x\"", false},
	{"a: !!timestamp x", "line 1, column 4: .a: expected a scalar that can be read as !!timestamp, received \"x\"", false},
	{"a: !!binary '*'", "line 1, column 4: .a: expected a scalar that can be read as !!binary, received \"*\"", false},
	{"? [a]\n: b", "line 1, column 3: expected a field name, received a list or map", false},
	{"a:\n  ~: b", "line 2, column 3: .a: expected a field name, received null; quote it", false},
	{": b", "line 1, column 1: expected a field name here; check the indentation and quotes", false},
	{"18446744073709551615: b", "line 1, column 1: expected a field name, received 18446744073709551615; quote it", false},
	{"a:\n  <<: 3", "line 2, column 7: .a.<<: expected a map, or a list of maps, to merge, received \"3\"", false},
	{"<<: [[{a: 1}]]", "line 1, column 6: .<<: expected a map, or a list of maps, to merge, received a list", false},
	{"<<: [{a: 1}, 2]", "line 1, column 14: .<<: expected a map, or a list of maps, to merge, received \"2\"", false},
	{"{\"a\": 1, \"b\" 2}", "line 1, column 14: .b: expected : after a field name, received '2'", false},

	// sigs.k8s.io/yaml accepts the following texts, but silently drops or replaces a part of each.
	{"a: 1\nb: 2\na: 3\n", "line 3, column 1: .a: the field occurs twice in one map, first on line 1, column 1; remove one of them", true},
	{"x:\n- {b: 1, a: 2, b: 3}", "line 2, column 16: .x[0].b: the field occurs twice in one map, first on line 2, column 4; remove one of them", true},
	{"1: a\n\"1\": b", "line 2, column 1: .1: the field occurs twice in one map, first on line 1, column 1; remove one of them", true},
	{"a: 1\n<<: {a: 2}\na: 3", "line 3, column 1: .a: the field occurs twice in one map, first on line 1, column 1; remove one of them", true},
	{"a: b\n---\nc: d", "line 3, column 1: expected one document, received a second one", true},
	{"{a: b}}", "line 1, column 7: expected the end of the document", true},
	{"a: !!binary /w==", "line 1, column 4: .a: expected binary data that is UTF-8; leave out !!binary to keep it in base64", true},
	{"\xff\xfea\x00:\x00 \x00b\x00", "line 1, column 1: expected UTF-8, received the byte 0xff", true},
}

func TestYAMLErrors(t *testing.T) {
	for _, test := range yamlErrors {
		v, err := ParseYAML([]byte(test.text))
		if err == nil || err.Error() != test.want || !v.IsAbsent() {
			t.Errorf("ParseYAML(%q)\n=    %s, %v\nwant %s", test.text, v, err, test.want)
		}
		if _, err := sigs.YAMLToJSON([]byte(test.text)); (err == nil) != test.strict {
			t.Errorf("sigs.k8s.io/yaml, %q: error = %v; accepted = %v, want %v", test.text, err, err == nil, test.strict)
		}
	}
}

// TestYAMLErrorInLargeText checks the position of an error at an offset beyond maxRefinedOffset.
func TestYAMLErrorInLargeText(t *testing.T) {
	text := strings.Repeat("- a: b\n", 20_000) + "- c:\n    d: @e\n"
	_, err := ParseYAML([]byte(text))
	if want := "line 20002, column 10: [20000].c.d: expected a value, received a character that can't start one; quote it"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

// billionLaughs returns a YAML document in which every line refers nine times to the previous line. Its aliases
// expand exponentially (a "billion laughs" attack).
func billionLaughs() string {
	var b strings.Builder
	b.WriteString("a: &a [lol]\n")
	for c := 'b'; c <= 'z'; c++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9), ", "))
	}
	return b.String()
}

// aliasChain returns a YAML document of length lists, each of which contains an alias of the previous list.
func aliasChain(length int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x]\n")
	for i := 1; i < length; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d]\n", i, i, i-1)
	}
	return b.String()
}

func TestHostileYAML(t *testing.T) {
	const deep = "lists and maps are nested more than 9984 deep"
	const expanded = "aliases and merge keys expand the document beyond the limit"
	big := strings.Repeat("x", 1<<20)
	for name, test := range map[string]struct{ text, want string }{
		"flow lists":    {strings.Repeat("[", 100_000), deep},
		"closed lists":  {strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), deep},
		"flow maps":     {strings.Repeat("{a: ", 100_000), deep},
		"JSON maps":     {strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), deep},
		"block lists":   {strings.Repeat("- ", 100_000), deep},
		"complex keys":  {strings.Repeat("? ", 100_000), deep},
		"both styles":   {strings.Repeat("- ", 6_000) + strings.Repeat("[", 6_000) + strings.Repeat("]", 6_000), deep},
		"laughs":        {billionLaughs(), expanded},
		"big string":    {"a: &a " + big + "\nb: [*a, *a, *a, *a]", expanded},
		"merges":        {"a: &a {" + strings.Repeat("b", 100) + ": 1}\n" + strings.Repeat("<<: *a\n", 100_000), expanded},
		"merged merges": {"a: &a {b: " + big + "}\nc: &c {<<: *a}\nd: &d {<<: [*c, *c, *c]}\n", expanded},
		"alias chain":   {aliasChain(50_000), expanded},
		"open quote":    {"a: \"" + strings.Repeat("a\n", 1<<20), "expected a closing quote"},
		"anchors":       {strings.Repeat("&a ", 1<<20), "expected"},
		"tabs":          {"a:\n" + strings.Repeat("\t", 1<<20), "expected spaces"},
		"colons":        {strings.Repeat(": ", 1<<20), ""},
	} {
		start := time.Now()
		_, err := ParseYAML([]byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 5000 {
			t.Errorf("%s: error = %.200v, want an error of at most 5000 bytes that contains %q", name, err, test.want)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: parsing took %v, want at most 10s", name, took)
		}
	}
}

// TestAliasedDepth checks that the depth limit includes the depth of aliased values.
func TestAliasedDepth(t *testing.T) {
	_, err := ParseYAMLLimited([]byte(aliasChain(10)), Limits{MaxDepth: 5})
	if want := "line 5, column 10: .a4[0]: lists and maps are nested more than 5 deep"; err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
	if _, err = ParseYAMLLimited([]byte(aliasChain(4)), Limits{MaxDepth: 5}); err != nil {
		t.Error(err)
	}
}

// TestAliasesShareMemory checks that aliased values are not copied.
func TestAliasesShareMemory(t *testing.T) {
	text := "a: &a [" + strings.Repeat("x, ", 1000) + "]\nb: [" + strings.Repeat("*a, ", 500) + "]\n"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	v, err := ParseYAML([]byte(text))
	runtime.ReadMemStats(&after)
	if err != nil || v.Get("b").Len() != 500 || !Same(v.Get("a"), v.Get("b").At(7)) {
		t.Fatalf("ParseYAML = %.100s, %v, want the items of b to share memory with a", v, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 10<<20 {
		t.Errorf("parsing allocated %d bytes, want at most 10 MiB", used)
	}
}

// TestFlowPath checks the paths of errors for lists and maps in flow style that nest too deep for the YAML library.
func TestFlowPath(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"[":                                    "[0]",
		`{a: [1, {'b,': 2, "c": ["]", [`:       ".a[1].c[1][0]",
		`{a: {b: {}}, c: [[], [{"d\"": 1, e: `: ".c[1][0].e",
		"{? [1] : {x: [":                       ".[1].x[0]",
	} {
		if got := flowPath(text); got != want {
			t.Errorf("flowPath(%q) = %s, want %s", text, got, want)
		}
	}
	_, err := ParseYAML([]byte("a: 1\nb: " + strings.Repeat("{a: [", 6000)))
	if want := ".b.a[0].a[0]"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %.200v, want a path that starts with %s", err, want)
	}
}
