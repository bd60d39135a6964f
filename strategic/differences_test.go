package strategic

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/mergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/cadastre/cadastre/document"
)

// mergeDiffers merges a patch, and fails if strategicpatch has the same result.
func mergeDiffers(t *testing.T, kind reflect.Type, object, patch string) (document.Value, error) {
	t.Helper()
	o, p := mustParse(t, object), mustParse(t, patch)
	ours, err := Merge(o, p, mustType(t, kind))
	theirs, theirErr := oracle(o, p, kind)
	if (err == nil) == (theirErr == nil) && document.Equal(ours, theirs) {
		t.Errorf("strategicpatch has the same result; remove the difference: %s, %v", theirs, theirErr)
	}
	return ours, err
}

// TestDifferenceAmbiguousMergeKeysAreRejected: a patch of one of several items with the same merge key is rejected.
// Kubernetes merges it into the first one.
func TestDifferenceAmbiguousMergeKeysAreRejected(t *testing.T) {
	const live = `{spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}}`
	for where, c := range map[string][2]string{
		"in the object": {live, `{spec: {ports: [{port: 53, protocol: UDP, targetPort: 5353}]}}`},
		"in the patch":  {`{spec: {ports: []}}`, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}}`},
	} {
		_, err := mergeDiffers(t, service, c[0], c[1])
		var e *Error
		if !errors.As(err, &e) || e.Reason.Status() != 422 || e.Path != `.spec.ports[port=53]` ||
			!strings.Contains(e.Error(), "two "+where) || !strings.Contains(e.Error(), `"TCP"`) || !strings.Contains(e.Error(), `"UDP"`) {
			t.Errorf("%s: Merge() error = %v, want 422 with both items", where, err)
		}
	}
	// A patch of other items is merged, and the duplicates keep their positions.
	got, err := mergeDiffers(t, service, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 80}, {port: 53, protocol: UDP}]}}`, `{spec: {ports: [{port: 80, name: web}]}}`)
	want := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 80, name: web}, {port: 53, protocol: UDP}]}}`)
	if err != nil || !document.Equal(got, want) {
		t.Errorf("Merge() = %s, %v", got, err)
	}
}

// TestEqualDuplicates: items with the same merge key are not ambiguous if they are equal, or if the patch changes
// none of them. Kubernetes has the same results except in the last case, where it merges the items into each other.
func TestEqualDuplicates(t *testing.T) {
	for _, c := range []struct {
		object, patch, result string
		differs               bool
	}{
		{`{spec: {ports: [{port: 1}]}}`, `{spec: {ports: [{port: 53, name: a}, {port: 53, name: a}]}}`, `{spec: {ports: [{port: 53, name: a}, {port: 1}]}}`, false},
		{`{spec: {ports: [{port: 53, name: a}]}}`, `{spec: {ports: [{port: 53, name: b}, {port: 53, name: b}]}}`, `{spec: {ports: [{port: 53, name: b}]}}`, false},
		{`{spec: {ports: [{port: 53}, {port: 53}]}}`, `{spec: {ports: [{port: 53}]}}`, `{spec: {ports: [{port: 53}, {port: 53}]}}`, false},
		{`{spec: {ports: [{port: 53, name: a, protocol: TCP}, {port: 53, name: a, protocol: UDP}]}}`, `{spec: {ports: [{port: 53, name: a}]}}`,
			`{spec: {ports: [{port: 53, name: a, protocol: TCP}, {port: 53, name: a, protocol: UDP}]}}`, false},
		{`{spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}}`, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}}`,
			`{spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}}`, true},
	} {
		object, patch, want := mustParse(t, c.object), mustParse(t, c.patch), mustParse(t, c.result)
		got, err := Merge(object, patch, mustType(t, service))
		if err != nil || !document.Equal(got, want) {
			t.Errorf("%s into %s: Merge() = %s, %v\nwant %s", patch, object, got, err, want)
		}
		if again, err := Merge(got, patch, mustType(t, service)); err != nil || !document.Same(again, got) {
			t.Errorf("%s into %s: Merge() again = %s, %v", patch, object, again, err)
		}
		if theirs, err := oracle(object, patch, service); err != nil || document.Equal(theirs, want) == c.differs {
			t.Errorf("%s into %s: strategicpatch returns %s, %v", patch, object, theirs, err)
		}
	}
}

