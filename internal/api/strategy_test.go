package api

import (
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
)

var testWrite = Write{
	Time: time.Date(2026, 2, 3, 4, 5, 6, 7, time.FixedZone("", 3600)),
	User: User{Name: "ann", Groups: []string{"dev", "ops"}, Extra: map[string][]string{"x": {"y"}}},
}

type prepareTest struct{ name, kind, endpoint, obj, live, want string }

func testPrepare(t *testing.T, tests []prepareTest) {
	t.Helper()
	for _, test := range tests {
		got := builtin(t, test.kind).Prepare(test.endpoint, parse(t, test.obj), parse(t, test.live), testWrite)
		if want := parse(t, test.want); !document.Equal(got, want) {
			t.Errorf("%s: Prepare() = %v, want\n%v", test.name, got, want)
		}
	}
}

func TestPrepare(t *testing.T) {
	testPrepare(t, []prepareTest{
		{"create", "deployments.apps", "", `{metadata: {name: a}, spec: {}, status: {replicas: 9}}`, "", `{metadata: {name: a, generation: 1}, spec: {}, status: {}}`},
		{"update", "deployments.apps", "", `{metadata: {generation: 9}, spec: {replicas: 2}}`, `{metadata: {generation: 1}, spec: {}, status: {replicas: 1}}`, `{metadata: {generation: 2}, spec: {replicas: 2}, status: {replicas: 1}}`},
		{"update drops generation of request", "configmaps", "", `{metadata: {generation: 9}}`, `{metadata: {name: a}}`, `{metadata: {}}`},
		{"create namespace", "namespaces", "", `{metadata: {name: a}}`, "", `{metadata: {name: a, labels: {kubernetes.io/metadata.name: a}}, spec: {finalizers: [kubernetes]}, status: {phase: Active}}`},
		{"create namespace with finalizers", "namespaces", "", `{metadata: {name: a}, spec: {finalizers: [x]}}`, "", `{metadata: {name: a, labels: {kubernetes.io/metadata.name: a}}, spec: {finalizers: [x, kubernetes]}, status: {phase: Active}}`},
		{"update restores name label", "namespaces", "", `{metadata: {name: a, labels: {kubernetes.io/metadata.name: b}}}`, `{metadata: {name: a}, spec: {finalizers: [kubernetes]}, status: {phase: Active}}`, `{metadata: {name: a, labels: {kubernetes.io/metadata.name: a}}, spec: {finalizers: [kubernetes]}, status: {phase: Active}}`},
		{"job", "jobs.batch", "", `{metadata: {name: a, uid: u}, spec: {template: {metadata: {labels: {x: y, job-name: mine}}}}}`, "",
			`{metadata: {name: a, uid: u, generation: 1}, spec: {selector: {matchLabels: {batch.kubernetes.io/controller-uid: u}}, template: {metadata: {labels: {x: y, job-name: mine, batch.kubernetes.io/job-name: a, batch.kubernetes.io/controller-uid: u, controller-uid: u}}}}, status: {}}`},
		{"job with manual selector", "jobs.batch", "", `{metadata: {name: a, uid: u}, spec: {manualSelector: true, selector: {}}}`, "", `{metadata: {name: a, uid: u, generation: 1}, spec: {manualSelector: true, selector: {}}, status: {}}`},
		{"service account", "serviceaccounts", "", `{metadata: {}, secrets: [{name: a, kind: Secret}, {name: b}]}`, "", `{metadata: {}, secrets: [{name: a}, {name: b}]}`},
		{"create volume", "persistentvolumes", "", `{metadata: {}, spec: {}, status: {phase: Bound}}`, "", `{metadata: {}, spec: {}, status: {phase: Pending, lastPhaseTransitionTime: "2026-02-03T03:05:06Z"}}`},
		{"volume changes phase", "persistentvolumes", "status", `{metadata: {}, spec: {}, status: {phase: Bound}}`, `{metadata: {}, spec: {}, status: {phase: Pending, lastPhaseTransitionTime: "2020-01-01T00:00:00Z"}}`, `{metadata: {}, spec: {}, status: {phase: Bound, lastPhaseTransitionTime: "2026-02-03T03:05:06Z"}}`},
		{"volume keeps phase", "persistentvolumes", "status", `{metadata: {}, spec: {}, status: {phase: Bound}}`, `{metadata: {}, spec: {}, status: {phase: Bound, lastPhaseTransitionTime: "2020-01-01T00:00:00Z"}}`, `{metadata: {}, spec: {}, status: {phase: Bound, lastPhaseTransitionTime: "2020-01-01T00:00:00Z"}}`},
		{"dataSource only", "persistentvolumeclaims", "", `{metadata: {}, spec: {dataSource: {kind: PersistentVolumeClaim, name: a}}}`, "", `{metadata: {}, spec: {dataSource: {kind: PersistentVolumeClaim, name: a}, dataSourceRef: {kind: PersistentVolumeClaim, name: a}}, status: {phase: Pending}}`},
		{"dataSourceRef only", "persistentvolumeclaims", "", `{metadata: {}, spec: {dataSourceRef: {apiGroup: g, kind: K, name: a}}}`, "", `{metadata: {}, spec: {dataSource: {apiGroup: g, kind: K, name: a}, dataSourceRef: {apiGroup: g, kind: K, name: a}}, status: {phase: Pending}}`},
		{"dataSource of unsupported kind", "persistentvolumeclaims", "", `{metadata: {}, spec: {dataSource: {apiGroup: g, kind: K, name: a}}}`, "", `{metadata: {}, spec: {}, status: {phase: Pending}}`},
		{"dataSourceRef in another namespace", "persistentvolumeclaims", "", `{metadata: {}, spec: {dataSourceRef: {kind: K, name: a, namespace: ns}}}`, "", `{metadata: {}, spec: {dataSourceRef: {kind: K, name: a, namespace: ns}}, status: {phase: Pending}}`},
		{"taint rule", "devicetaintrules.resource.k8s.io", "", `{metadata: {}, spec: {taint: {effect: None, timeAdded: "2020-01-01T00:00:00Z"}}, status: {conditions: []}}`, "",
			`{metadata: {generation: 1}, spec: {taint: {effect: None, timeAdded: "2020-01-01T00:00:00Z"}}, status: {}}`},
		{"new effect of a taint rule", "devicetaintrules.resource.k8s.io", "", `{metadata: {}, spec: {taint: {effect: NoExecute, timeAdded: "2020-01-01T00:00:00Z"}}}`,
			`{metadata: {generation: 1}, spec: {taint: {effect: None, timeAdded: "2020-01-01T01:00:00+01:00"}}}`, `{metadata: {generation: 2}, spec: {taint: {effect: NoExecute, timeAdded: "2026-02-03T03:05:06Z"}}}`},
		{"new effect and time of a taint rule", "devicetaintrules.resource.k8s.io", "", `{metadata: {}, spec: {taint: {effect: NoExecute, timeAdded: "2020-01-02T00:00:00Z"}}}`,
			`{metadata: {generation: 1}, spec: {taint: {effect: None, timeAdded: "2020-01-01T00:00:00Z"}}}`, `{metadata: {generation: 2}, spec: {taint: {effect: NoExecute, timeAdded: "2020-01-02T00:00:00Z"}}}`},
		{"new key of a taint rule", "devicetaintrules.resource.k8s.io", "", `{metadata: {}, spec: {taint: {key: a, effect: None, timeAdded: "2020-01-01T00:00:00Z"}}}`,
			`{metadata: {generation: 1}, spec: {taint: {effect: None, timeAdded: "2020-01-01T00:00:00Z"}}}`, `{metadata: {generation: 2}, spec: {taint: {key: a, effect: None, timeAdded: "2020-01-01T00:00:00Z"}}}`},
		{"health of storage", "csinodes.storage.k8s.io", "status", `{metadata: {}, spec: {drivers: []}, status: {storageHealth: [{name: a}]}}`, `{metadata: {}, spec: {}, status: {}}`, `{metadata: {}, spec: {}, status: {}}`},
		{"stored health of storage", "csinodes.storage.k8s.io", "status", `{metadata: {}, spec: {}, status: {storageHealth: [{name: b}]}}`, `{metadata: {}, spec: {}, status: {storageHealth: [{name: a}]}}`, `{metadata: {}, spec: {}, status: {storageHealth: [{name: b}]}}`},
	})
}

