package cbor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/encoding/encodingtest"
)

// BenchmarkDeployment measures the encoding of the Deployment fixture of k8s.io/api, in which every field is set.
func BenchmarkDeployment(b *testing.B) {
	dir, err := encodingtest.Dir()
	if err != nil {
		b.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "HEAD", "apps.v1.Deployment.json"))
	if err != nil {
		b.Fatal(err)
	}
	v, err := document.ParseJSON(text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Encode(v)
	}
}
