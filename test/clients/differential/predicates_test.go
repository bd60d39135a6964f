package differential

import (
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/cadastre/cadastre/document"
)

// TestScaledByUpdate checks that isScaledByUpdate reports true only for managed fields entries with operation Update
// and spec.replicas.
func TestScaledByUpdate(t *testing.T) {
	for owners, want := range map[string]bool{
		"":                                    false,
		"alice Apply apps/v1: .spec.replicas": false,
		"alice Update apps/v1: .spec.paused\nbob Apply apps/v1:\n  .spec.paused\n  .spec.replicas\n": false,
		"bob Apply apps/v1: .spec.paused\nalice Update apps/v1:\n  .spec.paused\n  .spec.replicas\n": true,
		"alice Update apps/v1: .spec.paused .spec.replicas":                                          true,
	} {
		if got := isScaledByUpdate(owners); got != want {
			t.Errorf("isScaledByUpdate(%s) = %t, want %t", owners, got, want)
		}
	}
}

// TestReplicasIn checks that a Scale without replicas equals an object with 0 replicas.
func TestReplicasIn(t *testing.T) {
	for object, want := range map[string]string{`{}`: `0`, `{spec: {}}`: `0`, `{spec: {replicas: 0}}`: `0`, `{spec: {replicas: 2}}`: `2`} {
		if got := replicasIn(parsed(t, object)); !document.Equal(got, parsed(t, want)) {
			t.Errorf("replicasIn(%s) = %s, want %s", object, got, want)
		}
	}
}

// TestKeepsFieldsOfRemovedItem checks that an item that was lost with all its fields is not reported.
func TestKeepsFieldsOfRemovedItem(t *testing.T) {
	const before = "bob Apply apps/v1:\n  .a[name=\"x\"]\n  .a[name=\"x\"].b.c\n  .a[name=\"y\"]\n"
	for after, want := range map[string]bool{
		before: false, "": false,
		"bob Apply apps/v1:\n  .a[name=\"x\"].b.c\n":                                      true,
		"bob Apply apps/v1:\n  .a[name=\"y\"]\n":                                          false,
		"alice Apply apps/v1:\n  .a[name=\"x\"].b.c\nbob Apply apps/v1: .a[name=\"y\"]\n": false,
	} {
		if got := keepsFieldsOfRemovedItem(serverResponse{ownersBefore: before, owners: after}); got != want {
			t.Errorf("keepsFieldsOfRemovedItem() with owners %s = %t, want %t", after, got, want)
		}
	}
}

// TestConditions checks that conditions are found at both API versions of a HorizontalPodAutoscaler.
func TestConditions(t *testing.T) {
	for object, want := range map[string]string{
		`{}`: `[]`,
		`{status: {conditions: [{type: a}, {type: b, status: "True"}]}}`:                                         `[a, b]`,
		`{metadata: {annotations: {autoscaling.alpha.kubernetes.io/conditions: '[{"type":"a"},{"type":"a"}]'}}}`: `[a, a]`,
		`{metadata: {annotations: {autoscaling.alpha.kubernetes.io/conditions: 'x'}}}`:                           `[]`,
	} {
		if got := conditionsIn(parsed(t, object)); !document.Equal(got, parsed(t, want)) {
			t.Errorf("conditions of %s = %s, want %s", object, got, want)
		}
	}
}

// TestFinallyDeleted checks that an object with a deletionTimestamp exists as long as it has finalizers or a grace
// period.
func TestFinallyDeleted(t *testing.T) {
	for metadata, want := range map[string]bool{
		`{deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0}`:                    true,
		`{deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0, finalizers: [a/b]}`: false,
		`{deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30}`:                   false,
		`{name: x}`: false,
	} {
		if got := isFinallyDeleted(field("metadata", parsed(t, metadata))); got != want {
			t.Errorf("isFinallyDeleted() with metadata %s = %t, want %t", metadata, got, want)
		}
	}
}

