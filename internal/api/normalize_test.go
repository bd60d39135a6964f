package api

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

func TestNormalize(t *testing.T) {
	for _, test := range []struct{ name, kind, obj, want string }{
		{"a secret", "secrets", `{stringData: {a: b, c: ""}, data: {a: eA==, d: eA==}}`, `{data: {a: Yg==, c: "", d: eA==}}`},
		{"nothing but plain text", "secrets", `{stringData: {a: b}}`, `{data: {a: Yg==}}`},
		{"no plain text", "secrets", `{stringData: {}}`, `{}`},
		{"an account", "deployments.apps", `{spec: {template: {spec: {serviceAccountName: a}}}}`, `{spec: {template: {spec: {serviceAccountName: a, serviceAccount: a}}}}`},
		{"by its older name", "cronjobs.batch", `{spec: {jobTemplate: {spec: {template: {spec: {serviceAccount: a}}}}}}`, `{spec: {jobTemplate: {spec: {template: {spec: {serviceAccountName: a, serviceAccount: a}}}}}}`},
		{"by both", "pods", `{spec: {serviceAccountName: a, serviceAccount: b}}`, `{spec: {serviceAccountName: a, serviceAccount: a}}`},
		{"no template", "replicationcontrollers", `{spec: {}}`, `{spec: {}}`},
		{"less than no time", "pods", `{spec: {terminationGracePeriodSeconds: -3}}`, `{spec: {terminationGracePeriodSeconds: 1}}`},
		{"one address", "pods", `{status: {podIP: "1.1.1.1"}}`, `{status: {podIP: "1.1.1.1", podIPs: [{ip: "1.1.1.1"}]}}`},
		{"many addresses", "pods", `{status: {podIPs: [{ip: "1.1.1.1"}, {ip: "::1"}]}}`, `{status: {podIP: "1.1.1.1", podIPs: [{ip: "1.1.1.1"}, {ip: "::1"}]}}`},
		{"another address", "pods", `{status: {podIP: "2.2.2.2", podIPs: [{ip: "1.1.1.1"}, {ip: "::1"}]}}`, `{status: {podIP: "2.2.2.2", podIPs: [{ip: "2.2.2.2"}]}}`},
		{"a range", "nodes", `{spec: {podCIDR: 10.0.0.0/24}}`, `{spec: {podCIDR: 10.0.0.0/24, podCIDRs: [10.0.0.0/24]}}`},
		{"a daemon set", "daemonsets.apps", `{spec: {template: {spec: {}}}}`, `{metadata: {annotations: {deprecated.daemonset.template.generation: "0"}}, spec: {template: {spec: {}}}}`},
		{"nothing", "configmaps", `{data: {a: b}}`, `{data: {a: b}}`},
	} {
		k := builtin(t, test.kind)
		got, want := k.Normalize(parse(t, test.obj)), parse(t, test.want)
		if !document.Equal(got, want) {
			t.Errorf("%s: %v, want %v", test.name, got, want)
		}
		if again := k.Normalize(got); !document.Same(again, got) {
			t.Errorf("%s: again: %v", test.name, again)
		}
	}
}
