package api

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

func TestNormalize(t *testing.T) {
	for _, test := range []struct{ name, kind, obj, want string }{
		{"stringData overrides data", "secrets", `{stringData: {a: b, c: ""}, data: {a: eA==, d: eA==}}`, `{data: {a: Yg==, c: "", d: eA==}}`},
		{"stringData only", "secrets", `{stringData: {a: b}}`, `{data: {a: Yg==}}`},
		{"empty stringData", "secrets", `{stringData: {}}`, `{}`},
		{"service account", "deployments.apps", `{spec: {template: {spec: {serviceAccountName: a}}}}`, `{spec: {template: {spec: {serviceAccountName: a, serviceAccount: a}}}}`},
		{"service account by legacy name", "cronjobs.batch", `{spec: {jobTemplate: {spec: {template: {spec: {serviceAccount: a}}}}}}`, `{spec: {jobTemplate: {spec: {template: {spec: {serviceAccountName: a, serviceAccount: a}}}}}}`},
		{"service account by both names", "pods", `{spec: {serviceAccountName: a, serviceAccount: b}}`, `{spec: {serviceAccountName: a, serviceAccount: a}}`},
		{"no template", "replicationcontrollers", `{spec: {}}`, `{spec: {}}`},
		{"negative grace period", "pods", `{spec: {terminationGracePeriodSeconds: -3}}`, `{spec: {terminationGracePeriodSeconds: 1}}`},
		{"podIP only", "pods", `{status: {podIP: "1.1.1.1"}}`, `{status: {podIP: "1.1.1.1", podIPs: [{ip: "1.1.1.1"}]}}`},
		{"podIPs only", "pods", `{status: {podIPs: [{ip: "1.1.1.1"}, {ip: "::1"}]}}`, `{status: {podIP: "1.1.1.1", podIPs: [{ip: "1.1.1.1"}, {ip: "::1"}]}}`},
		{"podIP differs from podIPs", "pods", `{status: {podIP: "2.2.2.2", podIPs: [{ip: "1.1.1.1"}, {ip: "::1"}]}}`, `{status: {podIP: "2.2.2.2", podIPs: [{ip: "2.2.2.2"}]}}`},
		{"podCIDR only", "nodes", `{spec: {podCIDR: 10.0.0.0/24}}`, `{spec: {podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24]}}`},
		{"template generation", "daemonsets.apps", `{spec: {template: {spec: {}}}}`, `{metadata: {annotations: {deprecated.daemonset.template.generation: "0"}}, spec: {template: {spec: {}}}}`},
		{"kind without normalization", "configmaps", `{data: {a: b}}`, `{data: {a: b}}`},
	} {
		k := builtin(t, test.kind)
		got, want := k.Normalize(parse(t, test.obj)), parse(t, test.want)
		if !document.Equal(got, want) {
			t.Errorf("%s: Normalize() = %v, want %v", test.name, got, want)
		}
		if again := k.Normalize(got); !document.Same(again, got) {
			t.Errorf("%s: Normalize() of a normalized object = %v, want no change", test.name, again)
		}
	}
}
