package api

import (
	"errors"
	"os"
	"strings"
	"testing"

	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// TestConvert compares the conversions of built-in kinds with recorded results of Kubernetes' conversions.
func TestConvert(t *testing.T) {
	text, err := os.ReadFile("testdata/conversions.txt")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]*Kind{
		"HorizontalPodAutoscaler": builtin(t, "horizontalpodautoscalers.autoscaling"),
		"Event":                   builtin(t, "events"),
	}
	var to string
	var in document.Value
	compared := 0
	for line := range strings.Lines(string(text)) {
		first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch first {
		case "#":
		case "=":
			compared++
			got, err := kinds[in.Get("kind").Text()].Convert(in, in.Get("apiVersion").Text(), to)
			if want := parse(t, rest); err != nil || got.JSON() != want.JSON() {
				t.Errorf("Convert(%v, %s) = %v, %v, want\n%v", in, to, got, err, want)
			}
		default:
			to, in = first, parse(t, rest)
		}
	}
	if compared < 10 {
		t.Errorf("%d conversions compared, want at least 10", compared)
	}
}

func TestVersions(t *testing.T) {
	for _, test := range []struct {
		kind, version string
		want          bool
	}{
		{"deployments.apps", "apps/v1", true},
		{"deployments.apps", "apps/v1beta1", false},
		{"deployments.apps", "v1", false},
		{"pods", "v1", true},
		{"horizontalpodautoscalers.autoscaling", "autoscaling/v1", true},
		{"horizontalpodautoscalers.autoscaling", "autoscaling/v2", true},
		{"events", "v1", true},
		{"events", "events.k8s.io/v1", true},
		{"events.events.k8s.io", "v1", true},
	} {
		if got, ok := builtin(t, test.kind).EngineVersions().Type(test.version); ok != test.want || ok && got == nil {
			t.Errorf("%s: Type(%s) = %v, %v, want %v", test.kind, test.version, got, ok, test.want)
		}
	}
	if _, err := builtin(t, "pods").EngineVersions().Convert(document.NewMap(), "v1", "v2"); !errors.Is(err, apply.ErrVersionGone) {
		t.Errorf("Convert() of a pod to v2: error = %v, want %v", err, apply.ErrVersionGone)
	}
}

func TestStoredVersion(t *testing.T) {
	for name, want := range map[string][2]string{
		"events":                               {"core/events", "v1"},
		"events.events.k8s.io":                 {"core/events", "v1"},
		"horizontalpodautoscalers.autoscaling": {"autoscaling/horizontalpodautoscalers", "autoscaling/v2"},
	} {
		if k := builtin(t, name); k.StoreName() != want[0] || k.StoredVersion() != want[1] {
			t.Errorf("%s: store name %s, stored version %s, want %v", name, k.StoreName(), k.StoredVersion(), want)
		}
	}
}

func TestEngine(t *testing.T) {
	k := builtin(t, "deployments.apps")
	main, err := k.Engine("", EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	status, err := k.Engine("status", EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		engine *apply.Engine
		want   string
	}{{main, `{"f:spec":{"f:paused":{}}}`}, {status, `{"f:status":{"f:replicas":{}}}`}} {
		config := parse(t, `{apiVersion: apps/v1, kind: Deployment, spec: {paused: true}, status: {replicas: 1}}`)
		r, err := test.engine.Apply(apply.Object{}, config, apply.Request{Manager: "ci", Version: "apps/v1"})
		if err != nil || len(r.Object.Entries) != 1 || r.Object.Entries[0].FieldsV1 != test.want {
			t.Errorf("Apply(): got entries %v and error %v, want one entry with fields %s", r.Object.Entries, err, test.want)
		}
	}
	if builtin(t, "pods").HasSubresource("v1", "scale") || !k.HasSubresource("v1", "scale") {
		t.Error("HasSubresource(\"v1\", \"scale\"): want true for Deployments and false for Pods")
	}
	if _, err := BodyEngine(runtimeschema.GroupVersionKind{Version: "v1", Kind: "Nothing"}, EngineOptions{}); err == nil {
		t.Error("BodyEngine() of an unknown type: error = nil, want an error")
	}
}

// TestEngineOptionsAreIndependent checks that apply engines of a kind do not share options.
func TestEngineOptionsAreIndependent(t *testing.T) {
	k := builtin(t, "horizontalpodautoscalers.autoscaling")
	config := parse(t, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {annotations: {default: {k8s_io__value: unset}}}}`)
	for _, name := range []string{"a", "b"} {
		engine, err := k.Engine("", EngineOptions{Unset: true, Default: func(doc document.Value) document.Value {
			return put(doc, document.NewString(name), "metadata", "annotations", "default")
		}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := engine.Apply(apply.Object{}, config, apply.Request{Manager: "ci", Version: "autoscaling/v2"})
		if got := r.Object.Document.Lookup("metadata", "annotations", "default").Text(); err != nil || got != name {
			t.Errorf("default annotation = %q, %v, want %q", got, err, name)
		}
	}
}
