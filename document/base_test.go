package document

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomJSON returns a random JSON value as the Go types that encoding/json uses (map[string]any, []any, …); depth
// limits its nesting.
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

// changedJSON returns a copy of v in which a few random values are replaced; depth limits the nesting of the new
// values.
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

func TestParseWithBaseEqualsParse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	shared := 0
	for range 20000 {
		before := map[string]any{"a": randomJSON(r, 4), "b": randomJSON(r, 4)}
		after := changedJSON(r, before, 4)
		baseText, _ := json.Marshal(before)
		text, _ := json.Marshal(after)
		if r.IntN(4) == 0 {
			text, _ = json.MarshalIndent(after, "", " ")
		}
		base, err := ParseJSON(baseText)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(3) == 0 {
			base = base.With("c", NewInt(1))
		}
		var unparsedPath []string
		if r.IntN(3) == 0 {
			unparsedPath = []string{"a"}
		}
		alone, err := parseUnparsed(text, Limits{}, unparsedPath...)
		if err != nil {
			t.Fatal(err)
		}
		withBase, err := parseWithBase(text, Limits{}, base, unparsedPath...)
		if err != nil {
			t.Fatalf("parse %s with base %s: %v", text, baseText, err)
		}
		checkSameShape(t, alone, withBase)
		if withBase.JSON() != alone.JSON() || string(withBase.With("z", NewNull()).AppendJSON(nil)) != string(alone.With("z", NewNull()).AppendJSON(nil)) {
			t.Fatalf("parse %s with base %s: JSON() = %s, want %s", text, baseText, withBase.JSON(), alone.JSON())
		}
		if Same(withBase.Get("b"), base.Get("b")) && withBase.Get("b").Len() > 0 {
			shared++
		}
	}
	if shared < 1000 {
		t.Errorf("%d documents share containers with the base, want at least 1000", shared)
	}
}

func checkSameShape(t *testing.T, a, b Value) {
	t.Helper()
	if !Equal(a, b) || !Equal(b, a) {
		t.Fatalf("Equal(%v, %v) = false, want true", a, b)
	}
	if a.isUnparsed() {
		return // b may be a parsed container of the base, although the text in a is unparsed
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		t.Fatalf("%v and %v differ in kind or length, want the same", a, b)
	}
	for i := range a.Len() {
		if a.Kind() == Map && a.Name(i) != b.Name(i) {
			t.Fatalf("%v and %v differ in field names, want the same", a, b)
		}
		checkSameShape(t, a.At(i), b.At(i))
	}
}

func TestParseWithBaseReportsErrors(t *testing.T) {
	base, _ := ParseJSON([]byte(`{"a":{"b":[1,2]},"c":[{"d":1}]}`))
	for text, problem := range map[string]string{
		`{"a":{"b":[1,2]},"c":[{"d":1}]`:          "received the end",
		`{"a":{"b":[1,2]}"c":1}`:                  "expected , or }",
		`{"a":{"b":[1,2]},"a":{"b":[1,2]}}`:       "twice",
		`{"a":{"b":[1,2]},"c":[{"d":1},{"d":x}]}`: "expected a value",
	} {
		if _, err := parseWithBase([]byte(text), Limits{}, base); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: error = %v, want it to contain %q", text, err, problem)
		}
	}
}
