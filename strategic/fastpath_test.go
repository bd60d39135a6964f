package strategic

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// The tests of this file check that the fast paths return the same documents with the same spelling, and the same
// errors, as the general path ("plain").

// plainMerge is Merge without its fast paths.
func plainMerge(object, patch document.Value, t *Type) (document.Value, error) {
	return (&merger{scratch{plain: true}}).merge(t, object, patch)
}

// plainDiff is Diff without its fast paths.
func plainDiff(w ThreeWay, v versions) (document.Value, error) {
	d := &differ{scratch{plain: true}}
	if v.isTwoWay() {
		return d.diffRoot(w.Type, v)
	}
	return w.diff(d, v)
}

// checkPlain fails the test if a result or error differs from that of the general path.
func checkPlain(t testing.TB, what string, got document.Value, err error, plain document.Value, plainErr error) {
	t.Helper()
	if fmt.Sprint(err) != fmt.Sprint(plainErr) {
		t.Fatalf("%s: error = %v\nwant the error without fast paths: %v", what, err, plainErr)
	}
	if err == nil && got.JSON() != plain.JSON() {
		t.Fatalf("%s: result\n%s\nwant the result without fast paths\n%s", what, got, plain)
	}
}

func checkMergePlain(t testing.TB, what string, object, patch document.Value, typ *Type) {
	t.Helper()
	got, err := Merge(object, patch, typ)
	plain, plainErr := plainMerge(object, patch, typ)
	checkPlain(t, what+", merge", got, err, plain, plainErr)
	if err == nil && document.Same(got, object) != document.Same(plain, object) {
		t.Fatalf("%s: Same(result, object) = %v, want %v as without fast paths", what, document.Same(got, object), document.Same(plain, object))
	}
}

func checkDiffPlain(t testing.TB, what string, w ThreeWay, v versions) {
	t.Helper()
	diff := func() (document.Value, error) { return Diff(v.original, v.modified, w.Type) }
	if !v.isTwoWay() {
		diff = func() (document.Value, error) { return w.Diff(v.original, v.modified, v.current) }
	}
	got, err := diff()
	plain, plainErr := plainDiff(w, v)
	checkPlain(t, what+", diff", got, err, plain, plainErr)
}

// TestFastPaths compares the fast paths with the general path, for random objects and patches.
func TestFastPaths(t *testing.T) {
	for seed := range uint64(comparisons()) {
		kind := kinds[seed%uint64(len(kinds))]
		typ := mustType(t, kind)
		r := &generator{Rand: rand.New(rand.NewPCG(seed, 21))}
		original := reparse(t, r.value(kind, "", 9))
		modified, current := r.mutate(t, kind, original), r.mutate(t, kind, original)
		what := fmt.Sprintf("seed %d", seed)

		checkMergePlain(t, what, original, reparse(t, r.patch(kind, original, 9)), typ)
		checkMergePlain(t, what, original, modified, typ) // a complete object is a patch, too
		checkDiffPlain(t, what, ThreeWay{Type: typ}, versions{original, original, modified})
		checkDiffPlain(t, what, ThreeWay{Type: typ, Overwrite: r.chance(50)}, versions{original, current, modified})
	}
}

