package fieldset

import "testing"

// On what Kubernetes writes, Mentions says exactly what the algebra would; on other
// spellings it may say yes where the answer is no, but not the other way round.
func TestMentions(t *testing.T) {
	exact := 0
	for seed := range uint64(4000) {
		r := seeded(seed)
		stock := randomStock(r)
		s, paths := randomPair(r, stock).ours, randomPair(r, stock).ours
		text := s.FieldsV1()
		want := !s.Covered(paths).IsEmpty()
		if got := Mentions(text, paths); got != want {
			t.Fatalf("seed %d: %s mentions\n%s%v", seed, text, paths, got)
		}
		if want {
			exact++
		}
		text = mutate(r, text)
		if s, err := ParseFieldsV1(text); err == nil && !s.Covered(paths).IsEmpty() && !Mentions(text, paths) {
			t.Fatalf("seed %d: %s does not mention\n%s", seed, text, paths)
		}
	}
	if exact < 500 {
		t.Errorf("only %d sets were mentioned", exact)
	}
}

func TestMentionsWhatIsWrong(t *testing.T) {
	paths := setOf(t, "spec.image")
	for _, test := range invalid {
		if _, err := ParseFieldsV1(`{"f:spec":` + test.text + `}`); err != nil && !Mentions(`{"f:spec":`+test.text, paths) {
			t.Errorf("%s: a text that can't be read below a path of interest mentions nothing", test.name)
		}
	}
	if Mentions(deployment("app"), Set{}) {
		t.Error("nothing is mentioned")
	}
}
