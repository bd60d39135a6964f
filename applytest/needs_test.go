package applytest

import (
	"strings"
	"testing"
)

// TestSkips checks that a script is skipped, with a reason, if the server lacks a capability that the script needs. The
// fake server does not serve deployments, and contains the objects that controllers create in a cluster.
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
		{"this one only", "only: kubernetes: it is kubernetes\n" + get, ""},
		{"another one only", "only: cadastre: it is cadastre\n" + get, "only cadastre: it is cadastre"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := startFakeServer(t, shared)
			result := f.run(t, "It works.\n"+test.script)
			if result.Reason != test.reason || (result.Outcome == Skip) != (test.reason != "") {
				t.Errorf("outcome = %v %q, want %q", result.Outcome, result.Reason, test.reason)
			}
			if result.Outcome == Skip && len(f.requests) > 0 {
				t.Errorf("requests of the skipped script = %q, want none", f.requests)
			}
		})
	}
}

// TestDenials checks the effect of an unexpected 403 response: if the user has limited permissions, the script is skipped
// at once; if the user has all permissions, the script fails.
func TestDenials(t *testing.T) {
	const denied = `403 {"kind":"Status","message":"not you"}`
	for _, request := range []string{"GET configmaps/shared", "EVENTUALLY GET configmaps/shared", "EDIT configmaps/shared\n\n{}", "EVENTUALLY EDIT configmaps/shared\n\n{}"} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			script := "It works.\n-- step --\n" + request + "\n-- answer --\n200\n"
			f := startFakeServer(t, denied)
			f.hasLimitedUser = true
			if result := f.run(t, script); result.Outcome != Skip || result.Reason != "permission denied: not you" || len(f.requests) != 1 {
				t.Errorf("outcome = %v %q after %d requests, want a skip", result.Outcome, result.Reason, len(f.requests))
			}
			if strings.HasPrefix(request, "EVENTUALLY") {
				return // for a user with all permissions, EVENTUALLY would repeat the request until the timeout
			}
			if result := startFakeServer(t, denied).run(t, script); result.Outcome != Fail {
				t.Errorf("outcome = %v %q, want a failure", result.Outcome, result.Reason)
			}
		})
	}
}

// TestImplementations checks that the expectations of an implementation ("of NAME") apply only to that implementation.
func TestImplementations(t *testing.T) {
	const head = "It works.\ndifference: because\ndefect: cadastre: it is slow\n-- step --\nGET configmaps/shared\n"
	for _, test := range []struct {
		name, expectations   string
		kubernetes, cadastre Outcome
	}{
		{"own answer replaces all", "-- answer --\n409\n-- error --\nreason: Other\n-- answer of cadastre --\n200\n", Fail, Pass},
		{"own answer is compared", "-- answer --\n200\n-- answer of cadastre --\n409\n", Pass, Fail},
		{"own expectation replaces that of its kind", "-- answer --\n200\n-- object has --\ndata: {a: \"9\"}\n-- object has of cadastre --\ndata: {a: \"1\"}\n", Fail, Pass},
		{"other general expectations are compared", "-- answer --\n409\n-- object has of cadastre --\ndata: {a: \"1\"}\n", Fail, Fail},
		{"expectation of another implementation is ignored", "-- answer --\n200\n-- answer of nobody --\n409\n", Pass, Pass},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kubernetes := startFakeServer(t, shared).run(t, head+test.expectations)
			f := startFakeServer(t, shared)
			f.version = "v1.37.0+cadastre"
			cadastre := f.run(t, head+test.expectations)
			if kubernetes.Outcome != test.kubernetes || cadastre.Outcome != test.cadastre {
				t.Errorf("outcomes of Kubernetes and Cadastre = %v and %v, want %v and %v", kubernetes.Outcome, cadastre.Outcome, test.kubernetes, test.cadastre)
			}
			if kubernetes.Defect != "" || cadastre.Defect != "it is slow" {
				t.Errorf("defects of Kubernetes and Cadastre = %q and %q, want none and \"it is slow\"", kubernetes.Defect, cadastre.Defect)
			}
			if own := strings.Contains(test.expectations, "of cadastre"); kubernetes.Difference != "" || own && cadastre.Outcome == Pass && cadastre.Difference != "because" {
				t.Errorf("differences of Kubernetes and Cadastre = %q and %q, want none and \"because\"", kubernetes.Difference, cadastre.Difference)
			}
		})
	}
}
