package builtin

import (
	"reflect"
	"testing"

	"github.com/cadastre/cadastre/internal/api"
)

func TestEveryKindHasAType(t *testing.T) {
	for _, k := range api.Builtin() {
		for _, version := range k.Versions {
			name := api.TypeName(k.Group, version, k.Name)
			if _, ok := Builtin(name); !ok {
				t.Errorf("Builtin(%s): ok = false, want true; run go generate ./internal/api/...", name)
			}
		}
	}
}

func TestFields(t *testing.T) {
	for _, test := range []struct {
		path            []string
		kind            Kind
		goName          string
		always, pointer bool
	}{
		{[]string{"spec"}, Struct, "v1.DeploymentSpec", true, false},
		{[]string{"spec", "replicas"}, Int32, "int32", false, true},
		{[]string{"spec", "selector"}, Struct, "v1.LabelSelector", true, true},
		{[]string{"spec", "template", "metadata", "creationTimestamp"}, Time, "v1.Time", false, false},
		{[]string{"spec", "template", "spec", "containers"}, List, "[]v1.Container", true, false},
		{[]string{"spec", "template", "spec", "containers", "name"}, String, "string", true, false},
		{[]string{"spec", "template", "spec", "containers", "imagePullPolicy"}, String, "v1.PullPolicy", false, false},
		{[]string{"spec", "template", "spec", "containers", "resources"}, Struct, "v1.ResourceRequirements", true, false},
		{[]string{"spec", "template", "spec", "containers", "resources", "limits"}, Map, "v1.ResourceList", false, false},
		{[]string{"spec", "template", "spec", "containers", "livenessProbe", "httpGet", "port"}, IntOrString, "intstr.IntOrString", true, false},
		{[]string{"spec", "strategy", "rollingUpdate", "maxSurge"}, IntOrString, "intstr.IntOrString", false, true},
		{[]string{"spec", "template", "spec", "volumes", "emptyDir", "sizeLimit"}, Quantity, "resource.Quantity", false, true},
	} {
		root, ok := Builtin("io.k8s.api.apps.v1.Deployment")
		if !ok {
			t.Fatal("io.k8s.api.apps.v1.Deployment: no such type")
		}
		last := len(test.path) - 1
		parent, ok := root.Lookup(test.path[:last]...)
		if !ok {
			t.Errorf("Lookup(%v): got no type, want one", test.path[:last])
			continue
		}
		f, ok := parent.Innermost().Field(test.path[last])
		if !ok {
			t.Errorf("field %v: got none, want one", test.path)
			continue
		}
		got := []any{f.Type.Kind, f.Type.GoName, f.Always, f.Pointer}
		if want := []any{test.kind, test.goName, test.always, test.pointer}; !reflect.DeepEqual(got, want) {
			t.Errorf("field %v: got kind, Go name, always, pointer = %v, want %v", test.path, got, want)
		}
	}
}

func TestInvalidTables(t *testing.T) {
	if _, err := parseTypes("bool\tbool"); err == nil {
		t.Error("parseTypes() without a comment in the first line: error = nil, want an error")
	}
	for _, text := range []string{"", "nothing\tgo", "list\t[]x\t1", "list\t[]x\t-1", "struct\tv1.X\tx\n\tname\t9\t-"} {
		if _, err := parseTypes("# Generated.\n" + text); err == nil {
			t.Errorf("parseTypes(%q): error = nil, want an error", text)
		}
	}
}

func BenchmarkReadTable(b *testing.B) {
	for b.Loop() {
		if _, err := readTable(); err != nil {
			b.Fatal(err)
		}
	}
}
