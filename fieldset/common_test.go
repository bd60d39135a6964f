package fieldset

import "testing"

// Common says what the algebra would, of every text that it understands, and it
// understands all that Kubernetes writes.
func TestCommon(t *testing.T) {
	some := 0
	for seed := range uint64(6000) {
		r := seeded(seed)
		stock := randomStock(r)
		s, paths := randomPair(r, stock).ours, randomPair(r, stock).ours
		got, ok := Common(s.FieldsV1(), paths)
		if want := s.Intersection(paths); !ok || !got.Equal(want) {
			t.Fatalf("seed %d: %s has in common with\n%s%v\n%snot\n%s", seed, s.FieldsV1(), paths, ok, got, want)
		}
		if !got.IsEmpty() {
			some++
		}
		text := mutate(r, s.FieldsV1())
		mutated, err := ParseFieldsV1(text)
		if got, ok := Common(text, paths); err == nil && ok && !got.Equal(mutated.Intersection(paths)) {
			t.Fatalf("seed %d: %s has in common with\n%s%s\nnot\n%s", seed, text, paths, got, mutated.Intersection(paths))
		}
	}
	if some < 500 {
		t.Errorf("only %d sets had something in common", some)
	}
}

// What is wrong on the way to a path of the set is noticed. What Common steps over
// may be anything.
func TestCommonOfWhatIsWrong(t *testing.T) {
	steppedOver := map[string]bool{"an ignored value that is no JSON": true, "dot without a value": true, "too deep": true}
	paths := setOf(t, "spec.a.b")
	for _, test := range invalid {
		if _, ok := Common(`{"f:spec":`+test.text+`}`, paths); ok && !steppedOver[test.name] {
			t.Errorf("%s: a text that can't be read on the way to a path is understood", test.name)
		}
	}
}

func TestCommonWithNothing(t *testing.T) {
	if got, ok := Common(deployment("app"), Set{}); !ok || !got.IsEmpty() {
		t.Error("something is in common with nothing")
	}
}
