package api

import "testing"

// TestPrepareDropsDisabledFields checks that Prepare drops the fields of disabled features, unless the live object sets
// them.
func TestPrepareDropsDisabledFields(t *testing.T) {
	const (
		withMode    = `volumes: [{name: v, emptyDir: {mode: 511, medium: Memory}}]`
		withoutMode = `volumes: [{name: v, emptyDir: {medium: Memory}}]`
	)
	testPrepare(t, []prepareTest{
		{"create with a mode of an emptyDir", "podtemplates", "", `{metadata: {}, template: {spec: {` + withMode + `}}}`, "",
			`{metadata: {generation: 1}, template: {spec: {` + withoutMode + `}}}`},
		{"update adds a mode of an emptyDir", "podtemplates", "", `{metadata: {}, template: {spec: {` + withMode + `}}}`, `{metadata: {generation: 1}, template: {spec: {}}}`,
			`{metadata: {generation: 2}, template: {spec: {` + withoutMode + `}}}`},
		{"update retains a mode of an emptyDir", "podtemplates", "", `{metadata: {}, template: {spec: {` + withMode + `}}}`, `{metadata: {generation: 1}, template: {spec: {` + withMode + `}}}`,
			`{metadata: {generation: 1}, template: {spec: {` + withMode + `}}}`},
		{"user of a file", "cronjobs.batch", "", `{metadata: {}, spec: {jobTemplate: {spec: {template: {spec: {volumes: [{name: v, configMap: {items: [{key: a, user: 1}]}}]}}}}}}`, "",
			`{metadata: {generation: 1}, spec: {jobTemplate: {spec: {template: {spec: {volumes: [{name: v, configMap: {items: [{key: a}]}}]}}}}}, status: {}}`},
		{"bind mount options and probes", "podtemplates", "", `{metadata: {}, template: {spec: {containers: [{name: a, volumeMounts: [{name: v, bindMountOptions: [noexec]}], startupProbe: {httpGet: {port: 1, protocol: H2C}}}]}}}`, "",
			`{metadata: {generation: 1}, template: {spec: {containers: [{name: a, volumeMounts: [{name: v}], startupProbe: {httpGet: {port: 1}}}]}}}`},
		{"scheduling of a job", "jobs.batch", "status", `{metadata: {}, spec: {}, status: {}}`, `{metadata: {}, spec: {scheduling: {}}, status: {}}`,
			`{metadata: {}, spec: {scheduling: {}}, status: {}}`},
		{"scheduling group", "replicationcontrollers", "", `{metadata: {}, spec: {template: {spec: {schedulingGroup: {podGroupName: a}}}}}`, "",
			`{metadata: {generation: 1}, spec: {template: {spec: {}}}, status: {replicas: 0}}`},
		{"stop signals", "deployments.apps", "", `{metadata: {}, spec: {template: {spec: {containers: [{name: a, lifecycle: {stopSignal: SIGTERM}}, {name: b, lifecycle: {stopSignal: SIGTERM, preStop: {}}}, {name: c}]}}}}`, "",
			`{metadata: {generation: 1}, spec: {template: {spec: {containers: [{name: a}, {name: b, lifecycle: {preStop: {}}}, {name: c}]}}}, status: {}}`},
		{"create node", "nodes", "", `{metadata: {}, spec: {configSource: {}, unschedulable: true}, status: {config: {}, phase: Running}}`, "",
			`{metadata: {}, spec: {unschedulable: true}, status: {phase: Running}}`},
		{"update node", "nodes", "", `{metadata: {}, spec: {configSource: {}}}`, `{metadata: {}, spec: {}, status: {config: {}}}`,
			`{metadata: {}, spec: {}, status: {config: {}}}`},
		{"update node with configSource", "nodes", "", `{metadata: {}, spec: {configSource: {configMap: {name: b}}}}`, `{metadata: {}, spec: {configSource: {}}}`,
			`{metadata: {}, spec: {configSource: {configMap: {name: b}}}}`},
		{"update node status", "nodes", "status", `{metadata: {}, spec: {}, status: {config: {}, phase: Running}}`, `{metadata: {}, spec: {configSource: {}}, status: {}}`,
			`{metadata: {}, spec: {configSource: {}}, status: {phase: Running}}`},
	})
}

