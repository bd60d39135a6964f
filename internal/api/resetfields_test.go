package api

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/cadastre/cadastre/document"
)

// builtin returns the built-in kind with the given resource and group, such as deployments.apps. It fails the test if there
// is none.
func builtin(t testing.TB, name string) *Kind {
	t.Helper()
	for _, k := range Builtin() {
		if k.String() == name {
			return k
		}
	}
	t.Fatalf("built-in kind %s: got none, want one", name)
	return nil
}

func parse(t testing.TB, text string) document.Value {
	t.Helper()
	if text == "" {
		return document.Value{}
	}
	doc, err := document.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestResetFieldSets(t *testing.T) {
	for _, test := range []struct{ kind, endpoint, version, want string }{
		{"deployments.apps", "", "apps/v1", `{"f:status":{}}`},
		{"deployments.apps", "status", "apps/v1", `{"f:metadata":{"f:labels":{}},"f:spec":{}}`},
		{"statefulsets.apps", "status", "apps/v1", `{"f:spec":{}}`},
		{"horizontalpodautoscalers.autoscaling", "", "autoscaling/v1", `{"f:status":{}}`},
		{"horizontalpodautoscalers.autoscaling", "", "autoscaling/v2", `{"f:status":{}}`},
		{"namespaces", "", "v1", `{"f:status":{}}`},
		{"namespaces", "status", "v1", `{"f:spec":{}}`},
		{"nodes", "", "v1", `{"f:status":{}}`},
		{"pods", "status", "v1", `{"f:metadata":{"f:deletionTimestamp":{},"f:ownerReferences":{}},"f:spec":{}}`},
		{"certificatesigningrequests.certificates.k8s.io", "", "certificates.k8s.io/v1", `{"f:spec":{},"f:status":{}}`},
		{"certificatesigningrequests.certificates.k8s.io", "status", "certificates.k8s.io/v1", `{"f:spec":{},"f:status":{"f:conditions":{}}}`},
		{"certificatesigningrequests.certificates.k8s.io", "approval", "certificates.k8s.io/v1", `{"f:spec":{},"f:status":{"f:certificate":{}}}`},
		{"flowschemas.flowcontrol.apiserver.k8s.io", "status", "flowcontrol.apiserver.k8s.io/v1", `{"f:metadata":{},"f:spec":{}}`},
		{"volumeattachments.storage.k8s.io", "status", "storage.k8s.io/v1", `{"f:metadata":{},"f:spec":{}}`},
		{"configmaps", "", "v1", `{}`},
		{"deployments.apps", "scale", "apps/v1", `{}`},
	} {
		if got := builtin(t, test.kind).ResetFieldSets(test.endpoint)[test.version].FieldsV1(); got != test.want {
			t.Errorf("%s: ResetFieldSets(%q) at %s = %s, want %s", test.kind, test.endpoint, test.version, got, test.want)
		}
	}
}

func TestRestoreResetFields(t *testing.T) {
	for _, test := range []struct{ name, kind, endpoint, obj, live, want string }{
		{"create drops status", "deployments.apps", "", `{spec: {replicas: 1}, status: {replicas: 9}}`, "", `{spec: {replicas: 1}, status: {}}`},
		{"create sets empty status", "replicasets.apps", "", `{spec: {}}`, "", `{spec: {}, status: {replicas: 0}}`},
		{"update restores status", "deployments.apps", "", `{spec: {replicas: 2}, status: {replicas: 9}}`, `{spec: {replicas: 1}, status: {replicas: 1}}`, `{spec: {replicas: 2}, status: {replicas: 1}}`},
		{"update restores removed status", "deployments.apps", "", `{spec: {replicas: 2}}`, `{spec: {replicas: 1}, status: {replicas: 1}}`, `{spec: {replicas: 2}, status: {replicas: 1}}`},
		{"update drops added status", "deployments.apps", "", `{spec: {}, status: {replicas: 1}}`, `{spec: {}}`, `{spec: {}}`},
		{"status endpoint restores spec", "deployments.apps", "status", `{metadata: {labels: {a: b}, annotations: {c: d}}, spec: {replicas: 2}, status: {replicas: 9}}`, `{metadata: {}, spec: {replicas: 1}, status: {}}`, `{metadata: {annotations: {c: d}}, spec: {replicas: 1}, status: {replicas: 9}}`},
		{"create node keeps status", "nodes", "", `{status: {phase: Running}}`, "", `{status: {phase: Running}}`},
		{"update node restores status", "nodes", "", `{status: {phase: Running}}`, `{status: {phase: Pending}}`, `{status: {phase: Pending}}`},
		{"create namespace sets phase", "namespaces", "", `{spec: {finalizers: [a]}, status: {phase: Terminating}}`, "", `{spec: {finalizers: [a]}, status: {phase: Active}}`},
		{"update namespace restores finalizers", "namespaces", "", `{spec: {}}`, `{spec: {finalizers: [kubernetes]}, status: {phase: Active}}`, `{spec: {finalizers: [kubernetes]}, status: {phase: Active}}`},
		{"status endpoint restores metadata", "flowschemas.flowcontrol.apiserver.k8s.io", "status", `{metadata: {name: a, labels: {a: b}}, status: {conditions: []}}`, `{metadata: {name: a}, spec: {x: 1}}`, `{metadata: {name: a}, spec: {x: 1}, status: {conditions: []}}`},
		{"status endpoint restores labels", "resourceclaims.resource.k8s.io", "status", `{metadata: {name: a, labels: {a: b}, finalizers: [x]}, status: {}}`, `{metadata: {name: a, labels: {c: d}}, spec: {x: 1}}`, `{metadata: {name: a, labels: {c: d}}, spec: {x: 1}, status: {}}`},
		{"approval endpoint restores certificate", "certificatesigningrequests.certificates.k8s.io", "approval", `{spec: {}, status: {certificate: a, conditions: [{type: Approved}]}}`, `{spec: {request: a}, status: {}}`, `{spec: {request: a}, status: {conditions: [{type: Approved}]}}`},
		{"no reset fields", "configmaps", "", `{data: {a: b}}`, "", `{data: {a: b}}`},
	} {
		got := builtin(t, test.kind).restoreResetFields(test.endpoint, "v1", parse(t, test.obj), parse(t, test.live))
		if want := parse(t, test.want); !document.Equal(got, want) {
			t.Errorf("%s: restoreResetFields() = %s, want %s", test.name, got, want)
		}
	}
}

// TestCreatedStatus checks that the status of a created object equals the JSON encoding of an empty status struct of
// k8s.io/api, except for status.phase of the kinds whose strategies set it.
func TestCreatedStatus(t *testing.T) {
	phased := map[string]bool{"namespaces": true, "persistentvolumes": true, "persistentvolumeclaims": true, "pods": true}
	for _, k := range Builtin() {
		if !k.HasSubresource(k.Versions[0], StatusSubresource) || k.Resource == "nodes" {
			continue
		}
		obj, err := scheme.Scheme.New(schema.GroupVersionKind{Group: k.Group, Version: k.Versions[0], Kind: k.Name})
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		want, got := parse(t, string(text)).Get("status"), k.restoreResetFields("", "v1", document.NewMap(), document.Value{}).Get("status")
		if phased[k.String()] {
			got = got.Without("phase")
		}
		if !document.Equal(got, want) {
			t.Errorf("%v: status on create = %v, want %v", k, got, want)
		}
	}
}
