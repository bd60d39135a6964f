package strategic

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
)

// errorCases are patches that Merge rejects with the given reason and path; text is a part of the error. Kubernetes
// rejects them, too, unless lenient is set.
var errorCases = []struct {
	name          string
	kind          reflect.Type
	object, patch string
	reason        Reason
	path, text    string
	lenient       bool
}{
	{"unknown $patch", pod, `{metadata: {labels: {}}}`, `{metadata: {labels: {$patch: replce}}}`, Malformed, `.metadata.labels.$patch`, `expected merge, replace or delete, received the string "replce"`, false},
	{"unknown $patch of an item", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {containers: [{name: a, $patch: 1}]}}`, Malformed, `.spec.containers[0].$patch`, `received the number 1`, false},
	{"a field that is not in retainKeys", deployment, `{spec: {strategy: {}}}`, `{spec: {strategy: {$retainKeys: [type], type: x, rollingUpdate: {}}}}`, Malformed, `.spec.strategy.$retainKeys`, `without rollingUpdate`, false},
	{"retainKeys that is not a list", deployment, `{spec: {strategy: {}}}`, `{spec: {strategy: {$retainKeys: type}}}`, Malformed, `.spec.strategy.$retainKeys`, `expected a list of field names`, false},
	{"no merge key in the patch", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {containers: [{image: x}]}}`, Malformed, `.spec.containers[0].name`, `received nothing`, false},
	{"no merge key in a deletion", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {containers: [{$patch: delete}]}}`, Malformed, `.spec.containers[0].name`, `received nothing`, false},
	{"no merge key in the object", pod, `{spec: {imagePullSecrets: [{}]}}`, `{spec: {imagePullSecrets: [{name: a}]}}`, Unprocessable, `.spec.imagePullSecrets[0]`, `merge key name`, false},
	{"a merge key that is a map", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {containers: [{name: {}}]}}`, Malformed, `.spec.containers[0].name`, `received a map`, false},
	{"scalars in a list of maps", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {containers: [a]}}`, Malformed, `.spec.containers[0]`, `expected a map`, false},
	{"scalars in an empty list of maps", pod, `{spec: {containers: []}}`, `{spec: {containers: [a]}}`, Malformed, `.spec.containers[0]`, `expected a map with the merge key name`, false},
	{"maps in a list of scalars", pod, `{metadata: {finalizers: []}}`, `{metadata: {finalizers: [{a: b}]}}`, Malformed, `.metadata.finalizers`, `no merge key`, false},
	{"lists in a list", pod, `{metadata: {finalizers: [a]}}`, `{metadata: {finalizers: [[a]]}}`, Unprocessable, `.metadata.finalizers[0]`, `lists of lists`, false},
	{"null in a list", pod, `{metadata: {finalizers: [a]}}`, `{metadata: {finalizers: [null]}}`, Malformed, `.metadata.finalizers[0]`, `received null`, false},
	{"items of several kinds", pod, `{metadata: {finalizers: [a]}}`, `{metadata: {finalizers: [1]}}`, Malformed, `.metadata.finalizers[0]`, `expected a string`, false},
	{"an order without an item of the patch", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {containers: [{name: a, image: x}], $setElementOrder/containers: [{name: b}]}}`, Malformed, `.spec.containers`, `the item a, missing or in another order`, false},
	{"another order than the patch", pod, `{metadata: {finalizers: [a]}}`, `{metadata: {finalizers: [b, a], $setElementOrder/finalizers: [a, b]}}`, Malformed, `.metadata.finalizers`, `the item a, missing or in another order`, false},
	{"another order than the patch, new list", pod, `{metadata: {}}`, `{metadata: {finalizers: [b, a], $setElementOrder/finalizers: [a, b]}}`, Malformed, `.metadata.finalizers`, `the item a, missing or in another order`, false},
	{"an order without merge keys", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {$setElementOrder/containers: [{}]}}`, Malformed, `.spec.$setElementOrder/containers[0].name`, `received nothing`, false},
	{"an order without the name of a list", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {$setElementOrder: [{name: a}]}}`, Malformed, `.spec.$setElementOrder`, `$setElementOrder/<name of a list>`, false},
	{"an order that is not a list", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {$setElementOrder/containers: a}}`, Malformed, `.spec.$setElementOrder/containers`, `expected a list`, false},
	{"an order for a map", pod, `{metadata: {labels: {}}}`, `{metadata: {$setElementOrder/labels: [a]}}`, Unprocessable, `.metadata.labels`, `received a map`, false},
	{"an order and a null", pod, `{metadata: {finalizers: [a]}}`, `{metadata: {finalizers: null, $setElementOrder/finalizers: [a]}}`, Malformed, `.metadata.finalizers`, `received null`, false},
	{"a deletion without the name of a list", pod, `{metadata: {finalizers: [a]}}`, `{metadata: {$deleteFromPrimitiveList: [a]}}`, Malformed, `.metadata.$deleteFromPrimitiveList`, `$deleteFromPrimitiveList/<name of a list>`, false},
	{"a deletion that is not a list", pod, `{metadata: {finalizers: [a]}}`, `{metadata: {$deleteFromPrimitiveList/finalizers: a}}`, Malformed, `.metadata.$deleteFromPrimitiveList/finalizers`, `expected a list`, true},
	{"a deletion from a list of maps", pod, `{spec: {tolerations: [{key: a}]}}`, `{spec: {$deleteFromPrimitiveList/tolerations: [a]}}`, Unprocessable, `.spec.$deleteFromPrimitiveList/tolerations`, `$patch: delete`, false},
}

// TestMergeErrors: invalid patches are rejected with the reason, the path, and the expected and received content.
func TestMergeErrors(t *testing.T) {
	for _, c := range errorCases {
		t.Run(c.name, func(t *testing.T) {
			object, patch := mustParse(t, c.object), mustParse(t, c.patch)
			_, err := Merge(object, patch, mustType(t, c.kind))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Merge() error = %v, want an Error", err)
			}
			if e.Reason != c.reason || e.Path != c.path || !strings.Contains(e.Error(), c.text) {
				t.Errorf("Merge() error = %d %s\nwant %d %s … %s", e.Reason.Status(), e, c.reason.Status(), c.path, c.text)
			}
			if result, err := oracle(object, patch, c.kind); (err == nil) != c.lenient {
				t.Errorf("strategicpatch returns %s, %v; accepted = %v, want %v", result, err, err == nil, c.lenient)
			}
		})
	}
}

// TestRejectsNonMaps: patches and objects that are not maps are rejected with status 400 and an empty path.
func TestRejectsNonMaps(t *testing.T) {
	list := mustParse(t, `[1]`)
	for name, call := range map[string]func() error{
		"strategic merge patch": func() error { _, err := Merge(mustParse(t, `{}`), list, nil); return err },
		"Diff, original":        func() error { _, err := Diff(list, mustParse(t, `{}`), nil); return err },
		"Diff, modified":        func() error { _, err := Diff(mustParse(t, `{}`), mustParse(t, `3`), nil); return err },
		"ThreeWay, current":     func() error { _, err := ThreeWay{}.Diff(document.Value{}, mustParse(t, `{}`), list); return err },
		"JSON merge patch":      func() error { _, err := MergeJSON(mustParse(t, `{}`), list); return err },
		"JSON patch":            func() error { _, err := ApplyJSONPatch(mustParse(t, `{}`), mustParse(t, `{}`)); return err },
	} {
		var e *Error
		if err := call(); !errors.As(err, &e) || e.Reason.Status() != 400 || e.Path != "" {
			t.Errorf("%s: error = %v, want 400", name, err)
		}
	}
}

// TestNullPatch: null is treated as an empty patch, but MergeJSON rejects it, because by RFC 7396 it would remove the
// object.
func TestNullPatch(t *testing.T) {
	object, null := mustParse(t, `{a: 1}`), document.NewNull()
	if got, err := Merge(object, null, nil); err != nil || !document.Same(got, object) {
		t.Errorf("Merge(null) = %s, %v, want the object", got, err)
	}
	if got, err := ApplyJSONPatch(object, null); err != nil || !document.Same(got, object) {
		t.Errorf("ApplyJSONPatch(null) = %s, %v, want the object", got, err)
	}
	if got, err := MergeJSON(object, null); err == nil {
		t.Errorf("MergeJSON(null) = %s, want an error", got)
	}
}

// TestErrorPathIsBounded: the length of the path in an error is bounded, however deep the patch is.
func TestErrorPathIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 5000) + `{"$patch":"x"}` + strings.Repeat("}", 5000)
	_, err := Merge(mustParse(t, `{}`), mustParse(t, deep), nil)
	if err == nil || len(err.Error()) > 2*maxPath {
		t.Errorf("len(Error()) = %d, want at most %d", len(err.Error()), 2*maxPath)
	}
}
