package fieldset

import (
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// operations are the set operations that structured-merge-diff implements, too: ours is the operation of this package,
// upstream that of structured-merge-diff.
var operations = []struct {
	name     string
	ours     func(s, other Set) Set
	upstream func(s, other *fieldpath.Set) *fieldpath.Set
}{
	{"union", Set.Union, (*fieldpath.Set).Union},
	{"intersection", Set.Intersection, (*fieldpath.Set).Intersection},
	{"difference", Set.Difference, (*fieldpath.Set).Difference},
	{"recursive difference", Set.RecursiveDifference, (*fieldpath.Set).RecursiveDifference},
	{"leaves", func(s, _ Set) Set { return s.Leaves() }, func(s, _ *fieldpath.Set) *fieldpath.Set { return s.Leaves() }},
}

func TestAlgebraMatchesUpstream(t *testing.T) {
	for seed := range uint64(1500) {
		r := newRand(seed)
		elements := randomElements(r)
		a, b := randomSetPair(r, elements), randomSetPair(r, elements)
		checkSame(t, fmt.Sprintf("seed %d: set", seed), a.ours, a.upstream)
		for _, op := range operations {
			what := fmt.Sprintf("seed %d: %s of\n%s\n%s", seed, op.name, a.ours.FieldsV1(), b.ours.FieldsV1())
			checkSame(t, what, op.ours(a.ours, b.ours), op.upstream(a.upstream, b.upstream))
		}
		if got, want := a.ours.Equal(b.ours), a.upstream.Equals(b.upstream); got != want {
			t.Fatalf("seed %d: Equal() = %v, want %v:\n%s\n%s", seed, got, want, a.ours.FieldsV1(), b.ours.FieldsV1())
		}
		for i, p := range b.paths {
			if got, want := a.ours.Has(p), a.upstream.Has(b.upstreamPaths[i]); got != want {
				t.Fatalf("seed %d: Has(%s) = %v, want %v", seed, p, got, want)
			}
		}
		for _, e := range elements {
			checkSame(t, fmt.Sprintf("seed %d: At(%s)", seed, e.ours), a.ours.At(Path{e.ours}), a.upstream.WithPrefix(e.upstream))
		}
	}
}

// TestLaws checks algebraic laws for the operations that structured-merge-diff does not implement.
func TestLaws(t *testing.T) {
	for seed := range uint64(1000) {
		r := newRand(seed)
		elements := randomElements(r)
		a, b := randomSetPair(r, elements).ours, randomSetPair(r, elements).ours
		laws := map[string]bool{
			"(a - b) | (a & b) == a": a.Difference(b).Union(a.Intersection(b)).Equal(a),
			"a | b == b | a":         a.Union(b).Equal(b.Union(a)),
			"a & b == b & a":         a.Intersection(b).Equal(b.Intersection(a)),
			"a.Covered(b) == a - a.RecursiveDifference(b)": a.Covered(b).Equal(a.Difference(a.RecursiveDifference(b))),
			"a.Covered(a) == a":                            a.Covered(a).Equal(a),
			"Covered with an empty set is empty":           a.Covered(Set{}).IsEmpty() && (Set{}).Covered(a).IsEmpty(),
			"a - a is empty":                               a.Difference(a).IsEmpty() && a.RecursiveDifference(a).IsEmpty(),
			"a.Leaves().Leaves() == a.Leaves()":            a.Leaves().Leaves().Equal(a.Leaves()),
			"New(a.Paths()) == a":                          New(a.Paths()...).Equal(a),
		}
		for law, holds := range laws {
			if !holds {
				t.Errorf("seed %d: the law %s does not hold for\na %s\nb %s", seed, law, a.FieldsV1(), b.FieldsV1())
			}
		}
		checkInvariants(t, a.Covered(b))
	}
}

func TestCovered(t *testing.T) {
	s := setOf(t, "spec", "spec.image", `spec.ports[port=80].name`, "status.phase")
	for _, test := range []struct {
		other Set
		want  Set
	}{
		{setOf(t, "spec"), setOf(t, "spec", "spec.image", "spec.ports[port=80].name")},
		{setOf(t, "spec.image"), setOf(t, "spec.image")},
		{setOf(t, "spec.ports"), setOf(t, "spec.ports[port=80].name")},
		{setOf(t, "spec.ports[port=81]"), Set{}},
		{setOf(t, "status.phase.more"), Set{}},
	} {
		if got := s.Covered(test.other); !got.Equal(test.want) {
			t.Errorf("Covered(\n%s) =\n%swant\n%s", test.other, got, test.want)
		}
	}
}

// TestOperationsDoNotModifyOperands checks that results, which share parts with their operands, can be used in further
// operations without modifying any set.
func TestOperationsDoNotModifyOperands(t *testing.T) {
	for seed := range uint64(300) {
		r := newRand(seed)
		elements := randomElements(r)
		sets := []Set{randomSetPair(r, elements).ours, randomSetPair(r, elements).ours, mustParse(t, randomSetPair(r, elements).ours.FieldsV1())}
		texts := make([]string, 0, 64)
		for _, s := range sets {
			texts = append(texts, s.FieldsV1())
		}
		for range 30 {
			a, b := sets[r.IntN(len(sets))], sets[r.IntN(len(sets))]
			var made Set
			switch op := r.IntN(len(operations) + 3); op {
			default:
				made = operations[op].ours(a, b)
			case len(operations):
				made = a.Covered(b)
			case len(operations) + 1:
				made = a.Insert(Path{elements[r.IntN(len(elements))].ours, elements[r.IntN(len(elements))].ours})
			case len(operations) + 2:
				made = rebuiltSet(a, b)
			}
			sets, texts = append(sets, made), append(texts, made.FieldsV1())
			for i, s := range sets {
				if got := s.FieldsV1(); got != texts[i] {
					t.Fatalf("seed %d: an operation changed set %d: got %s, want %s", seed, i, got, texts[i])
				}
			}
		}
	}
}

// rebuiltSet returns a copy of a. The builder of the copy also builds b, so both results share memory.
func rebuiltSet(a, b Set) Set {
	var shared builder
	build := func(s Set) Set {
		mark := shared.Mark()
		for i := range s.Len() {
			shared.Push(s.Element(i), s.Member(i), s.Child(i))
		}
		return shared.Set(mark)
	}
	made := build(a)
	build(b)
	return made
}

// TestUnbalancedIntersection compares the intersection of sets of very different sizes, which searches, with the difference of the
// differences, which joins.
func TestUnbalancedIntersection(t *testing.T) {
	paths := func(from, to, step int) Set {
		var all []Path
		for i := from; i < to; i += step {
			all = append(all, Path{NameElement(fmt.Sprintf("f%05d", i))}, Path{NameElement(fmt.Sprintf("f%05d", i)), NameElement("x")})
		}
		return New(all...)
	}
	large := paths(0, 3000, 3)
	for _, small := range []Set{{}, paths(0, 1, 1), paths(2999, 3000, 1), paths(100, 140, 1), paths(-5, 9, 1), paths(2990, 3010, 1)} {
		want := small.Difference(small.Difference(large))
		if got := small.Intersection(large); !got.Equal(want) {
			t.Errorf("small & large = %s, want %s", got, want)
		}
		if got := large.Intersection(small); !got.Equal(want) {
			t.Errorf("large & small = %s, want %s", got, want)
		}
	}
}

// TestManySmallIntersections checks that intersecting the parts of a large set with it takes about linear time, as for an object
// with thousands of managed fields entries.
func TestManySmallIntersections(t *testing.T) {
	const n = 100_000
	parts, all := make([]Set, n), make([]Path, n)
	for i := range parts {
		all[i] = Path{NameElement(fmt.Sprintf("f%07d", i))}
		parts[i] = New(all[i])
	}
	whole, begun := New(all...), time.Now()
	for i, part := range parts {
		if got := whole.Intersection(part); !got.Equal(part) {
			t.Fatalf("intersection with part %d = %s, want the part", i, got)
		}
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("intersecting %d of %d parts took 30 seconds", i, n)
		}
	}
}
