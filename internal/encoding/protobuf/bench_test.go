package protobuf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/scheme"
	"github.com/cadastre/cadastre/internal/encoding/encodingtest"
)

// BenchmarkDeployment measures the encoding of the Deployment fixture of k8s.io/api, in which every field is set. Kubernetes'
// marshaller starts from Go values; this package starts from a document.
func BenchmarkDeployment(b *testing.B) {
	dir, err := encodingtest.Dir()
	if err != nil {
		b.Fatal(err)
	}
	asJSON, err := os.ReadFile(filepath.Join(dir, "HEAD", "apps.v1.Deployment.json"))
	if err != nil {
		b.Fatal(err)
	}
	v, err := document.ParseJSON(asJSON)
	if err != nil {
		b.Fatal(err)
	}
	typ, _ := scheme.GoType("apps/v1", "Deployment")
	m, err := MessageOf(typ)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("protobuf", func(b *testing.B) {
		for b.Loop() {
			NewObject(m, v)
		}
	})
	b.Run("json", func(b *testing.B) {
		var text []byte
		for b.Loop() {
			text = v.AppendJSON(text[:0])
		}
	})
	b.Run("parse", func(b *testing.B) {
		text := v.JSON()
		for b.Loop() {
			_, _ = document.ParseJSON(text)
		}
	})
	var object appsv1.Deployment
	if err := json.Unmarshal(asJSON, &object); err != nil {
		b.Fatal(err)
	}
	b.Run("Kubernetes", func(b *testing.B) {
		for b.Loop() {
			_, _ = object.Marshal()
		}
	})
}
