package document

import (
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/access"
)

var managedPath = []string{"metadata", "managedFields", access.AnyItem, "fieldsV1"}

func sealedDocument(t *testing.T, fields string) Value {
	t.Helper()
	v, err := parseSealed([]byte(`{"metadata":{"managedFields":[{"fieldsV1":`+fields+`,"manager":"m"}],"name":"x"}}`), Limits{}, managedPath...)
	if err != nil {
		t.Fatalf("%s: %v", fields, err)
	}
	return v
}

func sealedPart(v Value) Value { return v.Lookup("metadata", "managedFields").At(0).Get("fieldsV1") }

func TestSealed(t *testing.T) {
	for _, test := range []struct {
		text, want string
		sealed     bool
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
		v := sealedDocument(t, test.text)
		part := sealedPart(v)
		if part.isSealed() != test.sealed || part.JSON() != test.want {
			t.Errorf("%s: sealed %v as %s", test.text, part.isSealed(), part)
		}
		if part.isSealed() && part.Len() != 0 {
			t.Errorf("%s shows %d fields", test.text, part.Len())
		}
		want := `{"metadata":{"managedFields":[{"fieldsV1":` + test.want + `,"manager":"m"}],"name":"x"}}`
		if got := v.JSON(); got != want {
			t.Errorf("wrote %s, want %s", got, want)
		}
		if got := mustParse(t, v.JSON()); !Equal(got, v) || Compare(got, v) != 0 || !Equal(v, got) {
			t.Errorf("%s: sealed and open are not equal", test.text)
		}
		if back, err := FromGo(v.ToGo()); err != nil || !Equal(back, v) {
			t.Errorf("%s: went through Go as %s, %v", test.text, back, err)
		}
		back, err := ParseYAML([]byte(v.YAML()))
		if err != nil || !Equal(back, v) {
			t.Errorf("%s: read back from YAML as %s, %v", test.text, back, err)
		}
	}
}

// TestSealedIsChecked offers the sealed part what must be refused elsewhere too.
func TestSealedIsChecked(t *testing.T) {
	for _, bad := range []string{
		`{`, `{"a"`, `{"a":`, `{"a":{`, `{"a":{}`, `{"a":{},`, `{"a":{},}`, `{"a":{}}}`, `{"a" {}}`, `{"a":{}"b":{}}`, `{"a":{};"b":{}}`, `{a:{}}`, `{"a":{]}`, `{"a":x}`, `{,}`, `[`, `[}`,
		"{\"\xff\":{}}", "{\"\n\":{}}", `{"\x":{}}`, `{"a\`, `{"a\"`, strings.Repeat(`{"a":`, 100_000),
	} {
		text := `{"m":` + bad
		if strings.HasSuffix(bad, "}") || strings.HasSuffix(bad, "]") {
			text += "}"
		}
		v, err := parseSealed([]byte(text), Limits{}, "m")
		if err == nil {
			t.Errorf("%.50s was read as %s", text, v)
		}
	}
	deep := func(levels int) string {
		return `{"m":` + strings.Repeat(`{"a":`, levels) + `{}` + strings.Repeat("}", levels) + "}"
	}
	limits := Limits{MaxDepth: 3}
	if _, err := parseSealed(deep(limits.MaxDepth+sealedDepth-2), limits, "m"); err != nil {
		t.Error(err)
	}
	_, err := parseSealed(deep(limits.MaxDepth+sealedDepth-1), limits, "m")
	if want := "lists and maps are nested more than 19 deep"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("received %v, want %s", err, want)
	}
	_, err = parseSealed(`{"m":{"a":{}},"n":{"a":{"b":{}}}}`, limits, "m")
	if want := ".n.a.b: lists and maps are nested more than 3 deep"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("received %v, want %s", err, want)
	}
}

func TestSealedComparesByContent(t *testing.T) {
	a, b, c := sealedDocument(t, `{"f:a":{},"f:b":{}}`), sealedDocument(t, `{"f:b":{},"f:a":{}}`), sealedDocument(t, `{"f:c":{}}`)
	if !Equal(a, b) || Compare(a, b) != 0 {
		t.Error("the order of names matters")
	}
	if Equal(a, c) || Compare(a, c) >= 0 || Compare(c, a) <= 0 {
		t.Error("the content does not matter")
	}
}

// TestSealedUntidy checks what is rewritten after other parts have been read.
func TestSealedUntidy(t *testing.T) {
	text := `{"a":{"x":[1,{"\"":2}]},"m":[{"k\"l":[{"z":{"\"q":{"\n":1}}, "y":"\t"}]},{"b": {"c":[1,2]}}],"z":{"\"":{}}}`
	v, err := parseSealed([]byte(text), Limits{}, "m", access.AnyItem)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"a":{"x":[1,{"\"":2}]},"m":[{"k\"l":[{"y":"\t","z":{"\"q":{"\n":1}}}]},{"b":{"c":[1,2]}}],"z":{"\"":{}}}`
	if got := v.JSON(); got != want {
		t.Errorf("wrote %s\nwant  %s", got, want)
	}
	if item := v.Get("m").At(0); !item.isSealed() || !Equal(v, mustParse(t, text)) {
		t.Errorf("read %s", v)
	}
}

func TestSealedOnlyAtThePath(t *testing.T) {
	text := `{"fieldsV1":{"a":{}},"managedFields":[{"fieldsV1":{"a":{}}}],"metadata":{"fieldsV1":{"a":{}},"managedFields":[{"fieldsV1":{"a":{}},"x":{"fieldsV1":{"a":{}}}},[{"fieldsV1":{"a":{}}}]]}}`
	v, err := parseSealed([]byte(text), Limits{}, managedPath...)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	within(v, func(v Value) bool {
		if v.isSealed() {
			count++
		}
		return false
	})
	if count != 1 || !sealedPart(v).isSealed() {
		t.Errorf("%d values are sealed, want 1", count)
	}
}

func TestSealedCanNotBeChanged(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a sealed map lost its fields")
		}
	}()
	sealedPart(sealedDocument(t, `{"a":{}}`)).With("b", NewNull())
}
