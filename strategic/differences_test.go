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

// mergeDiffers merges a patch and returns the result. It fails the test if strategicpatch returns the same result.
func mergeDiffers(t *testing.T, kind reflect.Type, object, patch string) (document.Value, error) {
	t.Helper()
	o, p := mustParse(t, object), mustParse(t, patch)
	ours, err := Merge(o, p, mustType(t, kind))
	upstream, upstreamErr := oracle(o, p, kind)
	if (err == nil) == (upstreamErr == nil) && document.Equal(ours, upstream) {
		t.Errorf("strategicpatch returns the same result %s, %v, want another; remove this difference", upstream, upstreamErr)
	}
	return ours, err
}

// TestDifferenceAmbiguousMergeKeysAreRejected: a patch is rejected if it changes one of several items with the same
// merge key. Kubernetes merges the patch into the first of these items.
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
		t.Errorf("Merge() = %s, %v, want %s", got, err, want)
	}
}

// TestEqualDuplicates: items with the same merge key are not ambiguous if they are equal, or if the patch changes none
// of them. Kubernetes returns the same results as Merge except in the last case, where it merges the items into each
// other.
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
			t.Errorf("%s into %s: Merge() again = %s, %v, want it unchanged", patch, object, again, err)
		}
		if upstream, err := oracle(object, patch, service); err != nil || document.Equal(upstream, want) == c.differs {
			t.Errorf("%s into %s: strategicpatch returns %s, %v; differs from %s = %v, want %v", patch, object, upstream, err, want, !document.Equal(upstream, want), c.differs)
		}
	}
}

// TestDifferenceDuplicatesStay: Merge keeps duplicates in a live list of scalars. Kubernetes removes them.
func TestDifferenceDuplicatesStay(t *testing.T) {
	got, err := mergeDiffers(t, pod, `{metadata: {finalizers: [a, b, a]}}`, `{metadata: {finalizers: [c, b]}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{metadata: {finalizers: [c, a, b, a]}}`)) {
		t.Errorf(`Merge() = %s, %v, want {metadata: {finalizers: [c, a, b, a]}}`, got, err)
	}
}

// TestDifferenceReplaceSetsAbsentMap: a map with $patch: replace is set if the object does not contain it. Kubernetes
// ignores it.
func TestDifferenceReplaceSetsAbsentMap(t *testing.T) {
	got, err := mergeDiffers(t, deployment, `{spec: {}}`, `{spec: {strategy: {$patch: replace, type: Recreate}}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{spec: {strategy: {type: Recreate}}}`)) {
		t.Errorf(`Merge() = %s, %v, want {spec: {strategy: {type: Recreate}}}`, got, err)
	}
}

// TestDifferencePatchMergeIsAllowed: $patch: merge is accepted. Kubernetes rejects it.
func TestDifferencePatchMergeIsAllowed(t *testing.T) {
	got, err := mergeDiffers(t, pod, `{spec: {containers: [{name: a, image: x}], securityContext: {fsGroup: 1}}}`,
		`{spec: {containers: [{name: a, $patch: merge, tty: true}], securityContext: {$patch: merge, runAsUser: 2}}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{spec: {containers: [{name: a, image: x, tty: true}], securityContext: {fsGroup: 1, runAsUser: 2}}}`)) {
		t.Errorf(`Merge() = %s, %v, want {spec: {containers: [{name: a, image: x, tty: true}], securityContext: {fsGroup: 1, runAsUser: 2}}}`, got, err)
	}
}

// TestDifferenceDirectivesAreRemoved: directives and nulls in new items are not part of the result. strategicpatch
// leaves them in (function oracle removes them for the other tests). upstream is the result of decoding
// strategicpatch's output into Go types, as an API server does: a null in a map of strings becomes an empty string, and
// an item that should be deleted is added.
func TestDifferenceDirectivesAreRemoved(t *testing.T) {
	for _, c := range []struct{ object, patch, ours, upstream string }{
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
			t.Errorf("%s: Merge() = %s, %v, want %s", patch, got, err, c.ours)
		}
		if again, err := Merge(got, patch, mustType(t, pod)); err != nil || !document.Same(again, got) {
			t.Errorf("%s: Merge() again = %s, %v, want it unchanged", patch, again, err)
		}
		text, err := strategicpatch.StrategicMergePatch([]byte(object.JSON()), []byte(patch.JSON()), corev1.Pod{})
		if upstream, want := decodedPod(t, text), decodedPod(t, []byte(mustParse(t, c.upstream).JSON())); err != nil || !reflect.DeepEqual(upstream, want) {
			t.Errorf("%s: strategicpatch returns %+v, %v, want %+v", patch, upstream.Spec, err, want.Spec)
		}
	}
}

// decodedPod decodes JSON into a Pod, and reports an error as a test failure.
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
		t.Errorf(`Merge() = %s, %v, want {metadata: {finalizers: []}}`, got, err)
	}
}

// TestDifferenceDirectivesAreChecked: invalid directives are rejected even where Kubernetes does not read them.
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
		t.Errorf(`Merge() = %s, %v, want {values: {a: {x: "1", z: "3"}}}`, got, err)
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
	if upstream, _, err := jsonOracle(object, patch, applyOperations); err != nil || !document.Equal(upstream, mustParse(t, `{}`)) {
		t.Errorf("Kubernetes returns %s, %v, want {}", upstream, err)
	}
}

