package applytest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRequests checks which HTTP request each verb sends.
func TestRequests(t *testing.T) {
	for _, test := range []struct {
		name, request, want string
	}{
		{"apply", "APPLY configmaps/shared as alice\n\ndata: {a: \"1\"} # as it is\n",
			"PATCH /api/v1/namespaces/$NAMESPACE/configmaps/shared?fieldManager=alice\napplication/apply-patch+yaml\ndata: {a: \"1\"} # as it is\n"},
		{"options", "APPLY configmaps/shared as \"a b\" force dryRun fieldValidation=Strict\n\n{}\n",
			"PATCH /api/v1/namespaces/$NAMESPACE/configmaps/shared?fieldManager=a+b&force=true&dryRun=All&fieldValidation=Strict\napplication/apply-patch+yaml\n{}\n"},
		{"group and subresource", "MERGE apps/v1 deployments/web/scale as bob\n\nspec: {replicas: 3}\n",
			"PATCH /apis/apps/v1/namespaces/$NAMESPACE/deployments/web/scale?fieldManager=bob\napplication/merge-patch+json\n{\"spec\":{\"replicas\":3}}"},
		{"a group of its own", "GET $NAMESPACE.example.com/v1beta1 widgets/x\n",
			"GET /apis/$NAMESPACE.example.com/v1beta1/namespaces/$NAMESPACE/widgets/x\n\n"},
		{"create", "CREATE configmaps\n\nmetadata: {name: $NAMESPACE}\n",
			"POST /api/v1/namespaces/$NAMESPACE/configmaps\napplication/json\n{\"metadata\":{\"name\":\"$NAMESPACE\"}}"},
		{"update", "UPDATE configmaps/shared\n\n{a: 1}\n", "PUT /api/v1/namespaces/$NAMESPACE/configmaps/shared\napplication/json\n{\"a\":1}"},
		{"strategic", "STRATEGIC configmaps/shared\n\n$patch: delete\n",
			"PATCH /api/v1/namespaces/$NAMESPACE/configmaps/shared\napplication/strategic-merge-patch+json\n{\"$patch\":\"delete\"}"},
		{"JSON patch", "JSONPATCH configmaps/shared\n\n- {op: remove, path: /a}\n",
			"PATCH /api/v1/namespaces/$NAMESPACE/configmaps/shared\napplication/json-patch+json\n[{\"op\":\"remove\",\"path\":\"/a\"}]"},
		{"another media type", "CREATE configmaps\nContent-Type: application/yaml\n\na: 1\n", "POST /api/v1/namespaces/$NAMESPACE/configmaps\napplication/yaml\na: 1\n"},
		{"CBOR", "APPLY configmaps/shared\nContent-Type: application/apply-patch+cbor\n\na: 1\n",
			"PATCH /api/v1/namespaces/$NAMESPACE/configmaps/shared\napplication/apply-patch+cbor\n\xd9\xd9\xf7\xa1\x41a\x01"},
		{"HTTP", "PATCH /api/v1/namespaces/$NAMESPACE/configmaps/shared?fieldManager=a%20b&force=\n\n{}\n",
			"PATCH /api/v1/namespaces/$NAMESPACE/configmaps/shared?fieldManager=a+b&force=\n\n{}\n"},
		{"variables", "GET configmaps/${first .metadata.name}-$uid-$resourceVersion resourceVersion=${.metadata.resourceVersion} label=${first .list[1]}\n",
			"GET /api/v1/namespaces/$NAMESPACE/configmaps/shared-4a1b2c3d-0000-4000-8000-000000000000-7?resourceVersion=7&label=2\n\n"},
		{"edit", "EDIT configmaps/shared as bob\n\nmetadata: null\nlist: null\ndata: {a: null, b: '3'}\n",
			"PUT /api/v1/namespaces/$NAMESPACE/configmaps/shared?fieldManager=bob\napplication/json\n{\"apiVersion\":\"v1\",\"data\":{\"b\":\"3\"},\"kind\":\"ConfigMap\"}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := startFakeServer(t, shared)
			script := "It works.\n-- first --\nGET configmaps/shared\n-- step --\n" + test.request
			if result := f.run(t, script); result.Outcome == Fail {
				t.Fatal(result.Failure)
			} else if result.Outcome == Skip {
				t.Fatal(result.Reason)
			}
			if !slices.Contains(f.requests, test.want) {
				t.Errorf("sent\n%q, want\n%q", f.requests, test.want)
			}
		})
	}
}

// TestEventually checks that a request with EVENTUALLY is repeated until the response meets the expectations, and is
// not sent again after that, because a repetition may create an object.
func TestEventually(t *testing.T) {
	const notYet, exists = `404 {"kind":"Status"}`, `409 {"kind":"Status"}`
	f := startFakeServer(t, notYet, notYet, made, exists)
	result := f.run(t, "It works.\n-- step --\nEVENTUALLY CREATE configmaps\n\n{metadata: {name: shared}}\n-- answer --\n201\n-- object has --\nkind: ConfigMap\n")
	if result.Outcome != Pass || len(f.requests) != 3 {
		t.Errorf("outcome = %v %v after %d requests, want a pass after the first expected response", result.Outcome, result.Failure, len(f.requests))
	}
	f = startFakeServer(t, notYet, shared)
	if result := f.run(t, "It works.\n-- step --\nGET configmaps/shared\n-- answer --\n200\n"); result.Outcome != Fail {
		t.Errorf("outcome without EVENTUALLY = %v, want a failure", result.Outcome)
	}
}

