package protobuf

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/encoding/encodingtest"
)

// FuzzDecode decodes arbitrary request bodies: the result is an error or valid JSON.
func FuzzDecode(f *testing.F) {
	folder, err := encodingtest.Dir()
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"core.v1.ConfigMap", "core.v1.Service", "core.v1.Event", "apps.v1.ControllerRevision", "rbac.authorization.k8s.io.v1.Role", "policy.v1.PodDisruptionBudget"} {
		body, err := os.ReadFile(filepath.Join(folder, "HEAD", name+".pb"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Add([]byte("k8s\x00"))
	f.Add([]byte("k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, body []byte) {
		text, err := Decode(body, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
		if err == nil && !json.Valid(text) {
			t.Errorf("Decode(%q) = %s, want JSON", body, text)
		}
	})
}