func TestHasEmpty(t *testing.T) {
	for body, want := range map[string][2]bool{
		"spec: {tags: {}, set: [a]}": {true, false}, "spec: {tags: {a: b}, set: []}": {false, true},
		"spec: {parts: [{name: a, more: {}}]}": {true, false}, "spec: {title: \"\", size: 0, on: null}": {false, false},
	} {
		got := [2]bool{hasEmpty(parsed(t, body), document.Map), hasEmpty(parsed(t, body), document.List)}
		if got != want {
			t.Errorf("hasEmpty(%[1]s) for maps and lists = %[3]v, want %[2]v", body, want, got)
		}
	}
}

func TestTouchesDuplicates(t *testing.T) {
	const references = "metadata: {ownerReferences: [{uid: a}, {uid: b}, {uid: a, controller: true}]}"
	for _, test := range []struct {
		object, patch string
		want          bool
	}{
		{references, "metadata: {ownerReferences: [{uid: b}]}", true},
		{references, "metadata: {labels: {a: b}}", false},
		{references, references, true},
		{"spec: {ports: [{port: 80, protocol: TCP}, {port: 80, protocol: UDP}]}", "spec: {ports: null}", true},
		{"spec: {ports: [{port: 80}, {port: 81}]}", "spec: {ports: [{port: 80}]}", false},
		{"spec: {rules: [{verbs: [get]}, {verbs: [get]}]}", "spec: {rules: []}", false},
		{"metadata: {finalizers: [a/a, a/a]}", "metadata: {finalizers: [a/b]}", true},
		{"metadata: {finalizers: [a/a, a/b]}", "metadata: {finalizers: [a/b]}", false},
	} {
		if got := touchesDuplicates(parsed(t, test.object), parsed(t, test.patch)); got != test.want {
			t.Errorf("touchesDuplicates(%s, %s) = %t, want %t", test.object, test.patch, got, test.want)
		}
	}
}

func TestRespelled(t *testing.T) {
	list := parsed(t, "- {name: gpu-0, capacity: {memory: {value: 1Gi}}}")
	for body, want := range map[string]bool{
		"spec: {devices: [{name: gpu-0, capacity: {memory: {value: 1024Mi}}}]}":   true,
		"- {op: add, path: /spec/devices/0/capacity/memory/value, value: 1024Mi}": true,
		"spec: {devices: [{name: gpu-0, capacity: {memory: {value: 1Gi}}}]}":      false,
		"spec: {devices: [{name: gpu-0, capacity: {memory: {value: 2Gi}}}]}":      false,
		"spec: {driver: gpu.example.com}":                                         false,
	} {
		if got := isRespelled(parsed(t, body), list); got != want {
			t.Errorf("isRespelled(%s) = %t, want %t", body, got, want)
		}
	}
}

// TestRemovesResetFields checks that removesResetFields considers only managed fields entries that were written at
// another endpoint and another API version than the request.
func TestRemovesResetFields(t *testing.T) {
	const group = "differential.example.com"
	before := "carol Apply " + group + "/v1beta1 status: .status.a\nbob Update " + group + "/v1: .spec.a\n"
	for _, c := range []struct {
		address, owners string
		want            bool
	}{
		{group + "/v1 widgets/shared", before, false},
		{group + "/v1 widgets/shared", "bob Update " + group + "/v1:\n  .spec.a\n", true},
		{group + "/v1beta1 widgets/shared", "bob Update " + group + "/v1: .spec.a\n", false},
		{group + "/v1beta1 widgets/shared/status", "carol Apply " + group + "/v1beta1 status: .status.a\n", true},
		{group + "/v1 widgets/shared", "carol Apply " + group + "/v1beta1 status:\n  .status.a\n", false},
		{"apps/v1 deployments/shared", "", false},
	} {
		if got := removesResetFields(Step{Address: c.address}, serverResponse{owners: c.owners, ownersBefore: before}); got != c.want {
			t.Errorf("removesResetFields() at %[1]s with owners %[2]q = %[3]t, want %[4]t", c.address, c.owners, got, c.want)
		}
	}
}