// TestTimes checks that a request with TIMES is repeated, and that the script fails if any repetition fails.
func TestTimes(t *testing.T) {
	const script = "It works.\n-- step --\nTIMES 3 MERGE configmaps/shared as m-$N\n\na: $N\n-- answer --\n200\n"
	f := startFakeServer(t, shared)
	result := f.run(t, script)
	if result.Outcome != Pass || len(f.requests) != 3 || !strings.Contains(f.requests[2], "fieldManager=m-3\napplication/merge-patch+json\n{\"a\":3}") {
		t.Errorf("outcome = %v %v after the requests %q, want a pass after all repetitions", result.Outcome, result.Failure, f.requests)
	}
	if result := startFakeServer(t, conflict, shared).run(t, script); result.Outcome != Fail {
		t.Error("the failure of the first repetition was not reported, want a failure")
	}
}

// TestTimeout checks that, if the server does not respond, the script fails and the run is not blocked.
func TestTimeout(t *testing.T) {
	for _, request := range []string{"GET configmaps/shared", "WATCH configmaps"} {
		f := startFakeServer(t, shared)
		over := make(chan struct{})
		f.onRequest = func(int) { <-over }
		options := f.options("It works.\n-- step --\n" + request + "\n-- answer --\n200\n")
		options.RequestTimeout, options.CleanupTimeout = 100*time.Millisecond, 300*time.Millisecond
		report, err := Run(t.Context(), options)
		close(over)
		if err != nil || report.Results[0].Outcome != Fail || !strings.Contains(report.Results[0].Failure.String(), "no response within 100ms") {
			t.Errorf("%s: Run() = %v, %+v, want a failed script without a response", request, err, report)
		}
	}
}

// TestSyntaxErrors checks that Parse reports syntax errors in a script.
func TestSyntaxErrors(t *testing.T) {
	const prose, step = "It works.\n", "-- step --\nGET configmaps/shared\n"
	for _, test := range []struct{ name, script, complaint string }{
		{"no prose", step, "expected the behaviour as a sentence"},
		{"no step", prose, "expected at least one step"},
		{"unknown ability", prose + "needs: wings\n" + step, `needs: expected cbor, crds, drop, garbage collection, no controllers, no drop, unset or a kind such as "apps/v1 deployments", received "wings"`},
		{"only without a reason", prose + "only: cadastre\n" + step, "only: expected an implementation and a reason"},
		{"defect without a reason", prose + "defect: cadastre\n" + step, "defect: expected an implementation and a reason"},
		{"expectation without a step", prose + "-- answer --\n200\n", "expected a request before"},
		{"same step twice", prose + step + step, "expected a unique name of the step"},
		{"same expectation twice", prose + step + "-- answer --\n200\n-- answer --\n200\n", "expected each expectation once"},
		{"unknown verb", prose + "-- step --\nFETCH configmaps\n", `received "FETCH"`},
		{"no address", prose + "-- step --\nGET\n", "expected a request such as"},
		{"unknown option", prose + "-- step --\nGET configmaps quickly\n", `expected "as NAME", "force", "dryRun" or "name=value", received "quickly"`},
		{"body without an empty line", prose + "-- step --\nAPPLY configmaps/x as a\ndata: {}\nwhat else\n", "expected a header such as"},
		{"open quote", prose + "-- step --\nGET configmaps \"as\n", "expected a closing quote"},
		{"bad number", prose + "-- step --\nTIMES many GET configmaps\n", "expected a number after TIMES"},
		{"bad wait", prose + "-- step --\nWAIT long\n", `expected a time such as 1.1s after WAIT, received "long"`},
		{"no wait", prose + "-- step --\nWAIT 0s\n", `expected a time such as 1.1s after WAIT, received "0s"`},
		{"bad status", prose + step + "-- answer --\nfine\n", `expected a status such as 200, received "fine"`},
		{"bad word after the status", prose + step + "-- answer --\n200 same\n", "expected a status, optionally with changed or unchanged"},
		{"bad YAML", prose + step + "-- object --\na: [\n", "-- object --: line"},
		{"bad owner", prose + step + "-- owners --\nalice .data\n", "expected a line such as"},
		{"bad owner's path", prose + step + "-- owners --\nalice Apply v1: .data[\n", ".data["},
		{"bad time", prose + step + "-- times --\nalice Apply v1: later\n", "expected changed, unchanged or new"},
		{"bad events", prose + step + "-- events --\nADDED\n", "expected \"none\" or a list"},
		{"bad event", prose + step + "-- events --\n- ADDED\n", "expected an event such as"},
		{"bad header", prose + step + "-- headers --\njson\n", "expected a header such as"},
		{"difference without a reason", prose + step + "-- answer --\n200\n-- answer of cadastre --\n201\n", "expected the reason of the difference"},
		{"reason without a difference", prose + "difference: because\n" + step, "expected an expectation such as -- answer of cadastre --"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("area/behaviour", []byte(test.script))
			if err == nil || !strings.Contains(err.Error(), test.complaint) || !strings.HasPrefix(err.Error(), "area/behaviour: ") {
				t.Errorf("Parse() = %v, want %s", err, test.complaint)
			}
		})
	}
}