// TestPrepareAppArmorProfiles checks that Prepare sets securityContext.appArmorProfile of containers from the legacy
// AppArmor annotations of a new pod.
func TestPrepareAppArmorProfiles(t *testing.T) {
	const (
		note = "container.apparmor.security.beta.kubernetes.io/"
		rest = `status: {phase: Pending, qosClass: BestEffort}`
	)
	testPrepare(t, []prepareTest{
		{"profiles", "pods", "", `{metadata: {annotations: {` + note + `a: runtime/default, ` + note + `b: localhost/x, ` + note + `c: unconfined}}, spec: {containers: [{name: a}, {name: b, securityContext: {privileged: true}}], initContainers: [{name: c}]}}`, "",
			`{metadata: {generation: 1, annotations: {` + note + `a: runtime/default, ` + note + `b: localhost/x, ` + note + `c: unconfined}}, spec: {containers: [{name: a, securityContext: {appArmorProfile: {type: RuntimeDefault}}}, {name: b, securityContext: {privileged: true, appArmorProfile: {type: Localhost, localhostProfile: x}}}], initContainers: [{name: c, securityContext: {appArmorProfile: {type: Unconfined}}}]}, ` + rest + `}`},
		{"invalid profiles", "pods", "", `{metadata: {annotations: {` + note + `a: other, ` + note + `b: "localhost/ x"}}, spec: {containers: [{name: a}, {name: b}]}}`, "",
			`{metadata: {generation: 1, annotations: {` + note + `a: other, ` + note + `b: "localhost/ x"}}, spec: {containers: [{name: a}, {name: b}]}, ` + rest + `}`},
		{"same profile on the pod", "pods", "", `{metadata: {annotations: {` + note + `a: unconfined}}, spec: {securityContext: {appArmorProfile: {type: Unconfined}}, containers: [{name: a}]}}`, "",
			`{metadata: {generation: 1, annotations: {` + note + `a: unconfined}}, spec: {securityContext: {appArmorProfile: {type: Unconfined}}, containers: [{name: a}]}, ` + rest + `}`},
		{"container has a profile", "pods", "", `{metadata: {annotations: {` + note + `a: unconfined}}, spec: {containers: [{name: a, securityContext: {appArmorProfile: {type: RuntimeDefault}}}]}}`, "",
			`{metadata: {generation: 1, annotations: {` + note + `a: unconfined}}, spec: {containers: [{name: a, securityContext: {appArmorProfile: {type: RuntimeDefault}}}]}, ` + rest + `}`},
		{"windows", "pods", "", `{metadata: {annotations: {` + note + `a: unconfined}}, spec: {os: {name: windows}, containers: [{name: a}]}}`, "",
			`{metadata: {generation: 1, annotations: {` + note + `a: unconfined}}, spec: {os: {name: windows}, containers: [{name: a}]}, ` + rest + `}`},
		{"update", "pods", "", `{metadata: {annotations: {` + note + `a: unconfined}}, spec: {containers: [{name: a}]}}`, `{metadata: {generation: 1}, spec: {containers: [{name: a}]}, status: {}}`,
			`{metadata: {generation: 1, annotations: {` + note + `a: unconfined}}, spec: {containers: [{name: a}]}, status: {}}`},
	})
}

// TestPrepareDevices checks that Prepare drops device attributes that are lists, whose feature gate is off, from
// ResourceSlices, and the statuses of devices that are no longer allocated from ResourceClaims.
func TestPrepareDevices(t *testing.T) {
	const (
		results = `{devices: {results: [{driver: d, pool: p, device: a}, {driver: d, pool: p, device: b, shareID: s}]}}`
		devices = `[{driver: d, pool: p, device: a}, {driver: d, pool: p, device: b, shareID: s}, {driver: d, pool: p, device: other}]`
	)
	testPrepare(t, []prepareTest{
		{"attributes", "resourceslices.resource.k8s.io", "", `{metadata: {}, spec: {devices: [{name: a, attributes: {x: {ints: [1]}, "y": {int: 1}}, nodeAllocatableResources: {cpu: {}}}]}}`, "",
			`{metadata: {generation: 1}, spec: {devices: [{name: a, attributes: {x: {}, "y": {int: 1}}}]}}`},
		{"allocated", "resourceclaims.resource.k8s.io", "status", `{metadata: {}, status: {allocation: ` + results + `, devices: ` + devices + `}}`, `{metadata: {}, status: {allocation: ` + results + `}}`,
			`{metadata: {}, status: {allocation: ` + results + `, devices: ` + devices + `}}`},
		{"deallocated", "resourceclaims.resource.k8s.io", "status", `{metadata: {}, status: {devices: ` + devices + `}}`, `{metadata: {}, status: {allocation: ` + results + `}}`,
			`{metadata: {}, status: {devices: [{driver: d, pool: p, device: other}]}}`},
		{"all devices deallocated", "resourceclaims.resource.k8s.io", "status", `{metadata: {}, status: {devices: [{driver: d, pool: p, device: a}]}}`, `{metadata: {}, status: {allocation: ` + results + `}}`,
			`{metadata: {}, status: {}}`},
	})
}
