package document

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestNewMap(t *testing.T) {
	v := NewMap(Field{"b", NewInt(1)}, Field{"a", NewInt(2)}, Field{"c", Value{}}, Field{"b", NewInt(3)}, Field{"b", NewInt(4)})
	if got, want := v.JSON(), `{"a":2,"b":4}`; got != want {
		t.Errorf("NewMap() = %s, want %s", got, want)
	}
	if got := NewMap(Field{"a", Value{}}).JSON(); got != "{}" {
		t.Errorf("NewMap() of an absent field = %s, want {}", got)
	}
}

func TestWithAndWithout(t *testing.T) {
	v := mustParse(t, `{"b":1,"d":{"x":null}}`)
	for _, test := range []struct {
		got  Value
		want string
	}{
		{v.With("a", NewInt(0)), `{"a":0,"b":1,"d":{"x":null}}`},
		{v.With("b", NewInt(0)), `{"b":0,"d":{"x":null}}`},
		{v.With("c", NewInt(0)), `{"b":1,"c":0,"d":{"x":null}}`},
		{v.With("e", NewInt(0)), `{"b":1,"d":{"x":null},"e":0}`},
		{v.With("d", Value{}), `{"b":1}`},
		{v.Without("b"), `{"d":{"x":null}}`},
		{v.Without("x"), `{"b":1,"d":{"x":null}}`},
		{v.Without("b").Without("d"), `{}`},
		{Value{}.With("a", NewNull()), `{"a":null}`},
		{NewString("s").With("a", NewNull()), `{"a":null}`},
		{NewList(NewInt(1)).With("a", NewNull()), `{"a":null}`},
	} {
		if got := test.got.JSON(); got != test.want {
			t.Errorf("modified map = %s, want %s", got, test.want)
		}
	}
	if got, want := v.JSON(), `{"b":1,"d":{"x":null}}`; got != want {
		t.Errorf("With modified its receiver: got %s, want %s", got, want)
	}
	if !Same(v.Get("d"), v.Without("b").Get("d")) {
		t.Error("Without copied the unchanged field d, want it shared with the original")
	}
}

