package strategic

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/cadastre/cadastre/document"
)

// The tests of this file contain the examples of the Kubernetes design proposal for retainKeys, for the kinds that it
// mentions and for a schema without Go types.

// unionSchema is an OpenAPI document with unions with and without the patch strategy retainKeys.
const unionSchema = `
definitions:
  Example:
    properties:
      state: {$ref: '#/definitions/State', x-kubernetes-patch-strategy: retainKeys}
      plain: {$ref: '#/definitions/State'}
      unionName: {$ref: '#/definitions/Union', x-kubernetes-patch-strategy: retainKeys}
      volumes:
        type: array
        x-kubernetes-patch-strategy: merge,retainKeys
        x-kubernetes-patch-merge-key: name
        items: {$ref: '#/definitions/Volume'}
  State: {properties: {running: {type: object}, terminated: {type: object}, foo: {type: string}, bar: {type: string}}}
  Union: {properties: {discriminatorName: {type: string}, fooField: {type: object}, barField: {type: object}}}
  Volume: {properties: {name: {type: string}, emptyDir: {type: object}, hostPath: {type: object}}}
`

func unionType(t testing.TB) *Type {
	t.Helper()
	s, err := LoadOpenAPI(mustParse(t, unionSchema))
	if err != nil {
		t.Fatal(err)
	}
	example, _ := s.Type("Example")
	return example
}

// containerStatus is a type of the design proposal. The state of Kubernetes' own ContainerStatus does not have the
// patch strategy retainKeys.
type containerStatus struct {
	State corev1.ContainerState `json:"state,omitempty" patchStrategy:"retainKeys"`
}

