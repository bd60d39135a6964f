package document

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomJSON returns a random value as Go's types.
func randomJSON(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case depth > 0 && n < 4:
		m := map[string]any{}
		for range r.IntN(4) {
			m[string(rune('a'+r.IntN(5)))] = randomJSON(r, depth-1)
		}
		return m
	case depth > 0 && n < 7:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, randomJSON(r, depth-1))
		}
		return list
	case n == 7:
		return nil
	case n == 8:
		return "s<\"" + string(rune('a'+r.IntN(3)))
	}
	return r.IntN(3)
}

// changedJSON returns a value that differs from another in few places.
func changedJSON(r *rand.Rand, v any, depth int) any {
	if r.IntN(8) == 0 {
		return randomJSON(r, depth)
	}
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for name, field := range v {
			m[name] = changedJSON(r, field, depth-1)
		}
		return m
	case []any:
		list := []any{}
		for _, item := range v {
			list = append(list, changedJSON(r, item, depth-1))
		}
		return list
	}
	return v
}

func TestBesideIsTheSameAsAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shared := 0
	for range 20000 {
		before := map[string]any{"a": randomJSON(r, 4), "b": randomJSON(r, 4)}
		after := changedJSON(r, before, 4)
		otherText, _ := json.Marshal(before)
		text, _ := json.Marshal(after)
		if r.IntN(4) == 0 {
			text, _ = json.MarshalIndent(after, "", " ")
		}
		other, err := ParseJSON(otherText)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(3) == 0 {
			other = other.With("c", NewInt(1))
		}
		var sealed []string
		if r.IntN(3) == 0 {
			sealed = []string{"a"}
		}
		alone, err := parseSealed(text, Limits{}, sealed...)
		if err != nil {
			t.Fatal(err)
		}
		beside, err := parseBeside(text, Limits{}, other, sealed...)
		if err != nil {
			t.Fatalf("%s beside %s: %v", text, otherText, err)
		}
		checkSameShape(t, alone, beside)
		if beside.JSON() != alone.JSON() || string(beside.With("z", NewNull()).AppendJSON(nil)) != string(alone.With("z", NewNull()).AppendJSON(nil)) {
			t.Fatalf("%s beside %s is written %s", text, otherText, beside.JSON())
		}
		if Same(beside.Get("b"), other.Get("b")) && beside.Get("b").Len() > 0 {
			shared++
		}
	}
	if shared < 1000 {
		t.Errorf("only %d documents share something; the test has no point", shared)
	}
}

func checkSameShape(t *testing.T, a, b Value) {
	t.Helper()
	if !Equal(a, b) || !Equal(b, a) {
		t.Fatalf("%v and %v are not equal", a, b)
	}
	if a.isSealed() {
		return // what is shared with the other need not be sealed
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		t.Fatalf("%v and %v are not of the same shape", a, b)
	}
	for i := range a.Len() {
		if a.Kind() == Map && a.Name(i) != b.Name(i) {
			t.Fatalf("%v and %v have other names", a, b)
		}
		checkSameShape(t, a.At(i), b.At(i))
	}
}

func TestBesideFindsErrors(t *testing.T) {
	other, _ := ParseJSON([]byte(`{"a":{"b":[1,2]},"c":[{"d":1}]}`))
	for text, problem := range map[string]string{
		`{"a":{"b":[1,2]},"c":[{"d":1}]`:          "received the end",
		`{"a":{"b":[1,2]}"c":1}`:                  "expected , or }",
		`{"a":{"b":[1,2]},"a":{"b":[1,2]}}`:       "twice",
		`{"a":{"b":[1,2]},"c":[{"d":1},{"d":x}]}`: "expected a value",
	} {
		if _, err := parseBeside([]byte(text), Limits{}, other); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: expected %q, received %v", text, problem, err)
		}
	}
}
