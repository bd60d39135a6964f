package document

import (
	"encoding/json"
	"testing"

	sigs "sigs.k8s.io/yaml"
)

// FuzzParseJSON compares ParseJSON with encoding/json: encoding/json must accept every text that ParseJSON accepts,
// with the same result; ParseJSON may reject a text that encoding/json accepts only for one of the reasons in
// isKnownDifference.
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
			t.Fatalf("ParseJSON accepts %q, want an error as from encoding/json", text)
		}
		var std any
		if err := json.Unmarshal(text, &std); err == nil { // encoding/json rejects numbers beyond float64, such as 1e999
			want, _ := json.Marshal(std)
			if !equalAsFloats(v, mustParse(t, string(want))) {
				t.Fatalf("ParseJSON(%q) = %s, encoding/json returns %s", text, v, want)
			}
		}
		checkJSONRoundTrip(t, v)
		checkUnparsed(t, text, v)
	})
}

// isKnownDifference reports whether err is an error of ParseJSON for text that encoding/json accepts, and the
// difference is deliberate.
func isKnownDifference(err error) bool {
	problem := err.(*SyntaxError).Problem
	for _, known := range []string{"the field occurs twice", "expected UTF-8", "expected both halves of a surrogate pair", "lists and maps are nested"} {
		if len(problem) >= len(known) && problem[:len(known)] == known {
			return true
		}
	}
	return false
}

// checkJSONRoundTrip checks that JSON() of the parsed value v, which copies the parsed text, equals the JSON that is
// encoded from the fields and items of v. It also checks that parsing this JSON returns an equal value.
func checkJSONRoundTrip(t *testing.T, v Value) {
	t.Helper()
	written := v.JSON()
	if plain := withoutText(v).JSON(); plain != written {
		t.Fatalf("JSON() of the parsed value = %s, want the JSON of the rebuilt value %s", written, plain)
	}
	back := mustParse(t, written)
	if !Equal(v, back) || Compare(v, back) != 0 || back.JSON() != written {
		t.Fatalf("ParseJSON(%s) = %s, want an equal value", written, back)
	}
	if back.Kind() >= List && back.form()&canonical == 0 {
		t.Fatalf("%s is the output of JSON() but is not marked as canonical after parsing", written)
	}
}

// withoutText rebuilds v with constructors, so that the result has no source text.
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

// checkUnparsed parses text but leaves its first field unparsed. It checks that the result equals v, the result of
// parsing all of text.
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
		t.Fatalf("%q with %q unparsed = %s, want %s", text, v.Name(0), withUnparsed, v)
	}
}

// FuzzParseUnparsed checks that an unparsed value is written as valid JSON and equals the parsed value.
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
			t.Fatalf("%s with m unparsed = %s, want the same value as ParseJSON", text, v)
		}
	})
}

// FuzzParseYAML checks that sigs.k8s.io/yaml accepts every text that ParseYAML accepts, and returns the same result.
// Tables in yaml_test.go list texts that only sigs.k8s.io/yaml accepts.
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
			_ = err // the fuzz test only checks that the stream parser does not panic
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
			return // JSON is covered by FuzzParseJSON
		}
		asJSON, err := sigs.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("ParseYAML(%q) = %s, sigs.k8s.io/yaml fails: %v", text, v, err)
		}
		if upstream := mustParse(t, string(asJSON)); !equalAsFloats(v, upstream) {
			t.Fatalf("ParseYAML(%q) = %s, sigs.k8s.io/yaml returns %s", text, v, upstream)
		}
	})
}

// FuzzRoundTrip checks that a document that is encoded as YAML and parsed again is unchanged.
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
