package document

import (
	"testing"
)

// TestScalarDifferences compares maps that are parsed and maps that are built with constructors, in every combination.
func TestScalarDifferences(t *testing.T) {
	const refused = -1
	for _, c := range []struct {
		a, b string
		want int
	}{
		{`{}`, `{}`, 0},
		{`{"a":"x"}`, `{"a":"x"}`, 0},
		{`{"a":"x"}`, `{"a":"y"}`, 1},
		{`{"a":"x","b":1,"c":true}`, `{"a":"x","b":2,"c":false}`, 6},
		{`{"a":"x","b":1}`, `{ "b" : 1, "a" : "\u0078" }`, 0},
		{`{"a":"\u0026"}`, `{"a":"\""}`, 1},
		{`{"a":"1"}`, `{"a":1}`, 1},
		{`{"a":"true"}`, `{"a":true}`, 1},
		{`{"a":1}`, `{"a":1.0}`, refused},
		{`{"a":1}`, `{"a":1.5}`, 1},
		{`{"a":"x"}`, `{"b":"x"}`, refused},
		{`{"a":"x"}`, `{"a":"x","b":"y"}`, refused},
		{`{"a":null}`, `{"a":"x"}`, refused},
		{`{"a":"x"}`, `{"a":null}`, refused},
		{`{"a":{}}`, `{"a":"x"}`, refused},
		{`{"a":"x"}`, `{"a":[]}`, refused},
		{`["a"]`, `["a"]`, refused},
		{`{}`, `[]`, refused},
		{`"a"`, `"a"`, refused},
	} {
		for _, a := range parsedAndBuilt(t, c.a) {
			for _, b := range parsedAndBuilt(t, c.b) {
				differ, ok := scalarDifferences(a, b)
				if got := int(differ); ok != (c.want != refused) || ok && got != c.want {
					t.Errorf("scalarDifferences(%s, %s) = %b, %v, want %b (%d means not supported)", a, b, got, ok, c.want, refused)
				}
			}
		}
	}
	if _, ok := scalarDifferences(Value{}, Value{}); ok {
		t.Error("scalarDifferences(absent, absent): ok = true, want false")
	}
}

// TestScalarDifferencesLimit checks that scalarDifferences supports at most 64 fields.
func TestScalarDifferencesLimit(t *testing.T) {
	var a, b []Field
	for i := range 65 {
		name := string(rune('A' + i))
		a = append(a, Field{name, NewString("x")})
		b = append(b, Field{name, NewString("y")})
	}
	if differ, ok := scalarDifferences(NewMap(a[:64]...), NewMap(b[:64]...)); !ok || differ != ^uint64(0) {
		t.Errorf("scalarDifferences() of 64 fields = %b, %v, want %b, true", differ, ok, ^uint64(0))
	}
	if _, ok := scalarDifferences(NewMap(a...), NewMap(b...)); ok {
		t.Error("65 fields: ok = true, want false")
	}
}

// parsedAndBuilt returns the value of a JSON text twice: as parsed, and rebuilt with constructors.
func parsedAndBuilt(t *testing.T, text string) []Value {
	t.Helper()
	v, err := ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	built := v
	switch v.Kind() {
	case Map:
		var fields []Field
		for name, value := range v.Fields() {
			fields = append(fields, Field{name, value})
		}
		built = NewMap(fields...)
	case List:
		var items []Value
		for _, item := range v.Items() {
			items = append(items, item)
		}
		built = NewList(items...)
	}
	return []Value{v, built}
}

func TestTextOf(t *testing.T) {
	const many = `{"a":1,"b":"x","c":null,"d":{},"e":"y","f":"","g":"\u0022","h":1,"i":1,"j":1,"k":1,"l":1,"m":"last"}`
	for _, text := range []string{`{"a":1,"b":"x","c":null,"d":{},"e":"y","f":"","g":"\u0022"}`, many, `{}`, `["b"]`, `"b"`, `null`} {
		for _, v := range parsedAndBuilt(t, text) {
			for _, name := range []string{"", "a", "b", "c", "d", "e", "f", "g", "m", "zz"} {
				field := v.Get(name)
				if got, ok := v.TextOf(name); got != field.Text() && ok || ok != (field.Kind() == String) {
					t.Errorf("%s.TextOf(%q) = %q, %v, want %q, %v", v, name, got, ok, field.Text(), field.Kind() == String)
				}
			}
		}
	}
	if _, ok := (Value{}).TextOf("a"); ok {
		t.Error("TextOf of an absent value: ok = true, want false")
	}
}
