package app

import (
	"bytes"
	"crypto/aes"
	"encoding/base64"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apiserver/pkg/storage/value"
	aestransformer "k8s.io/apiserver/pkg/storage/value/encrypt/aes"

	"github.com/cadastre/cadastre/internal/storage/etcd/etcdtest"
)

// TestEncryptionInEtcd: values in etcd have kube-apiserver's format, with the path in etcd as authenticated data; a no-op
// rotates the key; a missing key is reported.
func TestEncryptionInEtcd(t *testing.T) {
	cluster := etcdtest.Start(t)
	raw, err := clientv3.New(clientv3.Config{Endpoints: []string{cluster.Endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	const path = "/registry/secrets/default/s"
	stored := func() []byte {
		t.Helper()
		response, err := raw.Get(t.Context(), path)
		if err != nil || len(response.Kvs) != 1 {
			t.Fatalf("%s: %v, %v", path, response, err)
		}
		return response.Kvs[0].Value
	}
	encoded := base64.StdEncoding.EncodeToString([]byte("hunter2hunter2"))
	config := configFor(cluster)
	config.EncryptionConfigFile = keysFile(t, "secrets", "aesgcm/first", "identity/")
	var object string
	serving(t, config, func(c *client) {
		object = c.call("POST", allSecrets, `{"metadata":{"name":"s"},"stringData":{"p":"hunter2hunter2"}}`).want(201).text
		rest, ok := bytes.CutPrefix(stored(), []byte("k8s:enc:aesgcm:v1:first:"))
		if !ok {
			t.Fatalf("stored value = %.40q", stored())
		}
		block, err := aes.NewCipher(bytes.Repeat([]byte("first"), 32)[:32])
		if err != nil {
			t.Fatal(err)
		}
		upstream, err := aestransformer.NewGCMTransformer(block)
		if err != nil {
			t.Fatal(err)
		}
		plain, _, err := upstream.TransformFromStorage(t.Context(), rest, value.DefaultContext(path))
		if err != nil || !bytes.Contains(plain, []byte(encoded)) {
			t.Errorf("kube-apiserver's cipher returns %q, %v", plain, err)
		}
	})
	config.EncryptionConfigFile = keysFile(t, "secrets", "aescbc/second", "aesgcm/first")
	serving(t, config, func(c *client) {
		c.call("PUT", allSecrets+"/s", object).want(200, encoded)
		if !bytes.HasPrefix(stored(), []byte("k8s:enc:aescbc:v1:second:")) {
			t.Errorf("stored value after a no-op = %.40q, want the second key", stored())
		}
	})
	config.EncryptionConfigFile = ""
	serving(t, config, func(c *client) { c.call("GET", allSecrets+"/s", "").want(500, "aescbc:v1:second") })
}