func TestNewNumber(t *testing.T) {
	for _, bad := range []string{"", "-", "01", "1.", ".5", "+1", "1e", "1 ", " 1", "0x1", "NaN", "1_0", "--1"} {
		if v, err := NewNumber(bad); err == nil {
			t.Errorf("NewNumber(%q) = %s, want an error", bad, v)
		}
	}
	for _, good := range trickyNumbers {
		v, err := NewNumber(good)
		if err != nil || v.JSON() != good {
			t.Errorf("NewNumber(%s) = %s, %v, want the same literal", good, v, err)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, test := range []struct {
		text    string
		integer int64
		isInt   bool
		float   float64
		isFloat bool
	}{
		{"0", 0, true, 0, true},
		{"-7", -7, true, -7, true},
		{"9223372036854775807", math.MaxInt64, true, 9223372036854775807, true},
		{"9223372036854775808", 0, false, 9223372036854775808, true},
		{"1.0", 0, false, 1, true},
		{"1e2", 0, false, 100, true},
		{"1e999", 0, false, 0, false},
		{`"1"`, 0, false, 0, false},
	} {
		v := mustParse(t, test.text)
		if i, ok := v.Int64(); ok != test.isInt || ok && i != test.integer {
			t.Errorf("%s: Int64() = %d, %v, want %d, %v", v, i, ok, test.integer, test.isInt)
		}
		if f, ok := v.Float64(); ok != test.isFloat || ok && f != test.float {
			t.Errorf("%s: Float64() = %v, %v, want %v, %v", v, f, ok, test.float, test.isFloat)
		}
	}
}

func TestAccessors(t *testing.T) {
	v := mustParse(t, `{"b":[1,"x",true,null],"a":{"c":{"d":2}}}`)
	if got := v.Lookup("a", "c", "d"); got.String() != "2" {
		t.Errorf("Lookup(a, c, d) = %s, want 2", got)
	}
	for _, missing := range []Value{v.Get("x"), v.Lookup("a", "x", "d"), v.Lookup("b", "c"), v.Get("b").Get("1"), {}} {
		if !missing.IsAbsent() || missing.IsNull() || missing.Kind() != Absent || missing.Len() != 0 || missing.String() != "<absent>" || missing.JSON() != "" || missing.YAML() != "" {
			t.Errorf("value of a missing field = %s, want absent", missing)
		}
	}
	if names := v.Name(0) + v.Name(1); names != "ab" {
		t.Errorf("Name(0) + Name(1) = %s, want ab", names)
	}
	var kinds []string
	for _, item := range v.Get("b").Items() {
		kinds = append(kinds, item.Kind().String())
	}
	if got, want := strings.Join(kinds, " "), "number string boolean null"; got != want {
		t.Errorf("kinds = %s, want %s", got, want)
	}
	for range v.Fields() {
		break
	}
	for name := range v.Get("b").Fields() {
		t.Errorf("Fields() of a list returned %s, want no fields", name)
	}
	for range v.Items() {
		t.Error("Items() of a map returned an item, want none")
	}
}

func TestGoTypes(t *testing.T) {
	type object struct {
		B int    `json:"b"`
		A string `json:"a,omitempty"`
	}
	for _, test := range []struct {
		in   any
		want string
	}{
		{nil, `null`},
		{true, `true`},
		{"<", `"\u003c"`},
		{1, `1`}, {int32(2), `2`}, {int64(math.MinInt64), `-9223372036854775808`}, {uint8(3), `3`}, {uint64(math.MaxUint64), `18446744073709551615`},
		{1.0, `1`}, {2.5, `2.5`}, {float32(0.5), `0.5`}, {1e21, `1e+21`},
		{json.Number("1.0"), `1.0`},
		{[]any{}, `[]`}, {[]any{nil, 1}, `[null,1]`},
		{map[string]any{}, `{}`}, {map[string]any{"b": []any{}, "a": map[string]any{"c": nil}}, `{"a":{"c":null},"b":[]}`},
		{NewInt(1), `1`},
		{object{B: 1}, `{"b":1}`},
		{map[string]string{"b": "x", "a": "y"}, `{"a":"y","b":"x"}`},
	} {
		v, err := FromGo(test.in)
		if err != nil || v.JSON() != test.want {
			t.Errorf("FromGo(%#v) = %s, %v, want %s", test.in, v, err, test.want)
		}
	}
}

func TestGoErrors(t *testing.T) {
	for _, test := range []struct {
		in   any
		want string
	}{
		{map[string]any{"a": []any{1, math.NaN()}}, ".a[1]: expected a number that JSON can express, received NaN"},
		{math.Inf(-1), "expected a number that JSON can express, received -Inf"},
		{make(chan int), "expected a Go value that can be written as JSON, received chan int: json: unsupported type: chan int"},
		{[]any{json.Number("x")}, `[0]: expected a JSON number, received "x"`},
		{map[string]any{"a": []any{1, Value{}}}, ".a[1]: expected a value, received an absent one in a list; leave it out or use null"},
		{map[string]any{"a\xff": 1}, `.a�: expected a name in UTF-8, received "a\xff"`},
	} {
		if _, err := FromGo(test.in); err == nil || err.Error() != test.want {
			t.Errorf("FromGo: error = %v, want %s", err, test.want)
		}
	}
}

func TestToGo(t *testing.T) {
	v := mustParse(t, `{"a":[1,1.5,9223372036854775808,"s",true,null],"b":{}}`)
	m := v.ToGo().(map[string]any)
	list := m["a"].([]any)
	if list[0] != int64(1) || list[1] != 1.5 || list[2] != float64(1<<63) || list[3] != "s" || list[4] != true || list[5] != nil {
		t.Errorf("ToGo() = %#v, want int64, float64, float64, string, bool and nil", list)
	}
	if b, ok := m["b"].(map[string]any); !ok || b == nil {
		t.Errorf("ToGo() of an empty map = %#v, want an empty map[string]any", m["b"])
	}
	list[0] = "changed"
	if v.JSON() != `{"a":[1,1.5,9223372036854775808,"s",true,null],"b":{}}` {
		t.Error("changing the Go value changed the document")
	}
	r := newRand()
	for range 1000 {
		v := randomValue(r, 4)
		back, err := FromGo(v.ToGo())
		if err != nil || !Equal(v, back) {
			t.Fatalf("FromGo(ToGo(%s)) = %s, %v, want an equal value", v, back, err)
		}
	}
}

func TestMarshalJSON(t *testing.T) {
	text, err := json.Marshal(map[string]Value{"a": mustParse(t, `{ "x": 1.0 }`), "b": {}})
	if err != nil || string(text) != `{"a":{"x":1.0},"b":null}` {
		t.Errorf(`Marshal() = %s, %v, want {"a":{"x":1.0},"b":null}`, text, err)
	}
}
