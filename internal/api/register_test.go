package api

import (
	"slices"
	"strings"
	"testing"
)

func newRegister(t *testing.T, kinds ...*Kind) *Register {
	t.Helper()
	r, err := NewRegister(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRegister(t *testing.T) {
	r := newRegister(t, Builtin()...)
	for _, test := range []struct {
		group, version, resource string
		want                     string
	}{
		{"apps", "v1", "deployments", "Deployment"},
		{"", "v1", "pods", "Pod"},
		{"autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler"},
		{"autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler"},
		{"autoscaling", "v3", "horizontalpodautoscalers", ""},
		{"apps", "v1", "pods", ""},
		{"core", "v1", "pods", ""},
	} {
		k, ok := r.Resource(test.group, test.version, test.resource)
		if ok != (test.want != "") || ok && k.Name != test.want {
			t.Errorf("Resource(%q, %q, %q) = %v, want %s", test.group, test.version, test.resource, k, test.want)
		}
		if !ok {
			continue
		}
		if named, ok := r.Kind(test.group, test.version, test.want); named != k || !ok {
			t.Errorf("Kind(%q, %q, %q) = %v, want %v", test.group, test.version, test.want, named, k)
		}
	}
}

func TestRegisterChanges(t *testing.T) {
	things := &Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v1"}}
	r := newRegister(t, things)
	before := r.All()
	newer := &Kind{Group: "example.org", Name: "Thing", Resource: "things", Versions: []string{"v2"}}
	if err := r.Add(newer); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Resource("example.org", "v1", "things"); ok {
		t.Error("Resource() at version v1, which the replacement kind does not serve: got true, want false")
	}
	if k, ok := r.Resource("example.org", "v2", "things"); k != newer || !ok {
		t.Errorf("Resource() = %v, want the added kind", k)
	}
	if !slices.Equal(before, []*Kind{things}) {
		t.Errorf("slice returned by All() before Add(): got %v after Add(), want it unchanged", before)
	}
	taken := &Kind{Group: "example.org", Name: "Thing", Resource: "thingies", Versions: []string{"v1"}}
	if err := r.Add(taken); err == nil || !strings.Contains(err.Error(), "already used by things.example.org") {
		t.Errorf("Add() of a second resource with the kind Thing: error = %v, want \"already used by things.example.org\"", err)
	}
	if err := r.Add(&Kind{Group: "example.org", Name: "Other", Resource: "others"}); err == nil {
		t.Error("Add() of a kind without versions: error = nil, want an error")
	}
	r.Remove("example.org", "things")
	if len(r.All()) != 0 {
		t.Errorf("All() after Remove = %v, want none", r.All())
	}
}
