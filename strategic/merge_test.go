package strategic

import (
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/cadastre/cadastre/document"
)

var (
	deployment = reflect.TypeFor[appsv1.Deployment]()
	pod        = reflect.TypeFor[corev1.Pod]()
	service    = reflect.TypeFor[corev1.Service]()
)

// mergeCases are examples of all values and directives of strategic merge patches. Kubernetes returns the same result
// for each.
var mergeCases = []struct {
	name                  string
	kind                  reflect.Type
	object, patch, result string
}{
	{"maps are merged, null removes", deployment,
		`{metadata: {labels: {a: "1", b: "2"}}, spec: {replicas: 1, paused: true}}`,
		`{metadata: {labels: {b: null, c: "3", d: null}}, spec: {replicas: 2}}`,
		`{metadata: {labels: {a: "1", c: "3"}}, spec: {replicas: 2, paused: true}}`},
	{"nulls in a new map are dropped", pod, `{}`, `{spec: {securityContext: {runAsUser: null, fsGroup: 1}}}`, `{spec: {securityContext: {fsGroup: 1}}}`},
	{"an emptied map stays", pod, `{metadata: {labels: {a: "1"}}}`, `{metadata: {labels: {a: null}}}`, `{metadata: {labels: {}}}`},
	{"a map is replaced", pod, `{metadata: {labels: {a: "1", b: "2"}, name: x}}`,
		`{metadata: {labels: {$patch: replace, c: "3"}}}`, `{metadata: {labels: {c: "3"}, name: x}}`},
	{"a map is deleted", pod, `{metadata: {labels: {a: "1"}, name: x}}`, `{metadata: {labels: {$patch: delete}}}`, `{metadata: {labels: {}, name: x}}`},
	{"an absent map is deleted", pod, `{metadata: {name: x}}`, `{metadata: {labels: {$patch: delete}}}`, `{metadata: {name: x}}`},
	{"the object is replaced", pod, `{metadata: {name: x}}`, `{$patch: replace, kind: Pod}`, `{kind: Pod}`},
	{"a value of another kind replaces", pod, `{metadata: {labels: [1]}, spec: {hostname: {a: 1}}}`,
		`{metadata: {labels: {a: b}}, spec: {hostname: web}}`, `{metadata: {labels: {a: b}}, spec: {hostname: web}}`},

	{"items are merged by key", pod,
		`{spec: {containers: [{name: a, image: x}, {name: b, image: y, tty: true}]}}`,
		`{spec: {containers: [{name: b, image: z}]}}`,
		`{spec: {containers: [{name: a, image: x}, {name: b, image: z, tty: true}]}}`},
	{"new items come first", pod, `{spec: {containers: [{name: a}]}}`, `{spec: {containers: [{name: b}]}}`, `{spec: {containers: [{name: b}, {name: a}]}}`},
	{"nested lists with merge keys", pod,
		`{spec: {containers: [{name: a, ports: [{containerPort: 80}, {containerPort: 81, name: x}]}]}}`,
		`{spec: {containers: [{name: a, ports: [{containerPort: 81, name: y}, {containerPort: 80, $patch: delete}]}]}}`,
		`{spec: {containers: [{name: a, ports: [{containerPort: 81, name: y}]}]}}`},
	{"an item is deleted", pod, `{spec: {containers: [{name: a}, {name: b}]}}`,
		`{spec: {containers: [{name: a, $patch: delete}, {name: c, $patch: delete}]}}`, `{spec: {containers: [{name: b}]}}`},
	{"an item is deleted and added", pod, `{spec: {containers: [{name: a, image: x}, {name: b}]}}`,
		`{spec: {containers: [{name: a, $patch: delete}, {name: a, tty: true}]}}`, `{spec: {containers: [{name: a, tty: true}, {name: b}]}}`},
	{"a list is replaced by a directive", pod, `{spec: {containers: [{name: a}, {name: b}]}}`,
		`{spec: {containers: [{$patch: replace}, {name: c}]}}`, `{spec: {containers: [{name: c}]}}`},
	{"a list without a strategy is replaced", pod, `{spec: {tolerations: [{key: a}]}}`,
		`{spec: {tolerations: [{key: b}, {key: c}]}}`, `{spec: {tolerations: [{key: b}, {key: c}]}}`},
	{"an absent list", pod, `{}`, `{spec: {containers: [{name: a}, {name: b, $patch: delete}]}}`, `{spec: {containers: [{name: a}]}}`},
	{"numbers as merge keys", service, `{spec: {ports: [{port: 80, name: a}]}}`,
		`{spec: {ports: [{port: 80, protocol: UDP}]}}`, `{spec: {ports: [{port: 80, name: a, protocol: UDP}]}}`},

	{"scalars are added", pod, `{metadata: {finalizers: [a, b]}}`, `{metadata: {finalizers: [b, c]}}`, `{metadata: {finalizers: [a, b, c]}}`},
	{"scalars are deleted", pod, `{metadata: {finalizers: [a, b, c]}}`,
		`{metadata: {$deleteFromPrimitiveList/finalizers: [b, x]}}`, `{metadata: {finalizers: [a, c]}}`},
	{"scalars are added, deleted and ordered", pod, `{metadata: {finalizers: [a, b, c]}}`,
		`{metadata: {$deleteFromPrimitiveList/finalizers: [b], $setElementOrder/finalizers: [d, c, a], finalizers: [d]}}`, `{metadata: {finalizers: [d, c, a]}}`},

	{"an order without items", pod, `{spec: {containers: [{name: a}, {name: x}, {name: b}]}}`,
		`{spec: {$setElementOrder/containers: [{name: b}, {name: a}]}}`, `{spec: {containers: [{name: x}, {name: b}, {name: a}]}}`},
	{"an order with changed items", pod, `{spec: {containers: [{name: a}, {name: sidecar}, {name: b}]}}`,
		`{spec: {$setElementOrder/containers: [{name: c}, {name: a}, {name: b}], containers: [{name: c}, {name: b, image: y}]}}`,
		`{spec: {containers: [{name: c}, {name: a}, {name: sidecar}, {name: b, image: y}]}}`},
	{"an order of an absent list", pod, `{spec: {}}`, `{spec: {$setElementOrder/containers: [{name: b}, {name: a}]}}`, `{spec: {}}`},
	{"new items reuse the positions of deleted ones", pod, `{spec: {containers: [{name: a}, {name: sidecar}]}}`,
		`{spec: {$setElementOrder/containers: [{name: b}], containers: [{name: b}, {name: a, $patch: delete}]}}`,
		`{spec: {containers: [{name: sidecar}, {name: b}]}}`},

	{"retainKeys without declared strategy", pod,
		`{status: {containerStatuses: [{name: a}], hostIP: x}, spec: {securityContext: {fsGroup: 1, runAsUser: 2}}}`,
		`{spec: {securityContext: {$retainKeys: [runAsUser, runAsGroup], runAsGroup: 3}}}`,
		`{status: {containerStatuses: [{name: a}], hostIP: x}, spec: {securityContext: {runAsUser: 2, runAsGroup: 3}}}`},
	{"retainKeys of a deployment strategy", deployment,
		`{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`,
		`{spec: {strategy: {$retainKeys: [type], type: Recreate}}}`, `{spec: {strategy: {type: Recreate}}}`},
	{"declared strategy without the directive", deployment,
		`{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`,
		`{spec: {strategy: {type: Recreate}}}`, `{spec: {strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}}`},
	{"retainKeys of volumes", pod,
		`{spec: {volumes: [{name: foo, emptyDir: {medium: Memory}}]}}`,
		`{spec: {volumes: [{$retainKeys: [name, hostPath], name: foo, hostPath: {path: /x}}]}}`,
		`{spec: {volumes: [{name: foo, hostPath: {path: /x}}]}}`},
	{"fields in retainKeys that the patch does not set are kept", deployment,
		`{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`,
		`{spec: {strategy: {$retainKeys: [type, rollingUpdate], type: X}}}`, `{spec: {strategy: {type: X, rollingUpdate: {maxSurge: 1}}}}`},
	{"retainKeys need not include fields that the patch removes", deployment,
		`{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}`,
		`{spec: {strategy: {$retainKeys: [type], type: X, rollingUpdate: null}}}`, `{spec: {strategy: {type: X}}}`},
	{"fields that start with a dollar sign", pod, `{metadata: {annotations: {$x: "1"}}}`,
		`{metadata: {annotations: {$y: "2", $patchy: "3"}}}`, `{metadata: {annotations: {$x: "1", $y: "2", $patchy: "3"}}}`},
}