// TestDifferenceDuplicatesStay: duplicates in a live list of scalars are kept. Kubernetes removes them.
func TestDifferenceDuplicatesStay(t *testing.T) {
	got, err := mergeDiffers(t, pod, `{metadata: {finalizers: [a, b, a]}}`, `{metadata: {finalizers: [c, b]}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{metadata: {finalizers: [c, a, b, a]}}`)) {
		t.Errorf("Merge() = %s, %v", got, err)
	}
}

// TestDifferenceReplaceSetsAbsentMap: $patch: replace for an absent map sets the map. Kubernetes ignores it.
func TestDifferenceReplaceSetsAbsentMap(t *testing.T) {
	got, err := mergeDiffers(t, deployment, `{spec: {}}`, `{spec: {strategy: {$patch: replace, type: Recreate}}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{spec: {strategy: {type: Recreate}}}`)) {
		t.Errorf("Merge() = %s, %v", got, err)
	}
}

// TestDifferencePatchMergeIsAllowed: $patch: merge is accepted. Kubernetes rejects it.
func TestDifferencePatchMergeIsAllowed(t *testing.T) {
	got, err := mergeDiffers(t, pod, `{spec: {containers: [{name: a, image: x}], securityContext: {fsGroup: 1}}}`,
		`{spec: {containers: [{name: a, $patch: merge, tty: true}], securityContext: {$patch: merge, runAsUser: 2}}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{spec: {containers: [{name: a, image: x, tty: true}], securityContext: {fsGroup: 1, runAsUser: 2}}}`)) {
		t.Errorf("Merge() = %s, %v", got, err)
	}
}

// TestDifferenceDirectivesAreRemoved: directives and nulls in new items are not part of the result. strategicpatch
// leaves them in (oracle removes them for the other tests). theirs is the result of decoding its output into Go
// types, as an API server does: a null in a map of strings is an empty string, and an item to be deleted is added.
func TestDifferenceDirectivesAreRemoved(t *testing.T) {
	for _, c := range []struct{ object, patch, ours, theirs string }{
		{`{spec: {volumes: [{name: a}]}}`,
			`{spec: {volumes: [{$retainKeys: [name, emptyDir], name: b, emptyDir: {medium: null}, hostPath: null}], tolerations: [{key: null}]}}`,
			`{spec: {volumes: [{name: b, emptyDir: {}}, {name: a}], tolerations: [{}]}}`,
			`{spec: {volumes: [{name: b, emptyDir: {}}, {name: a}], tolerations: [{}]}}`},
		{`{spec: {topologySpreadConstraints: [{topologyKey: a}]}}`,
			`{spec: {topologySpreadConstraints: [{topologyKey: b, labelSelector: {matchLabels: {x: null}}}]}}`,
			`{spec: {topologySpreadConstraints: [{topologyKey: b, labelSelector: {matchLabels: {}}}, {topologyKey: a}]}}`,
			`{spec: {topologySpreadConstraints: [{topologyKey: b, labelSelector: {matchLabels: {x: ""}}}, {topologyKey: a}]}}`},
		{`{spec: {containers: [{name: a}]}}`,
			`{spec: {containers: [{name: b, env: [{$patch: delete, name: C}, {name: D}], volumeMounts: [{$patch: delete, mountPath: /x}]}]}}`,
			`{spec: {containers: [{name: b, env: [{name: D}], volumeMounts: []}, {name: a}]}}`,
			`{spec: {containers: [{name: b, env: [{name: C}, {name: D}], volumeMounts: [{mountPath: /x}]}, {name: a}]}}`},
	} {
		object, patch := mustParse(t, c.object), mustParse(t, c.patch)
		got, err := Merge(object, patch, mustType(t, pod))
		if err != nil || !document.Equal(got, mustParse(t, c.ours)) {
			t.Errorf("%s: Merge() = %s, %v", patch, got, err)
		}
		if again, err := Merge(got, patch, mustType(t, pod)); err != nil || !document.Same(again, got) {
			t.Errorf("%s: Merge() again = %s, %v", patch, again, err)
		}
		text, err := strategicpatch.StrategicMergePatch([]byte(object.JSON()), []byte(patch.JSON()), corev1.Pod{})
		if theirs, want := decodedPod(t, text), decodedPod(t, []byte(mustParse(t, c.theirs).JSON())); err != nil || !reflect.DeepEqual(theirs, want) {
			t.Errorf("%s: strategicpatch returns %+v, %v, want %+v", patch, theirs.Spec, err, want.Spec)
		}
	}
}

// decodedPod decodes JSON into a Pod.
func decodedPod(t *testing.T, text []byte) (pod corev1.Pod) {
	t.Helper()
	if err := json.Unmarshal(text, &pod); err != nil {
		t.Error(err)
	}
	return pod
}

