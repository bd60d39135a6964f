package document

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/access"
)

var fieldsV1Path = []string{"metadata", "managedFields", access.AnyItem, "fieldsV1"}

func unparsedDocument(t *testing.T, fields string) Value {
	t.Helper()
	v, err := parseUnparsed([]byte(`{"metadata":{"managedFields":[{"fieldsV1":`+fields+`,"manager":"m"}],"name":"x"}}`), Limits{}, fieldsV1Path...)
	if err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	return v
}

func unparsedPart(v Value) Value { return v.Lookup("metadata", "managedFields").At(0).Get("fieldsV1") }

func TestUnparsed(t *testing.T) {
	for _, test := range []struct {
		text, want string
		unparsed   bool
	}{
		{`{"f:a":{}}`, `{"f:a":{}}`, true},
		{`{"f:b":{".":{},"k:{\"name\":\"x\"}":{}},"f:a":{}}`, `{"f:b":{".":{},"k:{\"name\":\"x\"}":{}},"f:a":{}}`, true},
		{`{"f:a":{"f:b":{"f:c":{}}},"f:d":{}}`, `{"f:a":{"f:b":{"f:c":{}}},"f:d":{}}`, true},
		{`{ "f:a" : { } }`, `{"f:a":{}}`, true},
		{`{"b":1,"a":[true,"<"]}`, `{"a":[true,"\u003c"],"b":1}`, true},
		{`{"é":{}}`, `{"é":{}}`, true},
		{`{"\u0061":{}}`, `{"a":{}}`, true},
		{`[1, 2]`, `[1,2]`, true},
		{`{}`, `{}`, false},
		{`[]`, `[]`, false},
		{`"x"`, `"x"`, false},
		{`null`, `null`, false},
		{`1.0`, `1.0`, false},
	} {
		v := unparsedDocument(t, test.text)
		part := unparsedPart(v)
		if part.isUnparsed() != test.unparsed || part.JSON() != test.want {
			t.Errorf("%s: isUnparsed() = %v, value %s, want %v, %s", test.text, part.isUnparsed(), part, test.unparsed, test.want)
		}
		if part.isUnparsed() && part.Len() != 0 {
			t.Errorf("%s: Len() = %d, want 0", test.text, part.Len())
		}
		want := `{"metadata":{"managedFields":[{"fieldsV1":` + test.want + `,"manager":"m"}],"name":"x"}}`
		if got := v.JSON(); got != want {
			t.Errorf("JSON() = %s, want %s", got, want)
		}
		if got := mustParse(t, v.JSON()); !Equal(got, v) || Compare(got, v) != 0 || !Equal(v, got) {
			t.Errorf("%s: the parsed and the unparsed value are not equal, want equal", test.text)
		}
		if back, err := FromGo(v.ToGo()); err != nil || !Equal(back, v) {
			t.Errorf("%s: FromGo(ToGo()) = %s, %v, want %s", test.text, back, err, v)
		}
		back, err := ParseYAML([]byte(v.YAML()))
		if err != nil || !Equal(back, v) {
			t.Errorf("%s: ParseYAML(YAML()) = %s, %v, want %s", test.text, back, err, v)
		}
	}
}

// TestUnparsedIsChecked checks that invalid JSON is rejected inside of an unparsed value.
func TestUnparsedIsChecked(t *testing.T) {
	for _, bad := range []string{
		`{`, `{"a"`, `{"a":`, `{"a":{`, `{"a":{}`, `{"a":{},`, `{"a":{},}`, `{"a":{}}}`, `{"a" {}}`, `{"a":{}"b":{}}`, `{"a":{};"b":{}}`, `{a:{}}`, `{"a":{]}`, `{"a":x}`, `{,}`, `[`, `[}`,
		"{\"\xff\":{}}", "{\"\n\":{}}", `{"\x":{}}`, `{"a\`, `{"a\"`, strings.Repeat(`{"a":`, 100_000),
	} {
		text := `{"m":` + bad
		if strings.HasSuffix(bad, "}") || strings.HasSuffix(bad, "]") {
			text += "}"
		}
		v, err := parseUnparsed([]byte(text), Limits{}, "m")
		if err == nil {
			t.Errorf("%.50s was parsed as %s, want an error", text, v)
		}
	}
	deep := func(levels int) string {
		return `{"m":` + strings.Repeat(`{"a":`, levels) + `{}` + strings.Repeat("}", levels) + "}"
	}
	limits := Limits{MaxDepth: 3}
	if _, err := parseUnparsed(deep(limits.MaxDepth+unparsedDepth-2), limits, "m"); err != nil {
		t.Error(err)
	}
	_, err := parseUnparsed(deep(limits.MaxDepth+unparsedDepth-1), limits, "m")
	if want := "lists and maps are nested more than 19 deep"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %s", err, want)
	}
	_, err = parseUnparsed(`{"m":{"a":{}},"n":{"a":{"b":{}}}}`, limits, "m")
	if want := ".n.a.b: lists and maps are nested more than 3 deep"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestUnparsedComparesByContent(t *testing.T) {
	a, b, c := unparsedDocument(t, `{"f:a":{},"f:b":{}}`), unparsedDocument(t, `{"f:b":{},"f:a":{}}`), unparsedDocument(t, `{"f:c":{}}`)
	if !Equal(a, b) || Compare(a, b) != 0 {
		t.Error("unparsed values that differ only in the order of names are not equal, want equal")
	}
	if Equal(a, c) || Compare(a, c) >= 0 || Compare(c, a) <= 0 {
		t.Error("unparsed values with different content are equal, want a difference")
	}
}

// TestUnparsedNonCanonical checks that an unparsed value whose text is not canonical JSON is written as canonical JSON,
// also if other parts of the document contain escapes.
func TestUnparsedNonCanonical(t *testing.T) {
	text := `{"a":{"x":[1,{"\"":2}]},"m":[{"k\"l":[{"z":{"\"q":{"\n":1}}, "y":"\t"}]},{"b": {"c":[1,2]}}],"z":{"\"":{}}}`
	v, err := parseUnparsed([]byte(text), Limits{}, "m", access.AnyItem)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":{"x":[1,{"\"":2}]},"m":[{"k\"l":[{"y":"\t","z":{"\"q":{"\n":1}}}]},{"b":{"c":[1,2]}}],"z":{"\"":{}}}`
	if got := v.JSON(); got != want {
		t.Errorf("JSON() = %s\nwant     %s", got, want)
	}
	if item := v.Get("m").At(0); !item.isUnparsed() || !Equal(v, mustParse(t, text)) {
		t.Errorf("got %s, want item 0 of m unparsed and the same value as ParseJSON", v)
	}
}

func TestUnparsedOnlyAtPath(t *testing.T) {
	text := `{"fieldsV1":{"a":{}},"managedFields":[{"fieldsV1":{"a":{}}}],"metadata":{"fieldsV1":{"a":{}},"managedFields":[{"fieldsV1":{"a":{}},"x":{"fieldsV1":{"a":{}}}},[{"fieldsV1":{"a":{}}}]]}}`
	v, err := parseUnparsed([]byte(text), Limits{}, fieldsV1Path...)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	anyPart(v, func(v Value) bool {
		if v.isUnparsed() {
			count++
		}
		return false
	})
	if count != 1 || !unparsedPart(v).isUnparsed() {
		t.Errorf("%d values are unparsed, want 1", count)
	}
}

func TestWithPanicsForUnparsed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("With of an unparsed map returned, want a panic")
		}
	}()
	unparsedPart(unparsedDocument(t, `{"a":{}}`)).With("b", NewNull())
}
