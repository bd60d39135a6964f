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

// mergeDiffers merges a patch, and fails if Kubernetes makes the same of it.
func mergeDiffers(t *testing.T, kind reflect.Type, object, patch string) (document.Value, error) {
	t.Helper()
	o, p := mustParse(t, object), mustParse(t, patch)
	ours, err := Merge(o, p, mustType(t, kind))
	theirs, theirErr := oracle(o, p, kind)
	if (err == nil) == (theirErr == nil) && document.Equal(ours, theirs) {
		t.Errorf("there is no difference any more: %s, %v", theirs, theirErr)
	}
	return ours, err
}

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
			t.Errorf("%s: %v", where, err)
		}
	}
	// What does not touch them is merged, and they keep their places.
	got, err := mergeDiffers(t, service, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 80}, {port: 53, protocol: UDP}]}}`, `{spec: {ports: [{port: 80, name: web}]}}`)
	want := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP}, {port: 80, name: web}, {port: 53, protocol: UDP}]}}`)
	if err != nil || !document.Equal(got, want) {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestEqualDuplicates: items with one merge key are no riddle where they are equal, or the patch changes none of them.
// Kubernetes makes the same of the first ones; the last it merges into each other.
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
			t.Errorf("%s into %s: got %s, %v\nwant %s", patch, object, got, err, want)
		}
		if again, err := Merge(got, patch, mustType(t, service)); err != nil || !document.Same(again, got) {
			t.Errorf("%s into %s twice: got %s, %v", patch, object, again, err)
		}
		if theirs, err := oracle(object, patch, service); err != nil || document.Equal(theirs, want) == c.differs {
			t.Errorf("%s into %s: Kubernetes makes %s, %v", patch, object, theirs, err)
		}
	}
}

func TestDifferenceDuplicatesStay(t *testing.T) {
	got, err := mergeDiffers(t, pod, `{metadata: {finalizers: [a, b, a]}}`, `{metadata: {finalizers: [c, b]}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{metadata: {finalizers: [c, a, b, a]}}`)) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestDifferenceReplaceSetsAbsentMap(t *testing.T) {
	got, err := mergeDiffers(t, deployment, `{spec: {}}`, `{spec: {strategy: {$patch: replace, type: Recreate}}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{spec: {strategy: {type: Recreate}}}`)) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestDifferencePatchMergeIsAllowed(t *testing.T) {
	got, err := mergeDiffers(t, pod, `{spec: {containers: [{name: a, image: x}], securityContext: {fsGroup: 1}}}`,
		`{spec: {containers: [{name: a, $patch: merge, tty: true}], securityContext: {$patch: merge, runAsUser: 2}}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{spec: {containers: [{name: a, image: x, tty: true}], securityContext: {fsGroup: 1, runAsUser: 2}}}`)) {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestDifferenceDirectivesAreRemoved: strategicpatch leaves directives and nulls in items
// that are new. (The oracle of the other tests removes them.) theirs is what an API server
// decodes of that: a null in a map of strings is an empty string, and what is to be deleted is added.
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
			t.Errorf("%s: got %s, %v", patch, got, err)
		}
		if again, err := Merge(got, patch, mustType(t, pod)); err != nil || !document.Same(again, got) {
			t.Errorf("%s: twice %s, %v", patch, again, err)
		}
		text, err := strategicpatch.StrategicMergePatch([]byte(object.JSON()), []byte(patch.JSON()), corev1.Pod{})
		if theirs, want := decodedPod(t, text), decodedPod(t, []byte(mustParse(t, c.theirs).JSON())); err != nil || !reflect.DeepEqual(theirs, want) {
			t.Errorf("%s: Kubernetes has %+v, %v, want %+v", patch, theirs.Spec, err, want.Spec)
		}
	}
}

func decodedPod(t *testing.T, text []byte) (pod corev1.Pod) {
	t.Helper()
	if err := json.Unmarshal(text, &pod); err != nil {
		t.Error(err)
	}
	return pod
}

