package fieldset

import (
	"fmt"
	"math"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestElementOrderMatchesUpstream(t *testing.T) {
	r := newRand(1)
	var elements []elementPair
	for range 400 {
		elements = append(elements, randomElementPair(r))
	}
	for _, a := range elements {
		for _, b := range elements {
			if got, want := a.ours.Compare(b.ours), a.upstream.Compare(b.upstream); sign(got) != want {
				t.Fatalf("Compare(%s, %s) = %d, want %d", a.ours, b.ours, got, want)
			}
			// The operator == must agree with Compare; otherwise a set could contain an element twice.
			if equal := a.ours == b.ours; equal != a.upstream.Equals(b.upstream) || equal != (a.ours.Compare(b.ours) == 0) {
				t.Fatalf("%s == %s is %v, but Compare returns %d; want them to agree with upstream", a.ours, b.ours, equal, a.ours.Compare(b.ours))
			}
		}
	}
}

func sign(i int) int { return min(max(i, -1), 1) }

func TestElementTextMatchesUpstream(t *testing.T) {
	r := newRand(2)
	compared := 0
	for range 5000 {
		e := randomElementPair(r)
		want, err := fieldpath.SerializePathElement(e.upstream)
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseElement(want)
		if err != nil || back != e.ours {
			t.Fatalf("ParseElement(%s) = %s, %v, want the same element", want, back, err)
		}
		if hasStableText(e.upstream) {
			compared++
			if got, want := e.ours.String(), e.upstream.String(); got != want {
				t.Fatalf("String() = %s, want %s", got, want)
			}
		}
	}
	if compared < 4000 {
		t.Errorf("%d elements were compared with upstream's String, want at least 4000", compared)
	}
	if got, want := (Element{}).String(), (fieldpath.PathElement{}).String(); got != want {
		t.Errorf("zero Element: String() = %s, want %s", got, want)
	}
}

// hasStableText reports whether upstream's String of an element is deterministic. It is not if the element contains a
// map, whose fields upstream writes in random order, or a number that upstream may write with an exponent.
func hasStableText(e fieldpath.PathElement) bool {
	switch {
	case e.Value != nil:
		return hasStableValueText((*e.Value).Unstructured())
	case e.Key != nil:
		for _, f := range *e.Key {
			if !hasStableValueText(f.Value.Unstructured()) {
				return false
			}
		}
	}
	return true
}

func hasStableValueText(v any) bool {
	switch v := v.(type) {
	case float64:
		return v == 0 || math.Abs(v) >= 1e-4 && math.Abs(v) < 1e6
	case []any:
		for _, item := range v {
			if !hasStableValueText(item) {
				return false
			}
		}
	case map[string]any:
		for _, field := range v {
			if len(v) > 1 || !hasStableValueText(field) {
				return false
			}
		}
	}
	return true
}

func TestPathsMatchUpstream(t *testing.T) {
	for seed := range uint64(2000) {
		r := newRand(seed)
		p := randomSetPair(r, randomElements(r))
		for i, a := range p.paths {
			alike := true
			for _, e := range p.upstreamPaths[i] {
				alike = alike && hasStableText(e)
			}
			if got, want := a.String(), p.upstreamPaths[i].String(); alike && got != want {
				t.Fatalf("String() = %s, want %s", got, want)
			}
			for j, b := range p.paths {
				if got, want := a.Compare(b), p.upstreamPaths[i].Compare(p.upstreamPaths[j]); sign(got) != want {
					t.Fatalf("Compare(%s, %s) = %d, want %d", a, b, got, want)
				}
				if a.Equal(b) != p.upstreamPaths[i].Equals(p.upstreamPaths[j]) {
					t.Fatalf("Equal(%s, %s) = %v, want Equal exactly if Compare returns 0", a, b, a.Equal(b))
				}
			}
		}
	}
}

// TestNumberSpelling checks that equal numbers have the same spelling in path elements, however they are spelled in the
// input.
func TestNumberSpelling(t *testing.T) {
	for literal, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "-0.0": "0", "0e5": "0", "-0e-5": "0", "1e-999": "0",
		"1": "1", "1.0": "1", "1e0": "1", "10e-1": "1", "-1.0": "-1", "1.50": "1.5", "1E+2": "100",
		"0.000001": "0.000001", "0.0000001": "1e-07", "1e-7": "1e-07", "1e-10": "1e-10", "-1.5e-9": "-1.5e-09",
		"100000000000000000000": "100000000000000000000", "1e20": "100000000000000000000",
		"1000000000000000000000": "1e+21", "-1000000000000000000000": "-1e+21", "1e21": "1e+21", "12e20": "1.2e+21",
		"9007199254740993": "9007199254740993", "18446744073709551615": "18446744073709551615",
		"147573952589676412928": "147573952589676412928", "1000000000000000000001": "1000000000000000000001",
		"1e400": "1e400",
	} {
		e, err := ParseElement("v:" + literal)
		if err != nil || e.text != want {
			t.Errorf("spelling of %s = %s, %v, want %s", literal, e.text, err, want)
		}
		if again, err := ParseElement("v:" + e.text); err != nil || again != e {
			t.Errorf("ParseElement of the spelling %s = %s, %v, want the same spelling", e.text, again.text, err)
		}
	}
}

// TestSimpleSpellingsSortAsDecoded checks that comparing the spellings of elements gives the same order as comparing
// their decoded values.
func TestSimpleSpellingsSortAsDecoded(t *testing.T) {
	var elements []Element
	for _, v := range []any{"a", "ab", "a!", "a~", "B", "", "z", "10", 0, 2, 9, 10, 99, 100, -1, 1.5, true, false, nil, "é", "<"} {
		elements = append(elements, ValueElement(fromGo(v)))
		for _, name := range []string{"k", "k!", "ka", "K", "<"} {
			elements = append(elements, KeyElement(KeyField{name, fromGo(v)}), KeyElement(KeyField{name, fromGo(v)}, KeyField{"l", fromGo(2)}))
		}
	}
	for _, a := range elements {
		for _, b := range elements {
			theirA, errA := fieldpath.DeserializePathElement(unescaped(t, a))
			theirB, errB := fieldpath.DeserializePathElement(unescaped(t, b))
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if got, want := sign(a.Compare(b)), theirA.Compare(theirB); got != want {
				t.Fatalf("Compare(%s, %s) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func unescaped(t *testing.T, e Element) string {
	t.Helper()
	if e.kind == SetValue {
		return "v:" + e.Value().JSON()
	}
	text := "k:{"
	for i, f := range e.KeyFields() {
		text += fmt.Sprintf("%s%q:%s", ","[:min(i, 1)], f.Name, f.Value.JSON())
	}
	return text + "}"
}
