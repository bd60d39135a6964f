package builtin

import (
	"testing"

	"github.com/cadastre/cadastre/document"
)

const webDeployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default","labels":{"app":"web"}},
"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[
{"name":"web","image":"nginx:1.25","env":[{"name":"MODE","value":"fast"},{"name":"POD","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],
"ports":[{"containerPort":80,"name":"http"},{"containerPort":443,"name":"https"}],
"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},
"livenessProbe":{"httpGet":{"path":"/healthz","port":"http"}},"volumeMounts":[{"name":"data","mountPath":"/data"}]},
{"name":"log","image":"registry.example/log:v2","args":["--follow"],"resources":{"limits":{"memory":"64Mi"}}}],
"volumes":[{"name":"data","configMap":{"name":"data"}}]}}}}`

func deployment(b testing.TB) (*Type, document.Value) {
	t, ok := Builtin("io.k8s.api.apps.v1.Deployment")
	if !ok {
		b.Fatal("io.k8s.api.apps.v1.Deployment: no such type")
	}
	doc, err := document.ParseJSON([]byte(webDeployment))
	if err != nil {
		b.Fatal(err)
	}
	return t, doc
}

// complete returns the type and document of a Deployment in which all defaults are set.
func complete(b testing.TB) (*Type, document.Value) {
	t, doc := deployment(b)
	doc, err := document.ParseJSON([]byte(t.Default(doc).JSON()))
	if err != nil {
		b.Fatal(err)
	}
	return t, doc
}

func BenchmarkDecode(b *testing.B) {
	t, doc := complete(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := t.Decode(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDefault(b *testing.B) {
	t, doc := complete(b)
	b.ReportAllocs()
	for b.Loop() {
		t.Default(doc)
	}
}

func BenchmarkDefaultAll(b *testing.B) {
	t, doc := deployment(b)
	b.ReportAllocs()
	for b.Loop() {
		t.Default(doc)
	}
}

// BenchmarkWarnings measures the time to compute the warnings of an object that has none.
func BenchmarkWarnings(b *testing.B) {
	t, doc := complete(b)
	b.ReportAllocs()
	for b.Loop() {
		if found := t.Warnings(doc, document.Value{}); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
