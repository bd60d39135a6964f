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

// TestSeedsTellHistories: a seed is one history, and every seed is another.
func TestSeedsTellHistories(t *testing.T) {
	seen := map[string]uint64{}
	for seed := range uint64(500) {
		script := string(generated(t, seed).script())
		if again := string(generated(t, seed).script()); again != script {
			t.Fatalf("seed %d is two histories:\n%s\n%s", seed, script, again)
		}
		_, steps, _ := strings.Cut(script, "\n")
		if other, ok := seen[steps]; ok {
			t.Errorf("seeds %d and %d are the same history", seed, other)
		}
		seen[steps] = seed
	}
}

// TestHistoriesAreScripts: applytest reads every history, and all verbs and kinds occur.
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
				t.Errorf("seed %d: nothing was drawn in %s", seed, s.Body.JSON())
			}
		}
	}
	for _, verb := range []string{"APPLY", "CREATE", "UPDATE", "EDIT", "MERGE", "STRATEGIC", "JSONPATCH", "DELETE", "GET"} {
		if verbs[verb] == 0 {
			t.Errorf("no history has %s: %v", verb, verbs)
		}
	}
	for _, text := range []string{
		"\nUser-Agent: erin/", "\nContent-Type: " + mediaYAML, "\nContent-Type: " + mediaProtobuf, "\nAccept: " + mediaYAML, "\nAccept: " + mediaProtobuf,
		"$patch: delete", "$patch: replace", "$retainKeys:", "$setElementOrder/containers:", "$setElementOrder/finalizers:", "$deleteFromPrimitiveList/finalizers:",
		`resourceVersion: "$resourceVersion"`, "uid: $uid", "managedFields: []", "managedFields:\n", "manager: dave",
	} {
		if !strings.Contains(texts.String(), text) {
			t.Errorf("no history has %q", text)
		}
	}
	for _, k := range kinds {
		if resources[k.resource] == 0 {
			t.Errorf("no history is about %s: %v", k.resource, resources)
		}
	}
}

// A pairOf says of each history how the second server differs; nil where it does not.
type pairOf func(History) *applytest.Failure

func (p pairOf) Compare(_ context.Context, histories []History) ([]Finding, error) {
	var findings []Finding
	for _, h := range histories {
		findings = append(findings, Finding{History: h, Script: h.script(), Failure: p(h)})
	}
	return findings, nil
}

// forgetful is a second server that loses labels.x when a merge patch has it after somebody has applied.
func forgetful(h History) *applytest.Failure {
	applied := false
	for i, s := range h.Steps {
		applied = applied || s.Verb == "APPLY" && s.Force
		if s.Verb == "MERGE" && applied && !s.Body.Lookup("metadata", "labels", "x").IsAbsent() {
			return &applytest.Failure{Step: stepName(i, s), Complaints: []string{`object: .metadata.labels.x: expected "1", received nothing`}}
		}
	}
	return nil
}

// TestShrink: what is left of a history is what it takes.
func TestShrink(t *testing.T) {
	shrunk := 0
	for seed := range uint64(3000) {
		h := generated(t, seed)
		failure := forgetful(h)
		if failure == nil {
			continue
		}
		shrunk++
		small, err := Shrink(t.Context(), pairOf(forgetful), Finding{History: h, Failure: failure})
		if err != nil {
			t.Fatal(err)
		}
		steps := small.History.Steps
		if len(steps) != 2 || steps[0].Verb != "APPLY" || !steps[0].Force || steps[1].Verb != "MERGE" {
			t.Fatalf("seed %d: expected a forced apply and a merge patch, received\n%s", seed, small.History.script())
		}
		if fields := leaves(steps[0].Body); fields != 3 {
			t.Errorf("seed %d: expected the apply to have only its identity, received %s", seed, steps[0].Body.JSON())
		}
		if leaves(steps[1].Body) != 1 {
			t.Errorf("seed %d: expected the patch to have only the label, received %s", seed, steps[1].Body.JSON())
		}
	}
	if shrunk < 10 {
		t.Errorf("only %d histories differ; that is no test", shrunk)
	}
}

func leaves(body document.Value) int {
	n := 0
	for _, p := range places(body) {
		if value := at(body, p); value.IsScalar() || value.IsNull() {
			n++
		}
	}
	return n
}

// TestShrinkKeepsTheDifference: a history is not made smaller into one that differs in another way.
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
		t.Errorf("expected three steps, received %d, %v", len(small.History.Steps), err)
	}
}

