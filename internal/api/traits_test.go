package api

import "testing"

func TestTraits(t *testing.T) {
	for name, want := range map[string]Traits{
		"deployments.apps":           {},
		"services":                   {AllowCreateOnUpdate: true, ReturnDeletedObject: true},
		"leases.coordination.k8s.io": {AllowCreateOnUpdate: true, RequireResourceVersion: true},
		"jobs.batch":                 {OrphanDependents: true},
		"cronjobs.batch":             {},
		"pods":                       {Graceful: true, ReturnDeletedObject: true},
		"namespaces":                 {NoDeleteCollection: true, ContainsObjects: true},
		"events.events.k8s.io":       {AllowCreateOnUpdate: true, NoGarbageCollection: true, ValidateRequestVersion: true},
	} {
		if got := builtin(t, name).Traits; got != want {
			t.Errorf("%s: got traits %+v, want %+v", name, got, want)
		}
	}
}

func TestGracePeriod(t *testing.T) {
	for _, test := range []struct {
		name, kind, live string
		requested        int64
		isRequested      bool
		want             int64
	}{
		{"period of the pod", "pods", `{spec: {nodeName: a, terminationGracePeriodSeconds: 30}}`, 0, false, 30},
		{"period of the request", "pods", `{spec: {nodeName: a, terminationGracePeriodSeconds: 30}}`, 5, true, 5},
		{"zero period", "pods", `{spec: {nodeName: a, terminationGracePeriodSeconds: 30}}`, 0, true, 0},
		{"negative period", "pods", `{spec: {nodeName: a}}`, -1, true, 1},
		{"not scheduled", "pods", `{spec: {terminationGracePeriodSeconds: 30}}`, 5, true, 0},
		{"succeeded", "pods", `{spec: {nodeName: a}, status: {phase: Succeeded}}`, 5, true, 0},
		{"failed", "pods", `{spec: {nodeName: a}, status: {phase: Failed}}`, 5, true, 0},
		{"kind without graceful deletion", "services", `{spec: {nodeName: a}}`, 5, true, 0},
	} {
		if got := builtin(t, test.kind).GracePeriod(parse(t, test.live), test.requested, test.isRequested); got != test.want {
			t.Errorf("%s: GracePeriod() = %d, want %d", test.name, got, test.want)
		}
	}
}
