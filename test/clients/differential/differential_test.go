package differential

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/applytest"
	"github.com/cadastre/cadastre/document"
)

func generated(t *testing.T, seed uint64) History {
	t.Helper()
	h, err := Generate(seed)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestSeedsAreDeterministic checks that a seed always generates the same history, and that different seeds generate different
// ones.
func TestSeedsAreDeterministic(t *testing.T) {
	seen := map[string]uint64{}
	for seed := range uint64(500) {
		script := string(generated(t, seed).script())
		if again := string(generated(t, seed).script()); again != script {
			t.Fatalf("Generate(%d) returned different histories, want equal histories:\n%s\n%s", seed, script, again)
		}
		_, steps, _ := strings.Cut(script, "\n")
		if other, ok := seen[steps]; ok {
			t.Errorf("Generate(%d) and Generate(%d) returned equal histories, want different histories", seed, other)
		}
		seen[steps] = seed
	}
}

// TestHistoriesAreScripts checks that applytest parses every history, and that all verbs, features and resources occur.
func TestHistoriesAreScripts(t *testing.T) {
	kinds, err := vocabulary()
	if err != nil {
		t.Fatal(err)
	}
	verbs, resources, texts := map[string]int{}, map[string]int{}, strings.Builder{}
	for seed := range uint64(3000) {
		h := generated(t, seed)
		if _, err := applytest.Parse("random/x", h.script()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		texts.Write(h.script())
		for _, s := range h.Steps {
			verbs[s.Verb]++
			for _, k := range kinds {
				if strings.Contains("/"+strings.ReplaceAll(s.Address, " ", "/")+"/", "/"+k.resource+"/") {
					resources[k.resource]++
				}
			}
			if strings.Contains(s.Body.JSON(), "<s:") || strings.Contains(s.Body.JSON(), "<v:") {
				t.Errorf("seed %d: a placeholder was not replaced in %s", seed, s.Body.JSON())
			}
		}
	}
	for _, verb := range []string{"APPLY", "CREATE", "UPDATE", "EDIT", "MERGE", "STRATEGIC", "JSONPATCH", "DELETE", "GET"} {
		if verbs[verb] == 0 {
			t.Errorf("no history has verb %s; got the verbs %v", verb, verbs)
		}
	}
	for _, text := range []string{
		"\nUser-Agent: erin/", "\nContent-Type: " + mediaYAML, "\nContent-Type: " + mediaProtobuf, "\nAccept: " + mediaYAML, "\nAccept: " + mediaProtobuf,
		"$patch: delete", "$patch: replace", "$retainKeys:", "$setElementOrder/containers:", "$setElementOrder/finalizers:", "$deleteFromPrimitiveList/finalizers:",
		`resourceVersion: "$resourceVersion"`, "uid: $uid", "managedFields: []", "managedFields:\n", "manager: dave",
	} {
		if !strings.Contains(texts.String(), text) {
			t.Errorf("no history contains %q, want 1 or more", text)
		}
	}
	for _, k := range kinds {
		if resources[k.resource] == 0 {
			t.Errorf("no history uses resource %s; got the resources %v", k.resource, resources)
		}
	}
}

// pairOf is a fake Pair. It calls the function with each history; the result is the failure of the finding, or nil if
// the servers do not differ.
type pairOf func(History) *applytest.Failure

func (p pairOf) Compare(_ context.Context, histories []History) ([]Finding, error) {
	var findings []Finding
	for _, h := range histories {
		findings = append(findings, Finding{History: h, Script: h.script(), Failure: p(h)})
	}
	return findings, nil
}

// labelLossFailure returns the failure that h would have with a server that loses the label x of a merge patch after a forced
// apply. It returns nil if h has no such merge patch.
func labelLossFailure(h History) *applytest.Failure {
	applied := false
	for i, s := range h.Steps {
		applied = applied || s.Verb == "APPLY" && s.Force
		if s.Verb == "MERGE" && applied && !s.Body.Lookup("metadata", "labels", "x").IsAbsent() {
			return &applytest.Failure{Step: stepName(i, s), Complaints: []string{`object: .metadata.labels.x: expected "1", received nothing`}}
		}
	}
	return nil
}

// TestShrink checks that a shrunk history has only the steps and fields that cause the difference.
func TestShrink(t *testing.T) {
	shrunk := 0
	for seed := range uint64(3000) {
		h := generated(t, seed)
		failure := labelLossFailure(h)
		if failure == nil {
			continue
		}
		shrunk++
		small, err := Shrink(t.Context(), pairOf(labelLossFailure), Finding{History: h, Failure: failure})
		if err != nil {
			t.Fatal(err)
		}
		steps := small.History.Steps
		if len(steps) != 2 || steps[0].Verb != "APPLY" || !steps[0].Force || steps[1].Verb != "MERGE" {
			t.Fatalf("seed %d: Shrink() returned\n%[2]s\nwant a forced apply and a merge patch", seed, small.History.script())
		}
		if fields := countLeaves(steps[0].Body); fields != 3 {
			t.Errorf("seed %d: body of the apply = %s, want only apiVersion, kind and name", seed, steps[0].Body.JSON())
		}
		if countLeaves(steps[1].Body) != 1 {
			t.Errorf("seed %d: body of the patch = %s, want only the label", seed, steps[1].Body.JSON())
		}
	}
	if shrunk < 10 {
		t.Errorf("%d histories contain the difference, want 10 or more", shrunk)
	}
}

func countLeaves(body document.Value) int {
	n := 0
	for _, p := range fieldPaths(body) {
		if value := valueAt(body, p); value.IsScalar() || value.IsNull() {
			n++
		}
	}
	return n
}

// TestShrinkKeepsTheDifference checks that Shrink does not return a history with a difference of another kind.
func TestShrinkKeepsTheDifference(t *testing.T) {
	pair := pairOf(func(h History) *applytest.Failure {
		s := h.Steps[len(h.Steps)-1]
		complaint := "object: .a: expected 1, received 2"
		if len(h.Steps) < 3 {
			complaint = "object: .b: expected 1, received 2"
		}
		return &applytest.Failure{Step: stepName(len(h.Steps)-1, s), Complaints: []string{complaint}}
	})
	h := History{Steps: []Step{{Verb: "GET"}, {Verb: "GET"}, {Verb: "GET"}, {Verb: "GET"}, {Verb: "GET"}}}
	small, err := Shrink(t.Context(), pair, Finding{History: h, Failure: pair(h)})
	if err != nil || len(small.History.Steps) != 3 {
		t.Errorf("shrunk history has %d steps, %v; want 3", len(small.History.Steps), err)
	}
}

// TestComplaintKinds checks that the kinds of complaints do not contain resourceVersions, which are random.
func TestComplaintKinds(t *testing.T) {
	for complaint, want := range map[string]string{
		"answer: expected the object to be changed, but its resourceVersion is still 12":       "answer: expected the object to be changed, but its resourceVersion _",
		"answer: expected the object to be unchanged, but its resourceVersion was 1 and is 23": "answer: expected the object to be unchanged, but its resourceVersion _",
		"answer: expected status 200, received 409 {\"kind\":\"Status\"}":                      "status 200 became 409",
		"object: .metadata.labels.x: expected \"1\", received nothing":                         "object: .metadata.labels.x:",
	} {
		f := Finding{Failure: &applytest.Failure{Complaints: []string{complaint}}}
		if got := f.complaintKinds(); !slices.Equal(got, []string{want}) {
			t.Errorf("complaintKinds() of %q = %q, want [%q]", complaint, got, want)
		}
	}
}

// TestStateAfter checks that stateAfter counts the writes since the creation of the object or the last update of its status.
func TestStateAfter(t *testing.T) {
	object := parsed(t, "metadata: {name: a}")
	steps := []struct {
		s    Step
		a    serverResponse
		want int
	}{
		{Step{Verb: "APPLY"}, serverResponse{code: 201, object: object}, 0},
		{Step{Verb: "GET"}, serverResponse{code: 200, object: object}, 0},
		{Step{Verb: "APPLY", DryRun: true}, serverResponse{code: 200, object: object}, 0},
		{Step{Verb: "APPLY"}, serverResponse{code: 409}, 0},
		{Step{Verb: "APPLY"}, serverResponse{code: 200, object: object}, 1},
		{Step{Verb: "EDIT"}, serverResponse{code: 200, object: object}, 2},
		{Step{Verb: "APPLY", Address: "batch/v1 jobs/a/status"}, serverResponse{code: 200, object: object}, 3},
		{Step{Verb: "UPDATE", Address: "batch/v1 jobs/a/status"}, serverResponse{code: 200, object: object}, 0},
		{Step{Verb: "EDIT"}, serverResponse{code: 200, object: object}, 1},
		{Step{Verb: "DELETE"}, serverResponse{code: 200}, 0},
	}
	var state serverResponse
	for i, step := range steps {
		step.a.before, step.a.writes = state.object, state.writes
		state = step.a.stateAfter(step.s)
		if exists := i < len(steps)-1; state.writes != step.want || state.object.IsAbsent() == exists {
			t.Errorf("after step %[1]d: got %[3]d writes, want %[2]d; object %[4]s", i, step.want, state.writes, state.object.JSON())
		}
	}
}

// TestKnownDifferencesAreListed checks that every difference that is excluded from the comparison is a heading of
// docs/differences.md or a row of docs/not-implemented.md.
func TestKnownDifferencesAreListed(t *testing.T) {
	page := func(name string) string {
		text, err := os.ReadFile("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text, missing := page("differences.md"), page("not-implemented.md")
	titles := []string{additionalWarning}
	for _, d := range differences {
		titles = append(titles, d.title)
	}
	for _, title := range titles {
		if !strings.Contains(text, "\n### "+title+"\n") && !strings.Contains(missing, "\n| "+title+" |") {
			t.Errorf("%q is neither a heading in docs/differences.md nor a row of docs/not-implemented.md", title)
		}
	}
}

// TestLeavesResidue checks that leavesResidue reports only directives and nulls within new maps or list items of a patch, which
// kube-apiserver stores in the object.
func TestLeavesResidue(t *testing.T) {
	const live = `{spec: {containers: [{name: app, env: [{name: A}]}], topologySpreadConstraints: [{topologyKey: a}]}}`
	for patch, want := range map[string]bool{
		`{}`: false,
		`{metadata: {labels: {a: "1", $retainKeys: [a]}}}`:                                                                            true,
		`{spec: {$retainKeys: [containers], containers: []}}`:                                                                         false,
		`{spec: {topologySpreadConstraints: [{topologyKey: b, labelSelector: {matchLabels: {app: null}}}]}}`:                          true,
		`{spec: {topologySpreadConstraints: [{topologyKey: a, labelSelector: {matchLabels: {app: null}}}]}}`:                          false,
		`{spec: {topologySpreadConstraints: [{topologyKey: b, labelSelector: {matchLabels: null}}]}}`:                                 false,
		`{spec: {topologySpreadConstraints: [{topologyKey: b, labelSelector: null, maxSkew: null}]}}`:                                 false,
		`{spec: {containers: [{name: side, resources: {limits: {cpu: null}}}]}}`:                                                      true,
		`{spec: {containers: [{name: side, image: null}]}}`:                                                                           false,
		`{spec: {containers: [{name: side, env: [{$patch: delete, name: A}]}]}}`:                                                      true,
		`{spec: {containers: [{name: app, env: [{$patch: delete, name: A}], volumeMounts: [{$patch: delete}]}]}}`:                     false,
		`{spec: {containers: [{name: side, $patch: delete}]}}`:                                                                        false,
		`{spec: {initContainers: [{name: side, env: [{$patch: delete, name: A}], resources: {limits: {cpu: null}}}]}}`:                false,
		`{spec: {$setElementOrder/initContainers: [{name: side}], initContainers: [{name: side, resources: {limits: {cpu: null}}}]}}`: true,
		`{spec: {$setElementOrder/initContainers: [{name: side}], initContainers: [{name: side, image: null}]}}`:                      false,
		`{spec: {initContainers: [{name: new}], containers: [{name: app, resources: {limits: {cpu: null}}}, {$x: 1}]}}`:               false,
		`{metadata: {labels: {x: null}}, spec: {containers: [{name: side, volumeMounts: [{$patch: delete}]}]}}`:                       true,
	} {
		if got := leavesResidue(parsed(t, live), parsed(t, patch)); got != want {
			t.Errorf("leavesResidue(%s) = %t, want %t", patch, got, want)
		}
	}
}

// TestOrderOfErrors checks that the message is masked only if several errors are in one map.
func TestOrderOfErrors(t *testing.T) {
	for causes, masks := range map[string]bool{
		`[{field: "a[0].b[x].c"}, {field: "a[0].b[y].c"}]`:           true,
		`[{field: "a[0].b[y]"}, {field: d}, {field: "a[0].b[x].c"}]`: true,
		`[{field: "a[0].b[x].c"}, {field: "a[0].b[x].d"}]`:           false,
		`[{field: "a[0].b[x].c"}, {field: "a[1].b[y].c"}]`:           false,
		`[{field: "a[0].b"}, {field: "a[1].b"}]`:                     false,
		`[{field: a}, {field: "a[x]"}]`:                              false,
	} {
		text := "causes: " + causes + "\nmessage: 'X \"x\" is invalid: [one, two]'\n"
		want := parsed(t, text)
		if masks {
			want = want.With("message", document.NewString(`X "x" is invalid: [<any>]`))
		}
		if got := parsed(t, string(withoutOrder([]byte(text)))); !document.Equal(got, want) {
			t.Errorf("withoutOrder() = %s, want %s", got, want)
		}
	}
	const conflict = `{causes: [{field: '.a[name="x"]'}, {field: '.a[name="y"]'}], message: Apply failed with 2 conflicts}`
	if got := string(withoutOrder([]byte(conflict))); got != conflict {
		t.Errorf("withoutOrder() = %s, want %s", got, conflict)
	}
}

func parsed(t *testing.T, text string) document.Value {
	t.Helper()
	v, err := document.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestOnlyAdditionalWarnings checks that an additional warning of Cadastre is a known difference, but a missing warning is not.
func TestOnlyAdditionalWarnings(t *testing.T) {
	const ours = `".spec.strategy: type was applied, but rollingUpdate is set (owned by \"bob\") and requires type x; apply x"`
	for complaint, want := range map[string]bool{
		"warnings: expected [], received [" + ours + "]":                true,
		`warnings: expected ["x" "y"], received ["x" ` + ours + ` "y"]`: true,
		`warnings: expected ["x" "y"], received ["x" ` + ours + `]`:     false,
		`warnings: expected [], received ["x"]`:                         false,
		"object: .a: expected 1, received 2":                            false,
	} {
		if got := onlyAdditionalWarnings([]string{complaint}); got != want {
			t.Errorf("onlyAdditionalWarnings(%s) = %t, want %t", complaint, got, want)
		}
	}
}

// TestRecorded checks that errors replace objects, that deliberate differences are removed, and that current times are masked.
func TestRecorded(t *testing.T) {
	now := time.Now().UTC().Format(time.RFC3339)
	h := History{Steps: []Step{{Verb: "APPLY", Address: "batch/v1 jobs/shared"}, {Verb: "APPLY"}, {Verb: "JSONPATCH"}, {Verb: "APPLY"}}}
	r := recorded{txtar.Parse(fmt.Appendf(nil, `x
-- 1 apply --
-- answer --
200 changed
-- object --
a: %s
b: 2026-01-01T00:00:00Z
-- owners --
nobody
-- 2 apply --
-- answer --
409
-- object --
kind: Status
reason: Conflict
message: it is
details: {causes: [{reason: FieldManagerConflict, message: 'conflict with "bob" using v1: .a', field: .a}]}
-- owners --
nobody
-- 3 jsonpatch --
-- answer --
422
-- object --
kind: Status
message: the server rejected our request due to an error in our request
-- owners --
nobody
-- 4 apply --
-- answer --
500
-- object --
kind: Status
message: failed to create typed patch object
-- owners --
nobody
`, now))}
	r.expectErrors()
	titles, compared := r.withoutKnown(h)
	known := []string{"Applying an unknown field, a wrong type or a duplicate item returns 400, not 500", "Errors of JSON patches name the operation, path and cause", "The first apply after creation is a no-op for Jobs, claims and defaulted status"}
	if compared != len(h.Steps) || !slices.Equal(titles, known) {
		t.Errorf("withoutKnown() = %q, %d steps; want %d steps and %q", titles, compared, len(h.Steps), known)
	}
	const want = `x
-- 1 apply --
-- answer --
200
-- object --
a: <time>
b: 2026-01-01T00:00:00Z
-- owners --
nobody
-- 2 apply --
-- answer --
409
-- error --
causes:
- field: .a
  message: conflict with "bob" using v1<any>
  reason: FieldManagerConflict
message: it is
reason: Conflict

-- 3 jsonpatch --
-- answer --
422
-- 4 apply --
-- answer --
400
`
	if got := string(txtar.Format(r.archive)); got != want {
		t.Errorf("script\n%s\nwant\n%s", got, want)
	}
}

// TestWithoutKnownEnds checks that steps after a difference that changes the object are neither compared nor searched for further
// differences.
func TestWithoutKnownEnds(t *testing.T) {
	const steps = `
-- 1 apply --
-- answer --
201
-- object --
metadata: {name: shared}
-- 2 apply --
-- answer --
200 changed
-- object --
metadata: {name: shared}
-- 3 jsonpatch --
-- answer --
422
-- error --
message: the server rejected our request due to an error in our request
`
	h := History{Steps: []Step{{Verb: "APPLY"}, {Verb: "APPLY", Body: parsed(t, `spec: {list: []}`)}, {Verb: "JSONPATCH"}}}
	r := recorded{txtar.Parse([]byte(steps))}
	titles, compared := r.withoutKnown(h)
	if want := []string{"Replacing owned list items by an empty list takes effect at the first apply"}; compared != 1 || !slices.Equal(titles, want) {
		t.Errorf("withoutKnown() = %q, %d steps; want %q, 1 step", titles, compared, want)
	}
	if left := string(txtar.Format(r.archive)); strings.Contains(left, "-- 2 apply --") {
		t.Errorf("the script contains steps after the first, want none:\n%s", left)
	}
}
