package api

import (
	"reflect"
	"testing"
)

func TestStoredField(t *testing.T) {
	for _, test := range []struct{ kind, name, want, err string }{
		{"pods", "metadata.name", "metadata.name", ""},
		{"pods", "metadata.namespace", "metadata.namespace", ""},
		{"pods", "spec.nodeName", "spec.nodeName", ""},
		{"pods", "spec.host", "spec.nodeName", ""},
		{"pods", "spec.foo", "", "field label not supported: spec.foo"},
		{"deployments.apps", "metadata.namespace", "metadata.namespace", ""},
		{"deployments.apps", "spec.replicas", "", `"spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		{"replicasets.apps", "status.replicas", "", `"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		{"persistentvolumes", "metadata.namespace", "metadata.namespace", ""},
		{"nodes", "metadata.namespace", "", "field label not supported: metadata.namespace"},
		{"nodes", "spec.unschedulable", "spec.unschedulable", ""},
		{"jobs.batch", "status.successful", "status.successful", ""},
		{"jobs.batch", "status.failed", "", `field label "status.failed" not supported for Job`},
		{"resourceslices.resource.k8s.io", "x", "", `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: x`},
		{"events", "involvedObject.name", "involvedObject.name", ""},
		{"events", "regarding.name", "", "field label not supported: regarding.name"},
		{"events.events.k8s.io", "regarding.name", "involvedObject.name", ""},
		{"events.events.k8s.io", "involvedObject.name", "", "field label not supported: involvedObject.name"},
		{"events.events.k8s.io", "metadata.namespace", "metadata.namespace", ""},
	} {
		got, err := builtin(t, test.kind).StoredField(test.name)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("%s: StoredField(%s) = %q, %v, want %q, %s", test.kind, test.name, got, err, test.want, test.err)
		}
	}
}

func TestSelectableFields(t *testing.T) {
	has := func(kind string, want Field) {
		t.Helper()
		for _, f := range builtin(t, kind).Fields {
			if f.Name == want.Name {
				if !reflect.DeepEqual(f, want) {
					t.Errorf("selectable field %s of %s: got %+v, want %+v", want.Name, kind, f, want)
				}
				return
			}
		}
		t.Errorf("selectable fields of %s: got no field %s, want %+v", kind, want.Name, want)
	}
	has("pods", Field{Name: "spec.hostNetwork", Path: []string{"spec", "hostNetwork"}, Absent: "false"})
	has("pods", Field{Name: "status.podIPs", Path: []string{"-"}})
	has("jobs.batch", Field{Name: "status.successful", Path: []string{"status", "succeeded"}, Absent: "0"})
	has("events", Field{Name: "source", Path: []string{"source", "component"}, Fallback: []string{"reportingComponent"}})
	events := builtin(t, "events")
	for alias, name := range builtin(t, "events.events.k8s.io").FieldAliases {
		if got, err := events.StoredField(name); err != nil {
			t.Errorf("StoredField(%s) for core events, of which %s is an alias in events.k8s.io: got %q, %v, want a selectable field", name, alias, got, err)
		}
	}
}
