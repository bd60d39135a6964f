package fieldset

import "testing"

func TestLacking(t *testing.T) {
	some, none := 0, 0
	for seed := range uint64(6000) {
		r := seeded(seed)
		stock := randomStock(r)
		s, other := randomPair(r, stock).ours, randomPair(r, stock).ours
		if seed%3 == 0 {
			other = other.Union(s.Difference(randomPair(r, stock).ours))
		}
		got, ok := Lacking(s.FieldsV1(), other.FieldsV1())
		if want := s.Difference(other); !ok || !got.Equal(want) {
			t.Fatalf("seed %d: %s\nlacks %v\n%snot\n%sof\n%s", seed, other.FieldsV1(), ok, got, want, s.FieldsV1())
		}
		if got.IsEmpty() {
			none++
		} else {
			some++
		}
		if got, ok := Lacking(s.FieldsV1(), s.FieldsV1()); !ok || !got.IsEmpty() {
			t.Fatalf("seed %d: %s lacks something of itself", seed, s.FieldsV1())
		}
	}
	if some < 500 || none < 20 {
		t.Errorf("%d sets lacked something, %d nothing; the test has no point", some, none)
	}
}

func TestLackingOfWhatIsWrong(t *testing.T) {
	for _, test := range invalid {
		if _, ok := Lacking(test.text, `{"f:a":{}}`); ok {
			if _, err := ParseFieldsV1(test.text); err != nil && !isSteppedOver(test.text) {
				t.Errorf("%s: a text that can't be read is understood: %s", test.name, test.text)
			}
		}
	}
}

// isSteppedOver tells the texts whose mistake is in what nobody looks at.
func isSteppedOver(text string) bool {
	_, ok := Common(text, Set{})
	return ok
}

// On the way to the paths, Along says what the set says.
func TestAlong(t *testing.T) {
	for seed := range uint64(6000) {
		r := seeded(seed)
		stock := randomStock(r)
		s, paths := randomPair(r, stock).ours, randomPair(r, stock).ours
		along, ok := Along(s.FieldsV1(), paths)
		if !ok {
			t.Fatalf("seed %d: %s is not understood", seed, s.FieldsV1())
		}
		checkAlong(t, s, along, paths)
	}
}

func checkAlong(t *testing.T, s, along, paths Set) {
	t.Helper()
	for i := range paths.Len() {
		e := paths.Element(i)
		below, member := s.Below(e)
		gotBelow, gotMember := along.Below(e)
		if member != gotMember || below.IsEmpty() != gotBelow.IsEmpty() {
			t.Fatalf("of %v, %s says member %v, something below %v; along is member %v, something below %v",
				e, s.FieldsV1(), member, !below.IsEmpty(), gotMember, !gotBelow.IsEmpty())
		}
		if child := paths.Child(i); !child.IsEmpty() {
			checkAlong(t, below, gotBelow, child)
		}
	}
}