// TestPrepareNoOp checks that Prepare returns the live object itself, without allocating memory, for a write that changes
// nothing.
func TestPrepareNoOp(t *testing.T) {
	for _, name := range []string{"deployments.apps", "pods", "services", "configmaps", "jobs.batch", "secrets"} {
		k := builtin(t, name)
		live := parse(t, `{metadata: {name: a, generation: 3}, spec: {type: ClusterIP, template: {spec: {serviceAccountName: b, serviceAccount: b}}}, status: {replicas: 1}}`)
		var got document.Value
		allocs := testing.AllocsPerRun(100, func() { got = k.Prepare("", k.Normalize(live), live, testWrite) })
		if !document.Same(got, live) || allocs > 0 {
			t.Errorf("%s: Prepare() of an unchanged object: got %v allocations and %v, want 0 allocations and the live object", name, allocs, got)
		}
	}
}

func TestPrepareDaemonSet(t *testing.T) {
	const zeros = `{currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0}`
	testPrepare(t, []prepareTest{
		{"create", "daemonsets.apps", "", `{metadata: {}, spec: {}}`, "", `{metadata: {generation: 1, annotations: {deprecated.daemonset.template.generation: "1"}}, spec: {}, status: ` + zeros + `}`},
		{"changed template", "daemonsets.apps", "", `{metadata: {}, spec: {template: {spec: {x: 1}}}}`, `{metadata: {generation: 1, annotations: {deprecated.daemonset.template.generation: "4"}}, spec: {template: {}}}`,
			`{metadata: {generation: 2, annotations: {deprecated.daemonset.template.generation: "5"}}, spec: {template: {spec: {x: 1}}}}`},
		{"changed spec", "daemonsets.apps", "", `{metadata: {annotations: {deprecated.daemonset.template.generation: "9"}}, spec: {minReadySeconds: 1}}`, `{metadata: {generation: 1, annotations: {deprecated.daemonset.template.generation: "4"}}, spec: {}}`,
			`{metadata: {generation: 2, annotations: {deprecated.daemonset.template.generation: "4"}}, spec: {minReadySeconds: 1}}`},
	})
}