// TestDifferenceJSONTestsCompareValues: a JSON patch test operation compares values: 1 equals 1.0, and lists and maps
// may contain nulls. Kubernetes' library fails or panics.
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
			t.Errorf("%s: Kubernetes accepts the patch, want an error or panic; remove this difference", test.patch)
		}
	}
}

// TestDifferencePatchesOfDuplicates: for a list with duplicate merge keys, a two-way patch replaces the list; a
// three-way patch that would change one of the duplicates is an error. A patch that Kubernetes computes may change the
// wrong duplicate.
func TestDifferencePatchesOfDuplicates(t *testing.T) {
	typ := mustType(t, reflect.TypeFor[corev1.Service]())
	before := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP}]}}`)
	after := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 53, protocol: UDP, targetPort: 5353}]}}`)
	patch, err := Diff(before, after, typ)
	if err != nil {
		t.Fatal(err)
	}
	for name, merge := range map[string]func() (document.Value, error){
		"Cadastre":   func() (document.Value, error) { return Merge(before, patch, typ) },
		"Kubernetes": func() (document.Value, error) { return oracle(before, patch, service) },
	} {
		if got, err := merge(); err != nil || !document.Equal(got, after) {
			t.Errorf("%s: merged object = %s, %v, want %s", name, got, err, after)
		}
	}

	// Replacing the list would remove fields that the server has set.
	current := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP, nodePort: 1}, {port: 53, protocol: UDP, nodePort: 2}]}}`)
	if patch, err := (ThreeWay{Type: typ, Overwrite: true}).Diff(before, before, current); err != nil || patch.Len() > 0 {
		t.Errorf("nothing changed: Diff() = %s, %v, want an empty patch", patch, err)
	}
	var e *Error
	if patch, err := (ThreeWay{Type: typ, Overwrite: true}).Diff(before, after, current); !errors.As(err, &e) || e.Path != `.spec.ports[port=53]` {
		t.Errorf("one of two ports changed: Diff() = %s, %v, want an error at .spec.ports[port=53]", patch, err)
	}
	onePort := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP}]}}`)
	if patch, err := (ThreeWay{Type: typ, Overwrite: true}).Diff(before, onePort, current); !errors.As(err, &e) {
		t.Errorf("one of two ports was removed: Diff() = %s, %v, want an error", patch, err)
	}
}

// TestDifferenceReplacedMapsConflict: two different changes of a map with the patch strategy replace conflict.
// Kubernetes compares the map field by field and misses the conflict.
func TestDifferenceReplacedMapsConflict(t *testing.T) {
	kind := reflect.TypeFor[policyv1.PodDisruptionBudget]() // spec.selector has the patch strategy replace
	original, modified := mustParse(t, `{spec: {selector: {matchLabels: {a: b}}}}`), mustParse(t, `{spec: {selector: {}}}`)
	current := mustParse(t, `{spec: {selector: {matchLabels: {a: b}, matchExpressions: [{key: x}]}}}`)
	_, err := ThreeWay{Type: mustType(t, kind)}.Diff(original, modified, current)
	var c *ConflictError
	if !errors.As(err, &c) || c.Path != ".spec.selector" {
		t.Errorf("Diff() error = %v, want a conflict at .spec.selector", err)
	}
	if patch, err := oracleThreeWay(original, modified, current, kind, false); err != nil || !document.Equal(patch, mustParse(t, `{spec: {selector: {}}}`)) {
		t.Errorf("Kubernetes returns %s, %v, want a patch without conflict", patch, err)
	}
}

// TestDifferenceUnchangedReplacedMaps: an unchanged map with the patch strategy replace does not conflict. Kubernetes
// treats it as changed and reports a conflict.
func TestDifferenceUnchangedReplacedMaps(t *testing.T) {
	kind := reflect.TypeFor[policyv1.PodDisruptionBudget]() // spec.selector has the patch strategy replace
	same := mustParse(t, `{spec: {selector: {matchLabels: {a: b}}}}`)
	patch, err := ThreeWay{Type: mustType(t, kind)}.Diff(same, mustParse(t, `{}`), mustParse(t, same.JSON()))
	if err != nil || !document.Equal(patch, mustParse(t, `{spec: null}`)) {
		t.Errorf("Diff() = %s, %v, want {spec: null}", patch, err)
	}
	if _, err := oracleThreeWay(same, mustParse(t, `{}`), same, kind, false); !mergepatch.IsConflict(err) {
		t.Errorf("Kubernetes returns %v, want a conflict", err)
	}
}

// TestDifferenceScalarOrderIsPreserved: a patch of a list of scalars contains $setElementOrder exactly if the order of
// the items changed. Kubernetes sorts the scalars before it compares them.
func TestDifferenceScalarOrderIsPreserved(t *testing.T) {
	typ := mustType(t, pod)
	same := mustParse(t, `{metadata: {finalizers: [b, a]}}`)
	if patch, err := Diff(same, mustParse(t, same.JSON()).With("kind", document.NewString("Pod")), typ); err != nil || patch.Len() != 1 {
		t.Errorf("Diff() of lists in the same order = %s, %v, want only the field kind", patch, err)
	}
	patch, err := Diff(same, mustParse(t, `{metadata: {finalizers: [a, b]}}`), typ)
	if err != nil || !document.Equal(patch, mustParse(t, `{metadata: {$setElementOrder/finalizers: [a, b]}}`)) {
		t.Errorf("the order changed: Diff() = %s, %v, want only $setElementOrder", patch, err)
	}
}
