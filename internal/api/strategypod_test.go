package api

import (
	"testing"

	"github.com/cadastre/cadastre/internal/api/qos"
)

func TestPreparePod(t *testing.T) {
	testPrepare(t, []prepareTest{
		{"create", "pods", "", `{metadata: {name: a}, spec: {}, status: {phase: Running}}`, "", `{metadata: {name: a, generation: 1}, spec: {}, status: {phase: Pending, qosClass: BestEffort}}`},
		{"scheduling gates", "pods", "", `{metadata: {}, spec: {schedulingGates: [{name: a}]}}`, "",
			`{metadata: {generation: 1}, spec: {schedulingGates: [{name: a}]}, status: {phase: Pending, qosClass: BestEffort, conditions: [{type: PodScheduled, status: "False", lastProbeTime: null, lastTransitionTime: "2026-02-03T03:05:06Z", reason: SchedulingGated, message: Scheduling is blocked due to non-empty scheduling gates}]}}`},
		{"matchLabelKeys", "pods", "",
			`{metadata: {labels: {a: b}}, spec: {topologySpreadConstraints: [{matchLabelKeys: [a, c], labelSelector: {}}, {matchLabelKeys: [a]}], affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {mismatchLabelKeys: [a], labelSelector: {matchExpressions: [{key: x, operator: Exists}]}}}]}}}}`, "",
			`{metadata: {labels: {a: b}, generation: 1}, spec: {topologySpreadConstraints: [{matchLabelKeys: [a, c], labelSelector: {matchExpressions: [{key: a, operator: In, values: [b]}]}}, {matchLabelKeys: [a]}], affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {mismatchLabelKeys: [a], labelSelector: {matchExpressions: [{key: x, operator: Exists}, {key: a, operator: NotIn, values: [b]}]}}}]}}}, status: {phase: Pending, qosClass: BestEffort}}`},
		{"update", "pods", "", `{metadata: {}, spec: {x: 1}, status: {phase: Running}}`, `{metadata: {generation: 1}, spec: {}, status: {phase: Pending}}`, `{metadata: {generation: 2}, spec: {x: 1}, status: {phase: Pending}}`},
		{"status of an older kubelet", "pods", "status", `{metadata: {}, spec: {x: 1}, status: {conditions: [{type: A}, {type: B, observedGeneration: 5}, {type: C}]}}`,
			`{metadata: {generation: 7}, spec: {}, status: {qosClass: Burstable, observedGeneration: 6, conditions: [{type: B, observedGeneration: 3}, {type: A, observedGeneration: 4}]}}`,
			`{metadata: {generation: 7}, spec: {}, status: {qosClass: Burstable, observedGeneration: 6, conditions: [{type: A, observedGeneration: 4}, {type: B, observedGeneration: 5}, {type: C}]}}`},
	})
}

func TestQOSClass(t *testing.T) {
	for _, test := range []struct{ spec, want string }{
		{`{containers: [{}]}`, "BestEffort"},
		{`{containers: [{resources: {requests: {cpu: "0", example.com/gpu: 1}}}]}`, "BestEffort"},
		{`{containers: [{resources: {requests: {cpu: 1}}}]}`, "Burstable"},
		{`{containers: [{resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1000m, memory: 1024Mi}}}]}`, "Guaranteed"},
		{`{containers: [{resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, memory: 1Gi}}}]}`, "Burstable"},
		{`{containers: [{resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}, {}]}`, "Burstable"},
		{`{containers: [{resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}], initContainers: [{}]}`, "Burstable"},
		{`{containers: [{resources: {limits: {cpu: 1, memory: 1Gi}}}]}`, "Burstable"},
		{`{resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}, containers: [{}]}`, "Guaranteed"},
		{`{resources: {limits: {cpu: 1}}, containers: [{}]}`, "Burstable"},
	} {
		if got := qos.Class(parse(t, test.spec)); got != test.want {
			t.Errorf("qos.Class(%s) = %s, want %s", test.spec, got, test.want)
		}
	}
}