func TestPrepareService(t *testing.T) {
	testPrepare(t, []prepareTest{
		{"from LoadBalancer to ClusterIP", "services", "",
			`{metadata: {}, spec: {type: ClusterIP, clusterIP: 1.1.1.1, ports: [{port: 80, nodePort: 30000}], allocateLoadBalancerNodePorts: true, externalTrafficPolicy: Cluster, loadBalancerClass: x}}`,
			`{metadata: {}, spec: {type: LoadBalancer, clusterIP: 1.1.1.1, ports: [{port: 80, nodePort: 30000}], allocateLoadBalancerNodePorts: true, externalTrafficPolicy: Cluster, loadBalancerClass: x}, status: {loadBalancer: {ingress: [{ip: 2.2.2.2}]}}}`,
			`{metadata: {}, spec: {type: ClusterIP, clusterIP: 1.1.1.1, ports: [{port: 80}]}, status: {loadBalancer: {}}}`},
		{"changed fields are retained", "services", "",
			`{metadata: {}, spec: {type: ClusterIP, ports: [{port: 80, nodePort: 30001}], externalTrafficPolicy: Local}}`,
			`{metadata: {}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30000}], externalTrafficPolicy: Cluster}}`,
			`{metadata: {}, spec: {type: ClusterIP, ports: [{port: 80, nodePort: 30001}], externalTrafficPolicy: Local}}`},
		{"from ClusterIP to ExternalName", "services", "",
			`{metadata: {}, spec: {type: ExternalName, externalName: a, clusterIP: 1.1.1.1, clusterIPs: [1.1.1.1], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack}}`,
			`{metadata: {}, spec: {type: ClusterIP, clusterIP: 1.1.1.1, clusterIPs: [1.1.1.1], ipFamilies: [IPv4], ipFamilyPolicy: SingleStack}}`,
			`{metadata: {}, spec: {type: ExternalName, externalName: a}}`},
		{"unchanged type", "services", "", `{metadata: {}, spec: {type: NodePort, ports: [{nodePort: 1}]}}`, `{metadata: {}, spec: {type: NodePort, ports: [{nodePort: 1}]}}`, `{metadata: {}, spec: {type: NodePort, ports: [{nodePort: 1}]}}`},
	})
}

func TestPrepareSigningRequest(t *testing.T) {
	const kind = "certificatesigningrequests.certificates.k8s.io"
	testPrepare(t, []prepareTest{
		{"create", kind, "", `{metadata: {}, spec: {request: a, username: eve, uid: b, groups: [system:masters], extra: {a: [b]}}, status: {certificate: x}}`, "",
			`{metadata: {}, spec: {request: a, username: ann, groups: [dev, ops], extra: {x: ["y"]}}, status: {}}`},
		{"update restores spec and status", kind, "", `{metadata: {labels: {a: b}}, spec: {request: b}, status: {certificate: x}}`, `{metadata: {}, spec: {request: a}, status: {}}`, `{metadata: {labels: {a: b}}, spec: {request: a}, status: {}}`},
		{"approve", kind, "approval", `{metadata: {}, spec: {}, status: {conditions: [{type: Approved, status: "True"}]}}`, `{metadata: {}, spec: {request: a}}`,
			`{metadata: {}, spec: {request: a}, status: {conditions: [{type: Approved, status: "True", lastUpdateTime: "2026-02-03T03:05:06Z", lastTransitionTime: "2026-02-03T03:05:06Z"}]}}`},
		{"sign", kind, "status", `{metadata: {}, spec: {}, status: {certificate: x, conditions: [{type: Approved, status: "False"}, {type: Failed, status: "True", lastUpdateTime: "2025-01-01T00:00:00Z"}]}}`,
			`{metadata: {}, spec: {request: a}, status: {conditions: [{type: Approved, status: "True", lastUpdateTime: x, lastTransitionTime: "y"}, {type: Failed, status: "True", lastTransitionTime: z}]}}`,
			`{metadata: {}, spec: {request: a}, status: {certificate: x, conditions: [{type: Approved, status: "True", lastUpdateTime: x, lastTransitionTime: "y"}, {type: Failed, status: "True", lastUpdateTime: "2025-01-01T00:00:00Z", lastTransitionTime: z}]}}`},
	})
}