func TestDifferenceOrderOfEmptyList(t *testing.T) {
	got, err := mergeDiffers(t, pod, `{metadata: {finalizers: []}}`, `{metadata: {$setElementOrder/finalizers: [a]}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{metadata: {finalizers: []}}`)) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestDifferenceDirectivesAreChecked(t *testing.T) {
	for _, c := range [][3]string{
		{`{metadata: {finalizers: [a]}}`, `{metadata: {$deleteFromPrimitiveList/finalizers: null}}`, `.metadata.$deleteFromPrimitiveList/finalizers`},
		{`{spec: {}}`, `{spec: {securityContext: {$patch: remove}}}`, `.spec.securityContext.$patch`},
		{`{spec: {}}`, `{spec: {securityContext: {$retainKeys: [fsGroup], runAsUser: 1}}}`, `.spec.securityContext.$retainKeys`},
	} {
		_, err := mergeDiffers(t, pod, c[0], c[1])
		var e *Error
		if !errors.As(err, &e) || e.Reason.Status() != 400 || e.Path != c[2] {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

func TestDifferenceMapsOfMapsAreMerged(t *testing.T) {
	type any struct {
		Values map[string]map[string]string `json:"values"`
	}
	got, err := mergeDiffers(t, reflect.TypeFor[any](), `{values: {a: {x: "1", y: "2"}}}`, `{values: {a: {y: null, z: "3"}}}`)
	if err != nil || !document.Equal(got, mustParse(t, `{values: {a: {x: "1", z: "3"}}}`)) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestDifferenceJSONPointersStartWithASlash(t *testing.T) {
	object, patch := mustParse(t, `{labels: {a: "1"}}`), mustParse(t, `[{op: remove, path: metadata/labels}]`)
	_, err := ApplyJSONPatch(object, patch)
	var e *Error
	if !errors.As(err, &e) || e.Path != "[0].path" || e.Reason.Status() != 422 {
		t.Errorf("got %v", err)
	}
	if theirs, _, err := jsonOracle(object, patch, applyOperations); err != nil || !document.Equal(theirs, mustParse(t, `{}`)) {
		t.Errorf("Kubernetes: %s, %v", theirs, err)
	}
}

func TestDifferenceJSONTestsCompareValues(t *testing.T) {
	for _, test := range []struct{ object, patch, want string }{
		{`{a: 1, b: [null]}`, `[{op: test, path: /a, value: 1.0}, {op: test, path: /b, value: [null]}]`, `{a: 1, b: [null]}`},
		{`{a: {}}`, `[{op: add, path: /a/c, value: null}, {op: test, path: /a, value: {c: null}}]`, `{a: {c: null}}`},
	} {
		object, patch := mustParse(t, test.object), mustParse(t, test.patch)
		if got, err := ApplyJSONPatch(object, patch); err != nil || !document.Equal(got, mustParse(t, test.want)) {
			t.Errorf("%s: received %s, %v, want %s", test.patch, got, err, test.want)
		}
		if _, panicked, err := jsonOracle(object, patch, applyOperations); err == nil && !panicked {
			t.Errorf("%s: Kubernetes takes it too", test.patch)
		}
	}
}

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
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}

	// The server's defaults are in the way of replacing the list.
	current := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP, nodePort: 1}, {port: 53, protocol: UDP, nodePort: 2}]}}`)
	if patch, err := (ThreeWay{Type: typ, Overwrite: true}).Diff(before, before, current); err != nil || patch.Len() > 0 {
		t.Errorf("nothing changed: %s, %v", patch, err)
	}
	var e *Error
	if patch, err := (ThreeWay{Type: typ, Overwrite: true}).Diff(before, after, current); !errors.As(err, &e) || e.Path != `.spec.ports[port=53]` {
		t.Errorf("one of two ports changed: %s, %v", patch, err)
	}
	fewer := mustParse(t, `{spec: {ports: [{port: 53, protocol: TCP}]}}`)
	if patch, err := (ThreeWay{Type: typ, Overwrite: true}).Diff(before, fewer, current); !errors.As(err, &e) {
		t.Errorf("one of two ports is gone: %s, %v", patch, err)
	}
}

func TestDifferenceReplacedMapsConflict(t *testing.T) {
	kind := reflect.TypeFor[policyv1.PodDisruptionBudget]() // whose selector is replaced
	original, modified := mustParse(t, `{spec: {selector: {matchLabels: {a: b}}}}`), mustParse(t, `{spec: {selector: {}}}`)
	current := mustParse(t, `{spec: {selector: {matchLabels: {a: b}, matchExpressions: [{key: x}]}}}`)
	_, err := ThreeWay{Type: mustType(t, kind)}.Diff(original, modified, current)
	var c *ConflictError
	if !errors.As(err, &c) || c.Path != ".spec.selector" {
		t.Errorf("got %v", err)
	}
	if patch, err := oracleThreeWay(original, modified, current, kind, false); err != nil || !document.Equal(patch, mustParse(t, `{spec: {selector: {}}}`)) {
		t.Errorf("Kubernetes: %s, %v", patch, err)
	}
}

func TestDifferenceUnchangedReplacedMaps(t *testing.T) {
	kind := reflect.TypeFor[policyv1.PodDisruptionBudget]() // whose selector is replaced
	same := mustParse(t, `{spec: {selector: {matchLabels: {a: b}}}}`)
	patch, err := ThreeWay{Type: mustType(t, kind)}.Diff(same, mustParse(t, `{}`), mustParse(t, same.JSON()))
	if err != nil || !document.Equal(patch, mustParse(t, `{spec: null}`)) {
		t.Errorf("got %s, %v", patch, err)
	}
	if _, err := oracleThreeWay(same, mustParse(t, `{}`), same, kind, false); !mergepatch.IsConflict(err) {
		t.Errorf("Kubernetes: %v, want a conflict", err)
	}
}

func TestDifferenceScalarOrderIsPreserved(t *testing.T) {
	typ := mustType(t, pod)
	same := mustParse(t, `{metadata: {finalizers: [b, a]}}`)
	if patch, err := Diff(same, mustParse(t, same.JSON()).With("kind", document.NewString("Pod")), typ); err != nil || patch.Len() != 1 {
		t.Errorf("the order did not change: %s, %v", patch, err)
	}
	patch, err := Diff(same, mustParse(t, `{metadata: {finalizers: [a, b]}}`), typ)
	if err != nil || !document.Equal(patch, mustParse(t, `{metadata: {$setElementOrder/finalizers: [a, b]}}`)) {
		t.Errorf("the order changed: %s, %v", patch, err)
	}
}