// TestAllowNoOp checks that isUnchanged requires an unchanged object and unchanged managedFields, and that allowNoOp
// accepts a no-op of Cadastre only where kube-apiserver has written the object.
func TestAllowNoOp(t *testing.T) {
	const before = "alice Apply v1: .data.a\nbob Apply v1: .data.b"
	for _, test := range []struct {
		object, owners string
		want           bool
	}{
		{`{data: {a: x}}`, before, true},
		{`{data: {a: x}}`, "bob Apply v1: .data.b\nalice Apply v1: .data.a", true},
		{`{data: {a: x}}`, "bob Apply v1: .data.b", false},
		{`{data: {a: other}}`, before, false},
	} {
		a := serverResponse{code: 200, before: parsed(t, `{data: {a: x}}`), ownersBefore: before, object: parsed(t, test.object), owners: test.owners}
		if got := isUnchanged(a); got != test.want {
			t.Errorf("isUnchanged() with object %s and owners %q = %t, want %t", test.object, test.owners, got, test.want)
		}
	}
	for answer, want := range map[string]string{"200 changed\n": "200\n", "200 unchanged\n": "200 unchanged\n"} {
		if got := string(allowNoOp([]txtar.File{{Name: "answer", Data: []byte(answer)}})[0].Data); got != want {
			t.Errorf("allowNoOp(%q) = %q, want %q", answer, got, want)
		}
	}
	const alone = "alice Apply v1: .data.a"
	if isUnchanged(serverResponse{code: 200, before: parsed(t, `{}`), object: parsed(t, `{}`), owners: alone, ownersBefore: alone}) {
		t.Error("isUnchanged() with a single field manager = true, want false")
	}
}

// TestMayEmptyContainer checks that mayEmptyContainer considers only removals from a list or map within a list item.
func TestMayEmptyContainer(t *testing.T) {
	for patch, want := range map[string]bool{
		"[{op: remove, path: /subsets/0/addresses/0}]":                                               true,
		"[{op: remove, path: /spec/limits/0/max/cpu}]":                                               true,
		"[{op: add, path: /subsets/0/addresses, value: []}, {op: remove, path: /subsets/0/ports/1}]": true,
		"[{op: remove, path: /subsets/0}]":                                                           false,
		"[{op: remove, path: /subsets/0/addresses}]":                                                 false,
		"[{op: replace, path: /subsets/0/addresses/0, value: {}}]":                                   false,
	} {
		if got := mayEmptyContainer(Step{Verb: "JSONPATCH", Body: parsed(t, patch)}); got != want {
			t.Errorf("mayEmptyContainer(%s) = %t, want %t", patch, got, want)
		}
	}
	if mayEmptyContainer(Step{Verb: "MERGE", Body: parsed(t, "[{op: remove, path: /subsets/0/addresses/0}]")}) {
		t.Error("mayEmptyContainer() of a merge patch = true, want false")
	}
}

// TestIncrementsGenerationWithoutChange checks that an incremented generation is detected only if the spec is unchanged,
// and only for certain kinds.
func TestIncrementsGenerationWithoutChange(t *testing.T) {
	before := parsed(t, `{kind: NetworkPolicy, metadata: {generation: 4, labels: {x: "1"}}, spec: {x: 1}}`)
	for after, want := range map[string]bool{
		`{kind: NetworkPolicy, metadata: {generation: 5, labels: {x: "1"}}, spec: {x: 1}}`:              true,
		`{kind: NetworkPolicy, metadata: {generation: 5, labels: {x: "2"}}, spec: {x: 1}}`:              true,
		`{kind: NetworkPolicy, metadata: {generation: 4, labels: {x: "2"}}, spec: {x: 1}}`:              false,
		`{kind: NetworkPolicy, metadata: {generation: 5, labels: {x: "1"}}, spec: {x: 2}}`:              false,
		`{kind: NetworkPolicy, metadata: {generation: 5, labels: {x: "1"}}, spec: {x: 1}, webhooks: 1}`: false,
		`{kind: Deployment, metadata: {generation: 5, labels: {x: "1"}}, spec: {x: 1}}`:                 false,
	} {
		if got := incrementsGenerationWithoutChange(serverResponse{before: before, object: parsed(t, after)}); got != want {
			t.Errorf("incrementsGenerationWithoutChange() with object %s = %t, want %t", after, got, want)
		}
	}
	if incrementsGenerationWithoutChange(serverResponse{object: before}) {
		t.Error("incrementsGenerationWithoutChange() of a new object = true, want false")
	}
}