func TestMerge(t *testing.T) {
	for _, c := range mergeCases {
		t.Run(c.name, func(t *testing.T) {
			object, patch, want := mustParse(t, c.object), mustParse(t, c.patch), mustParse(t, c.result)
			got, err := Merge(object, patch, mustType(t, c.kind))
			if err != nil || !document.Equal(got, want) {
				t.Errorf("Merge() = %s, %v\nwant %s", got, err, want)
			}
			if upstream, err := oracle(object, patch, c.kind); err != nil || !document.Equal(upstream, want) {
				t.Errorf("strategicpatch returns %s, %v\nwant %s", upstream, err, want)
			}
			if again, err := Merge(got, patch, mustType(t, c.kind)); err != nil || !document.Same(again, got) {
				t.Errorf("Merge() again = %s, %v\nwant %s", again, err, got)
			}
		})
	}
}

// TestMergeMutatesNothing: Merge modifies neither the object nor the patch.
func TestMergeMutatesNothing(t *testing.T) {
	for _, c := range mergeCases {
		object, patch := mustParse(t, c.object), mustParse(t, c.patch)
		before := object.JSON() + patch.JSON()
		if _, err := Merge(object, patch, mustType(t, c.kind)); err != nil {
			t.Fatal(err)
		}
		if after := object.JSON() + patch.JSON(); after != before {
			t.Errorf("%s: Merge changed its arguments from %s to %s", c.name, before, after)
		}
	}
}

// TestMergeSharesUnchangedParts: the result shares the parts that the patch does not affect with the object.
func TestMergeSharesUnchangedParts(t *testing.T) {
	object := mustParse(t, `{metadata: {labels: {a: "1"}}, spec: {containers: [{name: a, ports: [{containerPort: 80}]}, {name: b, env: [{name: x}]}]}}`)
	got, err := Merge(object, mustParse(t, `{spec: {containers: [{name: a, image: x}]}}`), mustType(t, pod))
	if err != nil {
		t.Fatal(err)
	}
	item := func(v document.Value, i int) document.Value { return v.Lookup("spec", "containers").At(i) }
	for what, pair := range map[string][2]document.Value{
		"a sibling":           {object.Get("metadata"), got.Get("metadata")},
		"another item":        {item(object, 1), item(got, 1)},
		"a field of the item": {item(object, 0).Get("ports"), item(got, 0).Get("ports")},
	} {
		if !document.Same(pair[0], pair[1]) {
			t.Errorf("%s was copied, want it shared with the object", what)
		}
	}
}
