package fieldset

import (
	"math/rand/v2"
	"testing"
)

func TestLacking(t *testing.T) {
	some, none := 0, 0
	for seed := range uint64(9000) {
		r := seeded(seed)
		stock := randomStock(r)
		s, other := randomPair(r, stock).ours, randomPair(r, stock).ours
		switch seed % 3 {
		case 0:
			other = other.Union(s.Difference(randomPair(r, stock).ours))
		case 1:
			other = slightlyOther(r, s, other)
		}
		got, ok := lacking(s.FieldsV1(), other.FieldsV1())
		if want := s.Difference(other); !ok || !got.Equal(want) {
			t.Fatalf("seed %d: %s\nlacks %v\n%snot\n%sof\n%s", seed, other.FieldsV1(), ok, got, want, s.FieldsV1())
		}
		if got.IsEmpty() {
			none++
		} else {
			some++
		}
		if got, ok := lacking(s.FieldsV1(), s.FieldsV1()); !ok || !got.IsEmpty() {
			t.Fatalf("seed %d: %s lacks something of itself", seed, s.FieldsV1())
		}
	}
	if some < 500 || none < 20 {
		t.Errorf("%d sets lacked something, %d nothing; the test has no point", some, none)
	}
}

// slightlyOther returns a set without one of its paths, with one of those of another, or
// both.
func slightlyOther(r *rand.Rand, s, other Set) Set {
	if paths := s.Paths(); len(paths) > 0 && r.IntN(3) > 0 {
		s = s.Difference(New(paths[r.IntN(len(paths))]))
	}
	if paths := other.Paths(); len(paths) > 0 && r.IntN(3) > 0 {
		s = s.Insert(paths[r.IntN(len(paths))])
	}
	return s
}

func TestLackingOfWhatIsWrong(t *testing.T) {
	for _, test := range invalid {
		if _, ok := lacking(test.text, `{"f:a":{}}`); ok {
			if _, err := ParseFieldsV1(test.text); err != nil && !isSteppedOver(test.text) {
				t.Errorf("%s: a text that can't be read is understood: %s", test.name, test.text)
			}
		}
	}
}

// isSteppedOver tells the texts whose mistake is in what nobody looks at.
func isSteppedOver(text string) bool {
	_, ok := common(text, Set{})
	return ok
}
