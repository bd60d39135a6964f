package fieldset

import (
	"strings"
	"testing"
	"time"
)

// Common says what the algebra would, of every text that Kubernetes writes.
func TestCommon(t *testing.T) {
	some := 0
	for seed := range uint64(6000) {
		r := seeded(seed)
		stock := randomStock(r)
		s, paths := randomPair(r, stock).ours, randomPair(r, stock).ours
		got, ok := common(s.FieldsV1(), paths)
		if want := s.Intersection(paths); !ok || !got.Equal(want) {
			t.Fatalf("seed %d: %s has in common with\n%s%v\n%snot\n%s", seed, s.FieldsV1(), paths, ok, got, want)
		}
		if !got.IsEmpty() {
			some++
		}
		text := mutate(r, s.FieldsV1())
		mutated, err := ParseFieldsV1(text)
		if got, ok := common(text, paths); err == nil && mutated.FieldsV1() == text && (!ok || !got.Equal(mutated.Intersection(paths))) {
			t.Fatalf("seed %d: %s has in common with\n%s%s\nnot\n%s", seed, text, paths, got, mutated.Intersection(paths))
		}
	}
	if some < 500 {
		t.Errorf("only %d sets had something in common", some)
	}
}

// A name that can't be read on the way to a path is noticed. What is stepped over, and what
// comes behind the last path, may be anything.
func TestCommonOfWhatIsWrong(t *testing.T) {
	names := 0
	for _, test := range invalid {
		for _, path := range []string{"spec.a.b", "spec.zz.b"} {
			if _, ok := common(`{"f:spec":`+test.text+`}`, setOf(t, path)); ok && strings.Contains(test.want, "expected a path element") {
				t.Errorf("%s: a text that can't be read on the way to %s is understood", test.name, path)
			}
		}
		if strings.Contains(test.want, "expected a path element") {
			names++
		}
	}
	if names < 5 {
		t.Errorf("only %d texts had a name that can't be read", names)
	}
}

func TestCommonWithNothing(t *testing.T) {
	if got, ok := common(deployment("app"), Set{}); !ok || !got.IsEmpty() {
		t.Error("something is in common with nothing")
	}
}

// On the way to the paths, Along says what the set says.
func TestAlong(t *testing.T) {
	var memory arena
	for seed := range uint64(6000) {
		r := seeded(seed)
		stock := randomStock(r)
		s, paths := randomPair(r, stock).ours, randomPair(r, stock).ours
		other := randomPair(r, stock).ours
		along, ok := memory.Along(s.FieldsV1(), paths)
		alongOther, okOther := memory.Along(other.FieldsV1(), paths)
		if !ok || !okOther {
			t.Fatalf("seed %d: %s is not understood", seed, s.FieldsV1())
		}
		checkAlong(t, s, along, paths)
		checkAlong(t, other, alongOther, paths)
		if seed%4 == 0 {
			memory.Reset()
		}
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

// What is deep is gone through once, not once a level.
func TestCommonIsLinear(t *testing.T) {
	cost := func(depth int) time.Duration {
		down := strings.Repeat(`{"f:a":`, depth) + "{}"
		set, err := ParseFieldsV1(down + strings.Repeat(`,"f:b":{}}`, depth))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		found, ok := common(down+strings.Repeat(`,"f:b":{"f:x":{}},"f:c":{}}`, depth), set)
		if !ok || found.Size() != 1 {
			t.Fatalf("found %d paths, want 1", found.Size())
		}
		return time.Since(start)
	}
	cost(1000)
	if short, long := cost(1000), cost(8000); long > 20*max(short, 2*time.Millisecond) {
		t.Errorf("8 times as deep took %v instead of %v", long, short)
	}
}