// envLists are lists of environment variables that fulfil the conditions of the fast paths or violate one of these
// conditions.
var envLists = []string{
	`[]`,
	`[{name: a}]`,
	`[{name: a, value: "1"}]`,
	`[{name: a, value: "2"}]`,
	`[{name: a, value: 1}]`,
	`[{name: a, value: 1.0}]`,
	`[{name: a, value: 1, x: 2}]`,
	`[{name: a, value: 1.0, x: 3}]`,
	`[{name: a, value: true}]`,
	`[{name: a, value: "true"}]`,
	`[{name: a, value: false}]`,
	`[{name: a, value: {b: c}}]`,
	`[{name: a, value: null}]`,
	`[{name: a, other: "1"}]`,
	`[{name: a, value: "1"}, {name: b, value: "2"}]`,
	`[{name: b, value: "3"}, {name: a, value: "2"}]`,
	`[{name: c, value: "3"}, {name: a, value: "2"}, {name: d}]`,
	`[{name: a, value: "1"}, {name: a, value: "1"}]`,
	`[{name: a, value: "1"}, {name: a, value: "2"}]`,
	`[{name: "", value: "1"}, {name: b, value: "2"}]`,
	`[{name: 1, value: "1"}]`,
	`[{name: 1.0, value: "2"}]`,
	`[{name: null, value: "1"}]`,
	`[{value: "1"}]`,
	`[{}]`,
	`[a]`,
	`[null]`,
	`[[]]`,
	`[{name: a, value: "1"}, b]`,
	`[{name: a, $patch: delete}]`,
	`[{name: a, value: "1"}, {name: b, $patch: delete}]`,
	`[{name: b, value: "1"}, {name: a, $patch: delete}]`,
	`[{name: a, value: "1"}, {$patch: replace}]`,
	`[{name: a, value: "1", $patch: merge}]`,
	`[{name: a, value: "1", $patch: unknown}]`,
	`[{name: a, value: "$(b)", $c: d}]`,
	`[{name: a, value: "1", "!": "2"}]`,
	`[{name: a, value: "1", "!": "2", $patch: delete}]`,
	`[{name: a, value: "1", $retainKeys: [name, value]}]`,
	`[{name: a, value: "1", $retainKeys: [name]}]`,
	`{name: a}`,
	`{x: {name: a, value: "1"}, y: {name: z}}`,
	`null`,
}

// TestFastPathConditions merges each pair of envLists and computes patches between them, with and without fast paths,
// and compares the results.
func TestFastPathConditions(t *testing.T) {
	typ := mustType(t, pod)
	pods := make([]document.Value, len(envLists))
	for i, list := range envLists {
		pods[i] = reparse(t, mustParse(t, `{spec: {containers: [{name: main, env: `+list+`}]}}`))
	}
	for i, a := range pods {
		for k, b := range pods {
			what := envLists[i] + " and " + envLists[k]
			checkMergePlain(t, what, a, b, typ)
			checkDiffPlain(t, what, ThreeWay{Type: typ}, versions{a, a, b})
			for n, c := range pods {
				checkDiffPlain(t, what+" and "+envLists[n], ThreeWay{Type: typ, Overwrite: true}, versions{c, a, b})
			}
		}
	}
}

// TestAddAndRemoveIsNoOp: a patch that adds and deletes the same item returns the object itself.
func TestAddAndRemoveIsNoOp(t *testing.T) {
	object := mustParse(t, `{metadata: {finalizers: [a]}}`)
	patch := mustParse(t, `{metadata: {finalizers: [b], $deleteFromPrimitiveList/finalizers: [b]}}`)
	if got, err := Merge(object, patch, mustType(t, pod)); err != nil || !document.Same(got, object) {
		t.Errorf("Merge() = %s, %v, want the object itself", got, err)
	}
}

// TestFastPathLengthLimit compares the fast paths with the general path for lists around the maximum length of the fast
// paths.
func TestFastPathLengthLimit(t *testing.T) {
	typ := mustType(t, pod)
	for _, count := range []int{maxLinear - 1, maxLinear, maxLinear + 1} {
		for _, other := range []int{maxLinear - 1, maxLinear, maxLinear + 1} {
			object, patch := reparse(t, envPod(count, false)), reparse(t, envPod(other, true))
			what := fmt.Sprintf("%d and %d items", count, other)
			checkMergePlain(t, what, object, patch, typ)
			checkDiffPlain(t, what, ThreeWay{Type: typ}, versions{object, object, patch})
			checkDiffPlain(t, what, ThreeWay{Type: typ, Overwrite: true}, versions{patch, object, patch})
		}
	}
}