// TestRetainKeysExamples: if a configuration sets another member of a union than the live object, the computed patch
// contains $retainKeys, and the merged object contains no other members. kind is a Go type, or nil for unionSchema.
func TestRetainKeysExamples(t *testing.T) {
	for _, c := range []struct {
		name                         string
		kind                         reflect.Type
		live, local, patch, computed string // computed is the expected result of Diff; empty if it is patch
	}{
		{"state of a container, in the proposal", reflect.TypeFor[containerStatus](),
			`{state: {running: {startedAt: x}}}`, `{state: {terminated: {exitCode: 0, finishedAt: "y"}}}`,
			`{state: {$retainKeys: [terminated], terminated: {exitCode: 0, finishedAt: "y"}}}`, ``},
		{"state of a container, in Kubernetes", reflect.TypeFor[corev1.ContainerStatus](),
			`{state: {running: {startedAt: x}}}`, `{state: {terminated: {exitCode: 0, finishedAt: "y"}}}`,
			`{state: {$retainKeys: [terminated], terminated: {exitCode: 0, finishedAt: "y"}}}`,
			`{state: {terminated: {exitCode: 0, finishedAt: "y"}}}`},
		{"state of a container, in a pod", pod,
			`{status: {containerStatuses: [{name: a, state: {running: {startedAt: x}}}]}}`,
			`{status: {containerStatuses: [{name: a, state: {terminated: {exitCode: 0, finishedAt: "y"}}}]}}`,
			`{status: {containerStatuses: [{name: a, state: {$retainKeys: [terminated], terminated: {exitCode: 0, finishedAt: "y"}}}]}}`,
			`{status: {containerStatuses: [{name: a, state: {terminated: {exitCode: 0, finishedAt: "y"}}}]}}`},
		{"state of a container, by a schema", nil,
			`{state: {running: {startedAt: x}}}`, `{state: {terminated: {exitCode: 0, finishedAt: "y"}}}`,
			`{state: {$retainKeys: [terminated], terminated: {exitCode: 0, finishedAt: "y"}}}`, ``},
		{"deployment strategy", deployment,
			`{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`, `{spec: {strategy: {type: Recreate}}}`,
			`{spec: {strategy: {$retainKeys: [type], type: Recreate}}}`, ``},
		{"discriminated, by a schema", nil,
			`{unionName: {discriminatorName: foo, fooField: {fooSubfield: val1}}}`, `{unionName: {discriminatorName: bar, barField: {barSubfield: val2}}}`,
			`{unionName: {$retainKeys: [barField, discriminatorName], discriminatorName: bar, barField: {barSubfield: val2}}}`, ``},
		{"volumes", pod,
			`{spec: {volumes: [{name: foo, emptyDir: {medium: Memory}}]}}`, `{spec: {volumes: [{name: foo, hostPath: {path: /x}}]}}`,
			`{spec: {volumes: [{$retainKeys: [hostPath, name], name: foo, hostPath: {path: /x}}]}}`,
			`{spec: {$setElementOrder/volumes: [{name: foo}], volumes: [{$retainKeys: [hostPath, name], name: foo, hostPath: {path: /x}}]}}`},
		{"volumes of a deployment", deployment,
			`{spec: {template: {spec: {volumes: [{name: foo, emptyDir: {}}, {name: bar, emptyDir: {}}]}}}}`,
			`{spec: {template: {spec: {volumes: [{name: foo, hostPath: {path: /x}}, {name: bar, emptyDir: {}}]}}}}`,
			`{spec: {template: {spec: {volumes: [{$retainKeys: [hostPath, name], name: foo, hostPath: {path: /x}}]}}}}`,
			`{spec: {template: {spec: {$setElementOrder/volumes: [{name: foo}, {name: bar}], volumes: [{$retainKeys: [hostPath, name], name: foo, hostPath: {path: /x}}]}}}}`},
		{"volumes, by a schema", nil,
			`{volumes: [{name: foo, emptyDir: {medium: Memory}}]}`, `{volumes: [{name: foo, hostPath: {path: /x}}]}`,
			`{volumes: [{$retainKeys: [hostPath, name], name: foo, hostPath: {path: /x}}]}`,
			`{$setElementOrder/volumes: [{name: foo}], volumes: [{$retainKeys: [hostPath, name], name: foo, hostPath: {path: /x}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			typ := unionType(t)
			if c.kind != nil {
				typ = mustType(t, c.kind)
			}
			live, local, patch, computed := mustParse(t, c.live), mustParse(t, c.local), mustParse(t, c.patch), mustParse(t, c.patch)
			if c.computed != "" {
				computed = mustParse(t, c.computed)
			}
			// The original is empty, so only the directive $retainKeys removes the live member.
			got, err := ThreeWay{Type: typ, Overwrite: true}.Diff(document.NewMap(), local, live)
			if err != nil || !document.Equal(got, computed) {
				t.Errorf("Diff() = %s, %v\nwant %s", got, err, computed)
			}
			if merged, err := Merge(live, patch, typ); err != nil || !document.Equal(merged, local) {
				t.Errorf("Merge() = %s, %v\nwant %s", merged, err, local)
			}
			if c.kind == nil {
				return
			}
			if upstream, err := oracleThreeWay(document.NewMap(), local, live, c.kind, true); err != nil || !document.Equal(upstream, computed) {
				t.Errorf("strategicpatch computes %s, %v, want %s", upstream, err, computed)
			}
			if upstream, err := oracle(live, patch, c.kind); err != nil || !document.Equal(upstream, local) {
				t.Errorf("strategicpatch merges to %s, %v, want %s", upstream, err, local)
			}
		})
	}
}

// TestRetainKeysTable checks combinations of $retainKeys and the fields of a patch, for a field with the patch strategy
// retainKeys (state) and a field without it (plain).
func TestRetainKeysTable(t *testing.T) {
	typ := unionType(t)
	for _, field := range []string{"state", "plain"} {
		in := func(text string) document.Value {
			return document.NewMap(document.Field{Name: field, Value: mustParse(t, text)})
		}
		live := in(`{foo: old, bar: old, running: {}}`)
		for _, c := range []struct{ name, patch, result string }{
			{"fields in both", `{$retainKeys: [foo], foo: a}`, `{foo: a}`},
			{"a field in the directive that the patch does not set", `{$retainKeys: [foo, bar], foo: a}`, `{foo: a, bar: old}`},
			{"a field that is not live", `{$retainKeys: [foo, terminated], terminated: {exitCode: 0}}`, `{foo: old, terminated: {exitCode: 0}}`},
			{"no directive", `{foo: a}`, `{foo: a, bar: old, running: {}}`},
			{"an empty directive", `{$retainKeys: []}`, `{}`},
			{"a directive with absent fields", `{$retainKeys: [terminated]}`, `{}`},
		} {
			got, err := Merge(live, in(c.patch), typ)
			if err != nil || !document.Equal(got, in(c.result)) {
				t.Errorf("%s, %s: Merge() = %s, %v\nwant %s", field, c.name, got, err, c.result)
			}
		}
		_, err := Merge(live, in(`{$retainKeys: [foo], foo: a, bar: x}`), typ)
		var e *Error
		if !errors.As(err, &e) || e.Reason.Status() != 400 || e.Path != "."+field+".$retainKeys" || !strings.Contains(e.Received, "without bar") {
			t.Errorf("%s: a patch sets a field that is not in $retainKeys: error = %v, want status 400", field, err)
		}
	}
}