// TestDifferenceOrderOfEmptyList: $setElementOrder for an empty list has no effect. Kubernetes rejects it.
func TestDifferenceOrderOfEmptyList(t *testing.T) {
	got, err := mergeDiffers(t, pod, `{metadata: {finalizers: []}}`, `{metadata: {$setElementOrder/finalizers: [a]}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{metadata: {finalizers: []}}`)) {
		t.Errorf("Merge() = %s, %v", got, err)
	}
}

// TestDifferenceDirectivesAreChecked: invalid directives are rejected, also where Kubernetes does not read them.
func TestDifferenceDirectivesAreChecked(t *testing.T) {
	for _, c := range [][3]string{
		{`{metadata: {finalizers: [a]}}`, `{metadata: {$deleteFromPrimitiveList/finalizers: null}}`, `.metadata.$deleteFromPrimitiveList/finalizers`},
		{`{spec: {}}`, `{spec: {securityContext: {$patch: remove}}}`, `.spec.securityContext.$patch`},
		{`{spec: {}}`, `{spec: {securityContext: {$retainKeys: [fsGroup], runAsUser: 1}}}`, `.spec.securityContext.$retainKeys`},
	} {
		_, err := mergeDiffers(t, pod, c[0], c[1])
		var e *Error
		if !errors.As(err, &e) || e.Reason.Status() != 400 || e.Path != c[2] {
			t.Errorf("%s: Merge() error = %v, want 400 at %s", c[1], err, c[2])
		}
	}
}

// TestDifferenceMapsOfMapsAreMerged: a map whose elements are Go maps is merged. Kubernetes rejects the patch.
func TestDifferenceMapsOfMapsAreMerged(t *testing.T) {
	type any struct {
		Values map[string]map[string]string `json:"values"`
	}
	got, err := mergeDiffers(t, reflect.TypeFor[any](), `{values: {a: {x: "1", y: "2"}}}`, `{values: {a: {y: null, z: "3"}}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{values: {a: {x: "1", z: "3"}}}`)) {
		t.Errorf("Merge() = %s, %v", got, err)
	}
}

// TestDifferenceJSONPointersStartWithASlash: a JSON pointer without a leading slash is rejected. Kubernetes ignores
// its first step.
func TestDifferenceJSONPointersStartWithASlash(t *testing.T) {
	object, patch := mustParse(t, `{labels: {a: "1"}}`), mustParse(t, `[{op: remove, path: metadata/labels}]`)
	_, err := ApplyJSONPatch(object, patch)
	var e *Error
	if !errors.As(err, &e) || e.Path != "[0].path" || e.Reason.Status() != 422 {
		t.Errorf("ApplyJSONPatch() error = %v, want 422 at [0].path", err)
	}
	if theirs, _, err := jsonOracle(object, patch, applyOperations); err != nil || !document.Equal(theirs, mustParse(t, `{}`)) {
		t.Errorf("Kubernetes returns %s, %v", theirs, err)
	}
}

// TestDifferenceJSONTestsCompareValues: a test operation compares values: 1 equals 1.0, and lists and maps may
// contain nulls. Kubernetes' library fails or panics.
func TestDifferenceJSONTestsCompareValues(t *testing.T) {
	for _, test := range []struct{ object, patch, want string }{
		{`{a: 1, b: [null]}`, `[{op: test, path: /a, value: 1.0}, {op: test, path: /b, value: [null]}]`, `{a: 1, b: [null]}`},
		{`{a: {}}`, `[{op: add, path: /a/c, value: null}, {op: test, path: /a, value: {c: null}}]`, `{a: {c: null}}`},
	} {
		object, patch := mustParse(t, test.object), mustParse(t, test.patch)
		if got, err := ApplyJSONPatch(object, patch); err != nil || !document.Equal(got, mustParse(t, test.want)) {
			t.Errorf("%s: ApplyJSONPatch() = %s, %v, want %s", test.patch, got, err, test.want)
		}
		if _, panicked, err := jsonOracle(object, patch, applyOperations); err == nil && !panicked {
			t.Errorf("%s: Kubernetes accepts it, too; remove the difference", test.patch)
		}
	}
}