// TestViewAt checks that viewAt removes only the annotations of autoscaling/v1, and only at autoscaling/v2.
func TestViewAt(t *testing.T) {
	const metrics = `autoscaling.alpha.kubernetes.io/metrics: "[]"`
	for object, want := range map[string]string{
		`{apiVersion: autoscaling/v1, metadata: {name: a, annotations: {` + metrics + `}}}`:        `{apiVersion: autoscaling/v1, metadata: {name: a}}`,
		`{apiVersion: autoscaling/v1, metadata: {annotations: {` + metrics + `, x: "1"}}}`:         `{apiVersion: autoscaling/v1, metadata: {annotations: {x: "1"}}}`,
		`{apiVersion: autoscaling/v2, metadata: {annotations: {` + metrics + `}}}`:                 `{apiVersion: autoscaling/v2, metadata: {annotations: {` + metrics + `}}}`,
		`{apiVersion: autoscaling/v1, metadata: {name: a}, spec: {maxReplicas: 3, metrics: null}}`: `{apiVersion: autoscaling/v1, metadata: {name: a}, spec: {maxReplicas: 3, metrics: null}}`,
	} {
		if got := viewAt("autoscaling/v2 horizontalpodautoscalers/shared", parsed(t, object)); !document.Equal(got, parsed(t, want)) {
			t.Errorf("viewAt() at autoscaling/v2 of %s = %s, want %s", object, got.JSON(), want)
		}
		if got := viewAt("autoscaling/v1 horizontalpodautoscalers/shared", parsed(t, object)); !document.Equal(got, parsed(t, object)) {
			t.Errorf("viewAt() at autoscaling/v1 of %s = %s, want it unchanged", object, got.JSON())
		}
	}
}

// TestAppliedAtOtherVersion checks that isAppliedAtOtherVersion considers only Apply entries of the request's
// field manager at the endpoint of the request and at another API version.
func TestAppliedAtOtherVersion(t *testing.T) {
	applied := Step{Verb: "APPLY", Manager: "bob", Address: "autoscaling/v2 horizontalpodautoscalers/shared"}
	for owners, want := range map[string]bool{
		"bob Apply autoscaling/v1: .spec.maxReplicas":                         true,
		"alice Update autoscaling/v1: .a\nbob Apply autoscaling/v1:\n  .b":    true,
		"bob Apply autoscaling/v2: .spec.maxReplicas":                         false,
		"bob Update autoscaling/v1: .spec.maxReplicas":                        false,
		"alice Apply autoscaling/v1: .spec.maxReplicas":                       false,
		"bob Apply autoscaling/v1 status: .status.currentReplicas":            false,
		"bob Apply autoscaling/v2: .a\nalice Apply autoscaling/v1: .spec.b\n": false,
	} {
		if got := isAppliedAtOtherVersion(applied, owners); got != want {
			t.Errorf("isAppliedAtOtherVersion() with owners %s = %t, want %t", owners, got, want)
		}
	}
	patched := applied
	patched.Verb = "MERGE"
	if isAppliedAtOtherVersion(patched, "bob Apply autoscaling/v1: .a") {
		t.Error("isAppliedAtOtherVersion() of a merge patch = true, want false")
	}
}