// TestStateAfter: writes are counted from when the object was made.
func TestStateAfter(t *testing.T) {
	object := parsed(t, "metadata: {name: a}")
	steps := []struct {
		s    Step
		a    answer
		want int
	}{
		{Step{Verb: "APPLY"}, answer{code: 201, object: object}, 0},
		{Step{Verb: "GET"}, answer{code: 200, object: object}, 0},
		{Step{Verb: "APPLY", DryRun: true}, answer{code: 200, object: object}, 0},
		{Step{Verb: "APPLY"}, answer{code: 409}, 0},
		{Step{Verb: "APPLY"}, answer{code: 200, object: object}, 1},
		{Step{Verb: "EDIT"}, answer{code: 200, object: object}, 2},
		{Step{Verb: "APPLY", Address: "batch/v1 jobs/a/status"}, answer{code: 200, object: object}, 3},
		{Step{Verb: "UPDATE", Address: "batch/v1 jobs/a/status"}, answer{code: 200, object: object}, 0},
		{Step{Verb: "EDIT"}, answer{code: 200, object: object}, 1},
		{Step{Verb: "DELETE"}, answer{code: 200}, 0},
	}
	var state answer
	for i, step := range steps {
		step.a.before, step.a.writes = state.object, state.writes
		state = step.a.stateAfter(step.s)
		if isThere := i < len(steps)-1; state.writes != step.want || state.object.IsAbsent() == isThere {
			t.Errorf("after step %d: expected %d writes, received %d, of %s", i, step.want, state.writes, state.object.JSON())
		}
	}
}

// TestKnownDifferencesAreListed: what is not compared is documented.
func TestKnownDifferencesAreListed(t *testing.T) {
	text, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	titles := []string{moreTold}
	for _, d := range differences {
		titles = append(titles, d.title)
	}
	for _, title := range titles {
		if !strings.Contains(string(text), "\n### "+title+"\n") {
			t.Errorf("docs/differences.md has no %q", title)
		}
	}
}

// TestLeavesRest: only what gets into the object with a map or an item that is new is left of a patch.
func TestLeavesRest(t *testing.T) {
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
		if got := leavesRest(parsed(t, live), parsed(t, patch)); got != want {
			t.Errorf("received %t, want %t for %s", got, want, patch)
		}
	}
}

// TestOrderOfErrors: only that of errors in one map is left out.
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
			t.Errorf("received %s, want %s", got, want)
		}
	}
	const conflict = `{causes: [{field: '.a[name="x"]'}, {field: '.a[name="y"]'}], message: Apply failed with 2 conflicts}`
	if got := string(withoutOrder([]byte(conflict))); got != conflict {
		t.Errorf("received %s, want %s", got, conflict)
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

// TestSaysOnlyMore: a warning of ours alone is no difference; one that is missing is.
func TestSaysOnlyMore(t *testing.T) {
	const ours = `".spec.strategy: type was applied, but rollingUpdate is set (owned by \"bob\") and requires type x; apply x"`
	for complaint, want := range map[string]bool{
		"warnings: expected [], received [" + ours + "]":                true,
		`warnings: expected ["x" "y"], received ["x" ` + ours + ` "y"]`: true,
		`warnings: expected ["x" "y"], received ["x" ` + ours + `]`:     false,
		`warnings: expected [], received ["x"]`:                         false,
		"object: .a: expected 1, received 2":                            false,
	} {
		if got := saysOnlyMore([]string{complaint}); got != want {
			t.Errorf("%s: expected %t, received %t", complaint, want, got)
		}
	}
}

// TestRecorded: errors take the place of objects, deliberate differences are left out, times of today are masked.
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
	r.withErrors()
	titles, compared := r.withoutKnown(h)
	known := []string{"A configuration that does not fit is a bad request", "Applying again what was just created writes nothing", "JSON patches that fail say why"}
	if compared != len(h.Steps) || !slices.Equal(titles, known) {
		t.Errorf("received %d steps and %q, want %d and %q", compared, titles, len(h.Steps), known)
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
		t.Errorf("received\n%s\nwant\n%s", got, want)
	}
}

// TestWithoutKnownEnds: what comes after objects that differ is not compared, and no reason for anything.
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
	if want := []string{"An empty list that was applied is there at once"}; compared != 1 || !slices.Equal(titles, want) {
		t.Errorf("received %d steps and %q, want 1 and %q", compared, titles, want)
	}
	if left := string(txtar.Format(r.archive)); strings.Contains(left, "-- 2 apply --") {
		t.Errorf("expected nothing after the first step, received\n%s", left)
	}
}
