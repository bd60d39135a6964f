package document

import (
	"encoding/json"
	"testing"

	sigs "sigs.k8s.io/yaml"
)

// FuzzParseJSON compares with encoding/json: all text that ParseJSON accepts is accepted by encoding/json with the same
// result, and text that only ParseJSON rejects is a known difference.
func FuzzParseJSON(f *testing.F) {
	for _, text := range canonicalTexts {
		f.Add([]byte(text))
	}
	for _, test := range nonCanonicalTexts {
		f.Add([]byte(test.text))
	}
	for _, test := range badTexts {
		f.Add([]byte(test.text))
	}
	for _, test := range strictTexts {
		f.Add([]byte(test.text))
	}
	f.Add([]byte(podText))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := ParseJSON(text)
		if valid := json.Valid(text); err != nil {
			if valid && !isKnownDifference(err) {
				t.Fatalf("encoding/json accepts %q, ParseJSON fails: %v", text, err)
			}
			return
		} else if !valid {
			t.Fatalf("encoding/json rejects %q, ParseJSON accepts it", text)
		}
		var std any
		if err := json.Unmarshal(text, &std); err == nil { // encoding/json rejects 1e999
			want, _ := json.Marshal(std)
			if !equalAsFloats(v, mustParse(t, string(want))) {
				t.Fatalf("ParseJSON(%q) = %s, encoding/json returns %s", text, v, want)
			}
		}
		checkJSONRoundTrip(t, v)
		checkUnparsed(t, text, v)
	})
}

func isKnownDifference(err error) bool {
	problem := err.(*SyntaxError).Problem
	for _, known := range []string{"the field occurs twice", "expected UTF-8", "expected both halves of a surrogate pair", "lists and maps are nested"} {
		if len(problem) >= len(known) && problem[:len(known)] == known {
			return true
		}
	}
	return false
}

// checkJSONRoundTrip compares the JSON that is copied from the parsed text with the JSON that is encoded from fields
// and items, and parses it again.
func checkJSONRoundTrip(t *testing.T, v Value) {
	t.Helper()
	written := v.JSON()
	if plain := withoutText(v).JSON(); plain != written {
		t.Fatalf("copied text = %s, encoded fields = %s", written, plain)
	}
	back := mustParse(t, written)
	if !Equal(v, back) || Compare(v, back) != 0 || back.JSON() != written {
		t.Fatalf("%s was parsed as %s", written, back)
	}
	if back.Kind() >= List && back.form()&canonical == 0 {
		t.Fatalf("%s is the output of JSON(), but is not marked as canonical", written)
	}
}

// withoutText rebuilds a value with constructors, so that it has no source text.
func withoutText(v Value) Value {
	switch v.Kind() {
	case List:
		items := make([]Value, v.Len())
		for i := range items {
			items[i] = withoutText(v.At(i))
		}
		return NewList(items...)
	case Map:
		fields := make([]Field, v.Len())
		for i := range fields {
			fields[i] = Field{v.Name(i), withoutText(v.At(i))}
		}
		return NewMap(fields...)
	case String:
		return NewString(v.Text())
	}
	return v
}

// checkUnparsed parses a text again with its first field unparsed.
func checkUnparsed(t *testing.T, text []byte, v Value) {
	t.Helper()
	if v.Kind() != Map || v.Len() == 0 {
		return
	}
	withUnparsed, err := parseUnparsed(text, Limits{}, v.Name(0))
	if err != nil {
		t.Fatalf("%q with %q unparsed: %v", text, v.Name(0), err)
	}
	if !Equal(withUnparsed, v) || !json.Valid(withUnparsed.AppendJSON(nil)) {
		t.Fatalf("%q with %q unparsed = %s", text, v.Name(0), withUnparsed)
	}
}

// FuzzParseUnparsed checks that an unparsed part is valid JSON.
func FuzzParseUnparsed(f *testing.F) {
	for _, text := range []string{`{"f:a":{}}`, `{"f:b":{".":{},"k:{\"name\":\"x\"}":{}},"f:a":{}}`, `{"a":[1,{"b":{}}]}`, `{"a":{}`, `{"a":{}}}`, `{"a" :{}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, part []byte) {
		text := `{"m":` + string(part) + `}`
		v, err := parseUnparsed([]byte(text), Limits{}, "m")
		if err != nil {
			return
		}
		if written := v.JSON(); !json.Valid([]byte(text)) || !json.Valid([]byte(written)) {
			t.Fatalf("%s with m unparsed: JSON() = %s, want valid JSON", text, written)
		}
		if open, err := ParseJSON([]byte(text)); err == nil && !Equal(open, v) {
			t.Fatalf("%s with m unparsed = %s", text, v)
		}
	})
}

// FuzzParseYAML compares with sigs.k8s.io/yaml: all text that ParseYAML accepts is accepted by sigs.k8s.io/yaml with
// the same result. The tables of yaml_test.go have the texts that only sigs.k8s.io/yaml accepts.
func FuzzParseYAML(f *testing.F) {
	for _, test := range yamlTexts {
		f.Add([]byte(test.text))
	}
	for _, test := range yamlErrors {
		f.Add([]byte(test.text))
	}
	for _, test := range yamlStreams {
		f.Add([]byte(test.text))
	}
	f.Add([]byte(billionLaughs()))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, err := range ParseYAMLStream(text, Limits{}) {
			_ = err // must not panic
		}
		v, err := ParseYAML(text)
		if err != nil {
			if e := err.(*SyntaxError); e.Line < 1 || e.Column < 1 || len(e.Error()) > 10_000 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		checkJSONRoundTrip(t, v)
		if _, err := ParseJSON(text); err == nil {
			return // covered by FuzzParseJSON
		}
		asJSON, err := sigs.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("ParseYAML(%q) = %s, sigs.k8s.io/yaml fails: %v", text, v, err)
		}
		if theirs := mustParse(t, string(asJSON)); !equalAsFloats(v, theirs) {
			t.Fatalf("ParseYAML(%q) = %s, sigs.k8s.io/yaml returns %s", text, v, theirs)
		}
	})
}

// FuzzRoundTrip encodes documents as YAML and parses them again.
func FuzzRoundTrip(f *testing.F) {
	for _, text := range canonicalTexts {
		f.Add([]byte(text))
	}
	for _, s := range trickyStrings {
		f.Add(NewMap(Field{s, NewList(NewString(s))}).AppendJSON(nil))
	}
	f.Add([]byte(podText))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := ParseJSON(text)
		if err != nil {
			return
		}
		checkJSONRoundTrip(t, v)
		checkYAMLRoundTrip(t, v)
	})
}
