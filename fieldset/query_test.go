package fieldset

import (
	"strings"
	"testing"
	"time"
)

// TestTextIntersection checks that textIntersection returns the same set as Set.Intersection, for text that Kubernetes
// writes.
func TestTextIntersection(t *testing.T) {
	some := 0
	for seed := range uint64(6000) {
		r := newRand(seed)
		elements := randomElements(r)
		s, paths := randomSetPair(r, elements).ours, randomSetPair(r, elements).ours
		got, ok := textIntersection(s.FieldsV1(), paths)
		if want := s.Intersection(paths); !ok || !got.Equal(want) {
			t.Fatalf("seed %d: textIntersection(%s,\n%s) = %v\n%swant\n%s", seed, s.FieldsV1(), paths, ok, got, want)
		}
		if !got.IsEmpty() {
			some++
		}
		text := mutate(r, s.FieldsV1())
		mutated, err := ParseFieldsV1(text)
		if got, ok := textIntersection(text, paths); err == nil && mutated.FieldsV1() == text && (!ok || !got.Equal(mutated.Intersection(paths))) {
			t.Fatalf("seed %d: textIntersection(%s,\n%s) = \n%s\nwant\n%s", seed, text, paths, got, mutated.Intersection(paths))
		}
	}
	if some < 500 {
		t.Errorf("only %d intersections are not empty, want at least 500", some)
	}
}

// TestTextIntersectionOfInvalidText checks that textIntersection detects an invalid name that it reads in the search
// for a path. It does not validate the text that it skips, nor the text after the last path.
func TestTextIntersectionOfInvalidText(t *testing.T) {
	names := 0
	for _, test := range invalidTexts {
		for _, path := range []string{"spec.a.b", "spec.zz.b"} {
			if _, ok := textIntersection(`{"f:spec":`+test.text+`}`, setOf(t, path)); ok && strings.Contains(test.want, "expected a path element") {
				t.Errorf("%s: textIntersection with %s: ok = true for an invalid text, want false", test.name, path)
			}
		}
		if strings.Contains(test.want, "expected a path element") {
			names++
		}
	}
	if names < 5 {
		t.Errorf("only %d texts contain an invalid name, want at least 5", names)
	}
}

func TestTextIntersectionWithEmptySet(t *testing.T) {
	if got, ok := textIntersection(deployment("app"), Set{}); !ok || !got.IsEmpty() {
		t.Error("textIntersection with an empty set: want an empty set and ok = true")
	}
}

// TestProject checks that Project returns the same membership as the decoded set, for every element of the paths.
func TestProject(t *testing.T) {
	var memory arena
	for seed := range uint64(6000) {
		r := newRand(seed)
		elements := randomElements(r)
		s, paths := randomSetPair(r, elements).ours, randomSetPair(r, elements).ours
		other := randomSetPair(r, elements).ours
		project, ok := memory.Project(s.FieldsV1(), paths)
		projectionOther, okOther := memory.Project(other.FieldsV1(), paths)
		if !ok || !okOther {
			t.Fatalf("seed %d: Project(%s): ok = false, want true", seed, s.FieldsV1())
		}
		checkProject(t, s, project, paths)
		checkProject(t, other, projectionOther, paths)
		if seed%4 == 0 {
			memory.Reset()
		}
	}
}

func checkProject(t *testing.T, s, project, paths Set) {
	t.Helper()
	for i := range paths.Len() {
		e := paths.Element(i)
		below, member := s.Below(e)
		gotBelow, gotMember := project.Below(e)
		if member != gotMember || below.IsEmpty() != gotBelow.IsEmpty() {
			t.Fatalf("%v in %s: want member %v, children %v; the projection has member %v, children %v",
				e, s.FieldsV1(), member, !below.IsEmpty(), gotMember, !gotBelow.IsEmpty())
		}
		if child := paths.Child(i); !child.IsEmpty() {
			checkProject(t, below, gotBelow, child)
		}
	}
}

// TestTextIntersectionIsLinear checks that the time for deeply nested text grows linearly, because each level is read
// only once.
func TestTextIntersectionIsLinear(t *testing.T) {
	cost := func(depth int) time.Duration {
		down := strings.Repeat(`{"f:a":`, depth) + "{}"
		set, err := ParseFieldsV1(down + strings.Repeat(`,"f:b":{}}`, depth))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		found, ok := textIntersection(down+strings.Repeat(`,"f:b":{"f:x":{}},"f:c":{}}`, depth), set)
		if !ok || found.Size() != 1 {
			t.Fatalf("textIntersection found %d paths, want 1", found.Size())
		}
		return time.Since(start)
	}
	cost(1000)
	if short, long := cost(1000), cost(8000); long > 20*max(short, 2*time.Millisecond) {
		t.Errorf("depth 8000 took %v, depth 1000 took %v, want at most 20 times as long", long, short)
	}
}
