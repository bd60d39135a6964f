package document

import (
	"encoding/json"
	"testing"

	sigs "sigs.k8s.io/yaml"
)

// FuzzParseJSON compares with encoding/json: whatever we accept it accepts and
// reads alike, and what only we refuse is refused for a known reason.
func FuzzParseJSON(f *testing.F) {
	for _, text := range canonicalTexts {
		f.Add([]byte(text))
	}
	for _, test := range untidyTexts {
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
				t.Fatalf("only we refuse %q: %v", text, err)
			}
			return
		} else if !valid {
			t.Fatalf("only we accept %q", text)
		}
		var std any
		if err := json.Unmarshal(text, &std); err == nil { // it refuses 1e999
			want, _ := json.Marshal(std)
			if !roughly(v, mustParse(t, string(want))) {
				t.Fatalf("%q: read %s, encoding/json reads %s", text, v, want)
			}
		}
		checkJSONRoundTrip(t, v)
		checkSealed(t, text, v)
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

// checkJSONRoundTrip compares what is written from kept text with what is written
// from fields and items, and reads it back.
func checkJSONRoundTrip(t *testing.T, v Value) {
	t.Helper()
	written := v.JSON()
	if plain := withoutText(v).JSON(); plain != written {
		t.Fatalf("kept text %s, but the content is %s", written, plain)
	}
	back := mustParse(t, written)
	if !Equal(v, back) || Compare(v, back) != 0 || back.JSON() != written {
		t.Fatalf("%s came back as %s", written, back)
	}
	if back.Kind() >= List && back.form()&canonical == 0 {
		t.Fatalf("%s was written, but not found to be canonical", written)
	}
}

// withoutText rebuilds a value so that it remembers no text.
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

// checkSealed reads a text again with a part of it sealed.
func checkSealed(t *testing.T, text []byte, v Value) {
	t.Helper()
	if v.Kind() != Map || v.Len() == 0 {
		return
	}
	sealed, err := parseSealed(text, Limits{}, v.Name(0))
	if err != nil {
		t.Fatalf("%q with %q sealed: %v", text, v.Name(0), err)
	}
	if !Equal(sealed, v) || !json.Valid(sealed.AppendJSON(nil)) {
		t.Fatalf("%q with %q sealed is %s", text, v.Name(0), sealed)
	}
}

// FuzzParseSealed checks that sealing accepts no text that is not JSON.
func FuzzParseSealed(f *testing.F) {
	for _, text := range []string{`{"f:a":{}}`, `{"f:b":{".":{},"k:{\"name\":\"x\"}":{}},"f:a":{}}`, `{"a":[1,{"b":{}}]}`, `{"a":{}`, `{"a":{}}}`, `{"a" :{}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, part []byte) {
		text := `{"m":` + string(part) + `}`
		v, err := parseSealed([]byte(text), Limits{}, "m")
		if err != nil {
			return
		}
		if written := v.JSON(); !json.Valid([]byte(text)) || !json.Valid([]byte(written)) {
			t.Fatalf("%s was read as %s", text, written)
		}
		if open, err := ParseJSON([]byte(text)); err == nil && !Equal(open, v) {
			t.Fatalf("%s was read as %s", text, v)
		}
	})
}

// FuzzParseYAML compares with sigs.k8s.io/yaml: whatever we accept it accepts and
// reads alike. That it accepts more is tested in the tables.
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
	f.Add([]byte(laughs()))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, err := range ParseYAMLStream(text, Limits{}) {
			_ = err // no panic
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
			return // JSON is read as JSON
		}
		asJSON, err := sigs.YAMLToJSON(text)
		if err != nil {
			t.Fatalf("only sigs.k8s.io/yaml refuses %q, which we read as %s: %v", text, v, err)
		}
		if theirs := mustParse(t, string(asJSON)); !roughly(v, theirs) {
			t.Fatalf("%q: read %s, sigs.k8s.io/yaml reads %s", text, v, theirs)
		}
	})
}

// FuzzRoundTrip writes documents as YAML and reads them back.
func FuzzRoundTrip(f *testing.F) {
	for _, text := range canonicalTexts {
		f.Add([]byte(text))
	}
	for _, s := range tricky {
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