// TestChangesMetrics checks that the metrics are compared with the applied metrics or, if none were applied, with the
// metrics before the request.
func TestChangesMetrics(t *testing.T) {
	for _, c := range []struct {
		body, before, object string
		want                 bool
	}{
		{`{spec: {metrics: [{type: Pods}]}}`, `{}`, `{spec: {metrics: [{type: Pods}]}}`, false},
		{`{spec: {metrics: [{type: Pods}]}}`, `{spec: {metrics: [{type: Resource}]}}`, `{spec: {metrics: [{type: Resource}]}}`, true},
		{`{spec: {}}`, `{spec: {metrics: [{type: Pods}]}}`, `{spec: {metrics: [{type: Pods}]}}`, false},
		{`{spec: {}}`, `{spec: {metrics: [{type: Pods}]}}`, `{spec: {metrics: [{type: Resource}]}}`, true},
		{`{spec: {}}`, `{spec: {metrics: [{type: Pods}]}}`, `{spec: {}}`, false},
		{`{spec: {}}`, `{spec: {}}`, `{spec: {}}`, false},
		{`{spec: {}}`, `{apiVersion: autoscaling/v1}`, `{spec: {metrics: [{type: Pods}]}}`, false},
		{`{spec: {}}`, `{apiVersion: autoscaling/v1}`, `{spec: {metrics: [{type: Pods}, {type: Resource}]}}`, true},
	} {
		a := serverResponse{before: parsed(t, c.before), object: parsed(t, c.object)}
		if got := changesMetrics(Step{Body: parsed(t, c.body)}, a); got != c.want {
			t.Errorf("changesMetrics(%+v) = %t, want %t", c, got, c.want)
		}
	}
}

// TestLosesEmptied checks that losesEmptiedContainer considers only maps and lists that the request has removed.
func TestLosesEmptied(t *testing.T) {
	const owned = "alice Update autoscaling/v1: .metadata.annotations .spec.maxReplicas"
	before := parsed(t, `{metadata: {annotations: {x: "1"}}}`)
	for _, c := range []struct {
		owners, object string
		want           bool
	}{
		{"alice Update autoscaling/v1: .spec.maxReplicas", `{metadata: {}}`, true},
		{"bob Apply autoscaling/v1: .a", `{metadata: {}}`, true},
		{owned, `{metadata: {}}`, false},
		{"alice Update autoscaling/v1: .metadata.annotations", `{metadata: {}}`, false},
		{"alice Update autoscaling/v1: .spec.maxReplicas", `{metadata: {annotations: {y: "1"}}}`, false},
	} {
		a := serverResponse{before: before, object: parsed(t, c.object), ownersBefore: owned, owners: c.owners}
		if got := losesEmptiedContainer(a); got != c.want {
			t.Errorf("losesEmptiedContainer(%+v) = %t, want %t", c, got, c.want)
		}
	}
}

// TestTestsNull checks that testsNull considers only test operations, and finds a null at any depth of their value.
func TestTestsNull(t *testing.T) {
	for patch, want := range map[string]bool{
		`[{op: add, path: /a, value: null}, {op: test, path: /a, value: {c: null}}]`: true,
		`[{op: test, path: /a, value: [1, null]}]`:                                   true,
		`[{op: add, path: /a, value: {c: null}}, {op: test, path: /b, value: 1}]`:    false,
		`[{op: test, path: /a}]`: false,
	} {
		if got := testsNull(parsed(t, patch)); got != want {
			t.Errorf("testsNull(%s) = %t, want %t", patch, got, want)
		}
	}
}

// TestHasCurrentMetrics checks that current metrics are found in the different fields of each API version.
func TestHasCurrentMetrics(t *testing.T) {
	for object, want := range map[string]bool{
		`{status: {currentMetrics: [{type: Pods}]}}`:                                         true,
		`{status: {currentCPUUtilizationPercentage: 20}}`:                                    true,
		`{metadata: {annotations: {autoscaling.alpha.kubernetes.io/current-metrics: "[]"}}}`: true,
		`{metadata: {annotations: {autoscaling.alpha.kubernetes.io/metrics: "[]"}}}`:         false,
		`{status: {currentMetrics: null, currentReplicas: 1}}`:                               false,
	} {
		if got := hasCurrentMetrics(parsed(t, object)); got != want {
			t.Errorf("hasCurrentMetrics(%s) = %t, want %t", object, got, want)
		}
	}
}