// TestDifferencePatchesOfDuplicates: a two-way patch of a list with duplicate merge keys replaces the list; a
// three-way patch that would change one of the duplicates is an error. Patches of Kubernetes may change the wrong
// duplicate.
func TestDifferencePatchesOfDuplicates(t *testing.T) {
	typ := mustType(t, reflect.TypeFor[corev1.Service]())
	before := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}}`)
	after := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP, targetPort: 5353}]}}`)
	patch, err := Diff(before, after, typ)
	if err != nil {
		t.Fatal(err)
	}
	for name, merge := range map[string]func() (document.Value, error){
		"ours":       func() (document.Value, error) { return Merge(before, patch, typ) },
		"Kubernetes": func() (document.Value, error) { return oracle(before, patch, service) },
	} {
		if got, err := merge(); err != nil || !document.Equal(got, after) {
			t.Errorf("%s: merged object = %s, %v", name, got, err)
		}
	}

	// Replacing the list would remove fields that the server has set.
	current := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP, nodePort: 1}, {port: 53, protocol: UDP, nodePort: 2}]}}`)
	if patch, err := (ThreeWay{Type: typ, Overwrite: true}).Diff(before, before, current); err != nil || patch.Len() > 0 {
		t.Errorf("nothing changed: Diff() = %s, %v", patch, err)
	}
	var e *Error
	if patch, err := (ThreeWay{Type: typ, Overwrite: true}).Diff(before, after, current); !errors.As(err, &e) || e.Path != `.spec.ports[port=53]` {
		t.Errorf("one of two ports changed: Diff() = %s, %v", patch, err)
	}
	onePort := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP}]}}`)
	if patch, err := (ThreeWay{Type: typ, Overwrite: true}).Diff(before, onePort, current); !errors.As(err, &e) {
		t.Errorf("one of two ports was removed: Diff() = %s, %v", patch, err)
	}
}

// TestDifferenceReplacedMapsConflict: different changes of a map with the strategy replace conflict. Kubernetes
// compares the map field by field, and misses the conflict.
func TestDifferenceReplacedMapsConflict(t *testing.T) {
	kind := reflect.TypeFor[policyv1.PodDisruptionBudget]() // its selector has the strategy replace
	original, modified := mustParse(t, `{spec: {selector: {matchLabels: {a: b}}}}`), mustParse(t, `{spec: {selector: {}}}`)
	current := mustParse(t, `{spec: {selector: {matchLabels: {a: b}, matchExpressions: [{key: x}]}}}`)
	_, err := ThreeWay{Type: mustType(t, kind)}.Diff(original, modified, current)
	var c *ConflictError
	if !errors.As(err, &c) || c.Path != ".spec.selector" {
		t.Errorf("Diff() error = %v, want a conflict at .spec.selector", err)
	}
	if patch, err := oracleThreeWay(original, modified, current, kind, false); err != nil || !document.Equal(patch, mustParse(t, `{spec: {selector: {}}}`)) {
		t.Errorf("Kubernetes returns %s, %v", patch, err)
	}
}

// TestDifferenceUnchangedReplacedMaps: an unchanged map with the strategy replace does not conflict. Kubernetes takes
// it for a change.
func TestDifferenceUnchangedReplacedMaps(t *testing.T) {
	kind := reflect.TypeFor[policyv1.PodDisruptionBudget]() // its selector has the strategy replace
	same := mustParse(t, `{spec: {selector: {matchLabels: {a: b}}}}`)
	patch, err := ThreeWay{Type: mustType(t, kind)}.Diff(same, mustParse(t, `{}`), mustParse(t, same.JSON()))
	if err != nil || !document.Equal(patch, mustParse(t, `{spec: null}`)) {
		t.Errorf("Diff() = %s, %v", patch, err)
	}
	if _, err := oracleThreeWay(same, mustParse(t, `{}`), same, kind, false); !mergepatch.IsConflict(err) {
		t.Errorf("Kubernetes returns %v, want a conflict", err)
	}
}

// TestDifferenceScalarOrderIsPreserved: a patch sets the order of scalars exactly if the order changed. Kubernetes
// sorts the scalars first.
func TestDifferenceScalarOrderIsPreserved(t *testing.T) {
	typ := mustType(t, pod)
	same := mustParse(t, `{metadata: {finalizers: [b, a]}}`)
	if patch, err := Diff(same, mustParse(t, same.JSON()).With("kind", document.NewString("Pod")), typ); err != nil || patch.Len() != 1 {
		t.Errorf("the order did not change: Diff() = %s, %v", patch, err)
	}
	patch, err := Diff(same, mustParse(t, `{metadata: {finalizers: [a, b]}}`), typ)
	if err != nil || !document.Equal(patch, mustParse(t, `{metadata: {$setElementOrder/finalizers: [a, b]}}`)) {
		t.Errorf("the order changed: Diff() = %s, %v", patch, err)
	}
}
