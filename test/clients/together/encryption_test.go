package together

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestEncryption: with one EncryptionConfiguration, each server reads what the other has encrypted, with every provider.
func TestEncryption(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.yaml")
	key := "{keys: [{name: k1, secret: " + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))) + "}]}"
	config := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n" +
		"- {resources: [secrets], providers: [{aesgcm: " + key + "}, {identity: {}}]}\n" +
		"- {resources: [configmaps], providers: [{secretbox: " + key + "}, {identity: {}}]}\n" +
		"- {resources: [services], providers: [{aescbc: " + key + "}, {identity: {}}]}\n"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, "", encryptionFlag+file)
	for i, s := range p.servers {
		name := []string{"a", "b"}[i]
		for _, object := range []string{
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"` + name + `","namespace":"default"},"data":{"p":"aHVudGVyMg=="}}`,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `","namespace":"default"},"data":{"p":"q"}}`,
			`{"apiVersion":"v1","kind":"Service","metadata":{"name":"` + name + `","namespace":"default"},"spec":{"clusterIP":"None"}}`,
		} {
			o := parse(t, object)
			if _, err := s.of(o).Create(t.Context(), o, metav1.CreateOptions{}); err != nil {
				t.Fatalf("%s: create %s: %v", s.name, o.GetKind(), err)
			}
			p.sameOnBoth(t, o)
		}
	}
}
