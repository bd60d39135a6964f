package applytest

import (
	"strings"
	"testing"
)

// TestSkips checks that a script is skipped with a reason if the server lacks a need. The fake does not serve
// deployments, and has the objects of a cluster with controllers.
func TestSkips(t *testing.T) {
	const get = "-- step --\nGET configmaps/shared\n"
	for _, test := range []struct{ name, script, reason string }{
		{"nothing", get, ""},
		{"unset", "needs: unset\n" + get, ""},
		{"kind", "needs: apps/v1 deployments\n" + get, ""},
		{"no kind", "needs: apps/v1 boats\n" + get, "the server does not serve apps/v1 boats"},
		{"no kind of an address", "-- step --\nGET apps/v1 boats/b\n", "the server does not serve apps/v1 boats"},
		{"a kind of its own", "-- step --\nGET $NAMESPACE.example.com/v1 boats/b\n", ""},
		{"no group", "needs: batch/v1 jobs\n" + get, "the server does not serve batch/v1 jobs"},
		{"crds", "needs: crds\n" + get, "the server does not serve apiextensions.k8s.io/v1 customresourcedefinitions"},
		{"controllers", "needs: no controllers\n" + get, "controllers are running and write to the same objects"},
		{"this one only", "only: kubernetes: it is theirs\n" + get, ""},
		{"another one only", "only: cadastre: it is ours\n" + get, "only cadastre: it is ours"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t, shared)
			result := f.run(t, "It works.\n"+test.script)
			if result.Reason != test.reason || (result.Outcome == Skip) != (test.reason != "") {
				t.Errorf("outcome = %v %q, want %q", result.Outcome, result.Reason, test.reason)
			}
			if result.Outcome == Skip && len(f.requests) > 0 {
				t.Errorf("the skipped script sent requests: %q", f.requests)
			}
		})
	}
}

// TestDenials checks that a denied request skips the script at once for a user with limited permissions, and fails it
// for a user with all permissions.
func TestDenials(t *testing.T) {
	const denied = `403 {"kind":"Status","message":"not you"}`
	for _, request := range []string{"GET configmaps/shared", "EVENTUALLY GET configmaps/shared", "EDIT configmaps/shared\n\n{}", "EVENTUALLY EDIT configmaps/shared\n\n{}"} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			script := "It works.\n-- step --\n" + request + "\n-- answer --\n200\n"
			f := newFake(t, denied)
			f.limits = true
			if result := f.run(t, script); result.Outcome != Skip || result.Reason != "permission denied: not you" || len(f.requests) != 1 {
				t.Errorf("outcome = %v %q after %d requests, want a skip", result.Outcome, result.Reason, len(f.requests))
			}
			if strings.HasPrefix(request, "EVENTUALLY") {
				return // it would be repeated until the timeout
			}
			if result := newFake(t, denied).run(t, script); result.Outcome != Fail {
				t.Errorf("outcome = %v %q, want a failure", result.Outcome, result.Reason)
			}
		})
	}
}

// TestImplementations checks that an implementation's own expectations apply to it only.
func TestImplementations(t *testing.T) {
	const head = "It works.\ndifference: because\ndefect: cadastre: it is slow\n-- step --\nGET configmaps/shared\n"
	for _, test := range []struct {
		name, expectations   string
		kubernetes, cadastre Outcome
	}{
		{"own answer replaces all", "-- answer --\n409\n-- error --\nreason: Other\n-- answer of cadastre --\n200\n", Fail, Pass},
		{"own answer is compared", "-- answer --\n200\n-- answer of cadastre --\n409\n", Pass, Fail},
		{"own part replaces its like", "-- answer --\n200\n-- object has --\ndata: {a: \"9\"}\n-- object has of cadastre --\ndata: {a: \"1\"}\n", Fail, Pass},
		{"all else is compared", "-- answer --\n409\n-- object has of cadastre --\ndata: {a: \"1\"}\n", Fail, Fail},
		{"of somebody else", "-- answer --\n200\n-- answer of nobody --\n409\n", Pass, Pass},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			theirs := newFake(t, shared).run(t, head+test.expectations)
			f := newFake(t, shared)
			f.version = "v1.36.0+cadastre"
			ours := f.run(t, head+test.expectations)
			if theirs.Outcome != test.kubernetes || ours.Outcome != test.cadastre {
				t.Errorf("outcomes = %v and %v, want %v and %v", theirs.Outcome, ours.Outcome, test.kubernetes, test.cadastre)
			}
			if theirs.Defect != "" || ours.Defect != "it is slow" {
				t.Errorf("defects = %q and %q", theirs.Defect, ours.Defect)
			}
			if own := strings.Contains(test.expectations, "of cadastre"); theirs.Difference != "" || own && ours.Outcome == Pass && ours.Difference != "because" {
				t.Errorf("differences = %q and %q", theirs.Difference, ours.Difference)
			}
		})
	}
}
