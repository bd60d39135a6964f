package fieldset

import (
	"math/rand/v2"
	"testing"
)

func TestTextDifference(t *testing.T) {
	some, none := 0, 0
	for seed := range uint64(9000) {
		r := newRand(seed)
		elements := randomElements(r)
		s, other := randomSetPair(r, elements).ours, randomSetPair(r, elements).ours
		switch seed % 3 {
		case 0:
			other = other.Union(s.Difference(randomSetPair(r, elements).ours))
		case 1:
			other = withSmallChange(r, s, other)
		}
		got, ok := textDifference(s.FieldsV1(), other.FieldsV1())
		if want := s.Difference(other); !ok || !got.Equal(want) {
			t.Fatalf("seed %d: textDifference(%s, %s) = %v\n%swant\n%s", seed, s.FieldsV1(), other.FieldsV1(), ok, got, want)
		}
		if got.IsEmpty() {
			none++
		} else {
			some++
		}
		if got, ok := textDifference(s.FieldsV1(), s.FieldsV1()); !ok || !got.IsEmpty() {
			t.Fatalf("seed %d: textDifference of %s and itself is not empty, want an empty set", seed, s.FieldsV1())
		}
	}
	if some < 500 || none < 20 {
		t.Errorf("%d differences are not empty, %d are empty; want at least 500 and 20", some, none)
	}
}

// withSmallChange returns s with a small random change: one of its paths is removed, a path of other is added, or
// both.
func withSmallChange(r *rand.Rand, s, other Set) Set {
	if paths := s.Paths(); len(paths) > 0 && r.IntN(3) > 0 {
		s = s.Difference(New(paths[r.IntN(len(paths))]))
	}
	if paths := other.Paths(); len(paths) > 0 && r.IntN(3) > 0 {
		s = s.Insert(paths[r.IntN(len(paths))])
	}
	return s
}

func TestTextDifferenceOfInvalidText(t *testing.T) {
	for _, test := range invalidTexts {
		if _, ok := textDifference(test.text, `{"f:a":{}}`); ok {
			if _, err := ParseFieldsV1(test.text); err != nil && !isSkipped(test.text) {
				t.Errorf("%s: textDifference: ok = true for the invalid text %s, want false", test.name, test.text)
			}
		}
	}
}

// isSkipped reports whether the syntax error of a text is in a part that textDifference does not read.
func isSkipped(text string) bool {
	_, ok := textIntersection(text, Set{})
	return ok
}
