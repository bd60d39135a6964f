package api

import "testing"

func TestNextGeneration(t *testing.T) {
	for _, test := range []struct {
		name, kind, endpoint, obj, live string
		want                            int64
	}{
		{"create", "deployments.apps", "", `{metadata: {generation: 7}}`, "", 1},
		{"create without generation", "configmaps", "", `{metadata: {}}`, "", 0},
		{"create keeps generation of request", "configmaps", "", `{metadata: {generation: 7}}`, "", 7},
		{"spec", "deployments.apps", "", `{spec: {replicas: 1}}`, `{metadata: {generation: 3}, spec: {replicas: 2}}`, 4},
		{"no change", "deployments.apps", "", `{metadata: {generation: 9, annotations: {}}, spec: {replicas: 1.0}}`, `{metadata: {generation: 3}, spec: {replicas: 1}}`, 3},
		{"annotations of deployments", "deployments.apps", "", `{metadata: {annotations: {a: b}}}`, `{metadata: {generation: 3}}`, 4},
		{"annotations at status endpoint", "deployments.apps", "status", `{metadata: {annotations: {a: b}}}`, `{metadata: {generation: 3}}`, 3},
		{"annotations of statefulsets", "statefulsets.apps", "", `{metadata: {annotations: {a: b}}}`, `{metadata: {generation: 3}}`, 3},
		{"empty and absent are equal", "pods", "", `{spec: {tolerations: [], volumes: [{name: a, emptyDir: {}}]}}`, `{metadata: {generation: 3}, spec: {volumes: [{name: a, emptyDir: {}, items: null}]}}`, 3},
		{"empty struct differs from absent", "pods", "", `{spec: {volumes: [{name: a, emptyDir: {}}]}}`, `{metadata: {generation: 3}, spec: {volumes: [{name: a}]}}`, 4},
		{"item added", "pods", "", `{spec: {volumes: [{name: a}, {name: b}]}}`, `{metadata: {generation: 3}, spec: {volumes: [{name: a}]}}`, 4},
		{"labels of slices", "endpointslices.discovery.k8s.io", "", `{metadata: {labels: {a: b}}}`, `{metadata: {generation: 3}}`, 4},
		{"csidriver without generation", "csidrivers.storage.k8s.io", "", `{spec: {attachRequired: true}}`, `{metadata: {}, spec: {}}`, 1},
		{"priorityclass is not counted", "priorityclasses.scheduling.k8s.io", "", `{value: 2}`, `{metadata: {generation: 1}, value: 1}`, 1},
		{"update ignores generation of request", "configmaps", "", `{metadata: {generation: 9}}`, `{metadata: {}}`, 0},
	} {
		if got := builtin(t, test.kind).NextGeneration(test.endpoint, "v1", parse(t, test.obj), parse(t, test.live)); got != test.want {
			t.Errorf("%s: NextGeneration() = %d, want %d", test.name, got, test.want)
		}
	}
}
