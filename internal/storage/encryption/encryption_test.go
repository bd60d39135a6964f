package encryption

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage/value"
)

var secrets = schema.GroupResource{Resource: "secrets"}

const path = "/registry/secrets/default/s"

// secretOf returns a key of n bytes in base64.
func secretOf(seed string, n int) string {
	return base64.StdEncoding.EncodeToString([]byte(strings.Repeat(seed, n))[:n])
}

// configOf returns a configuration with the resources and providers in YAML flow style.
func configOf(entries ...string) string {
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
	for i := 0; i < len(entries); i += 2 {
		text += fmt.Sprintf("- resources: [%s]\n  providers: [%s]\n", entries[i], entries[i+1])
	}
	return text
}

// keyOf returns a provider with one key.
func keyOf(provider, name, seed string, n int) string {
	return fmt.Sprintf("{%s: {keys: [{name: %s, secret: %q}]}}", provider, name, secretOf(seed, n))
}

func open(t *testing.T, config string) *Encryption {
	t.Helper()
	e, err := openText(t, config)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func openText(t *testing.T, config string) (*Encryption, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(file)
}

// TestProviders: each provider decrypts its own ciphertexts, and nothing of the value is in the stored bytes.
func TestProviders(t *testing.T) {
	for _, test := range []struct {
		provider string
		size     int
	}{{"aescbc", 32}, {"aescbc", 16}, {"aesgcm", 16}, {"aesgcm", 24}, {"aesgcm", 32}, {"secretbox", 32}} {
		e := open(t, configOf("secrets", keyOf(test.provider, "k1", "s", test.size)+", {identity: {}}"))
		for _, plain := range []string{"", "x", "sixteen bytes...", strings.Repeat("hunter2 ", 1000)} {
			stored, err := e.Encrypt(secrets, path, []byte(plain))
			if err != nil {
				t.Fatal(err)
			}
			if prefix := "k8s:enc:" + test.provider + ":v1:k1:"; !strings.HasPrefix(string(stored), prefix) {
				t.Errorf("%s: stored = %.40q, want the prefix %s", test.provider, stored, prefix)
			}
			if len(plain) > 1 && bytes.Contains(stored, []byte(plain[:7])) {
				t.Errorf("%s: the stored bytes contain the value", test.provider)
			}
			got, stale, err := e.Decrypt(secrets, path, stored)
			if string(got) != plain || stale || err != nil {
				t.Errorf("%s: Decrypt = %q, %t, %v, want %q", test.provider, got, stale, err, plain)
			}
			again, err := e.Encrypt(secrets, path, []byte(plain))
			if err != nil || bytes.Equal(again, stored) {
				t.Errorf("%s: two encryptions are equal; error %v", test.provider, err)
			}
		}
		if got, stale, err := e.Decrypt(secrets, path, []byte("{}")); string(got) != "{}" || !stale || err != nil {
			t.Errorf("%s: value that is not encrypted: %q, %t, %v, want it, stale", test.provider, got, stale, err)
		}
	}
}

// TestPathIsAuthenticated: with aesgcm, a value that was moved to another path cannot be decrypted.
func TestPathIsAuthenticated(t *testing.T) {
	e := open(t, configOf("secrets", keyOf("aesgcm", "k1", "s", 32)))
	stored, err := e.Encrypt(secrets, path, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Decrypt(secrets, "/registry/secrets/other/s", stored); err == nil {
		t.Error("Decrypt at another path returned no error")
	}
}

// TestResources: the entry of a resource, of its group and of all resources apply in this order.
func TestResources(t *testing.T) {
	e := open(t, configOf("events", "{identity: {}}", "secrets, pandas.bears.example", keyOf("aesgcm", "own", "a", 32), "'*.apps', '*.'", keyOf("aesgcm", "group", "b", 32), "'*.*'", keyOf("aesgcm", "all", "c", 32)))
	for resource, want := range map[schema.GroupResource]string{
		{Resource: "events"}: "", {Resource: "secrets"}: "own", {Group: "bears.example", Resource: "pandas"}: "own",
		{Group: "apps", Resource: "deployments"}: "group", {Resource: "configmaps"}: "group", {Group: "batch", Resource: "jobs"}: "all",
	} {
		stored, err := e.Encrypt(resource, path, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		prefix := "k8s:enc:aesgcm:v1:" + want + ":"
		if want == "" {
			prefix = "{}"
		}
		if !strings.HasPrefix(string(stored), prefix) {
			t.Errorf("%s: stored = %.30q, want the prefix %s", resource, stored, prefix)
		}
	}
}

// TestRotation: former keys still decrypt, and the values are then stale.
func TestRotation(t *testing.T) {
	old, second := keyOf("aescbc", "k1", "old", 32), keyOf("aescbc", "k2", "new", 32)
	stored, err := open(t, configOf("secrets", old)).Encrypt(secrets, path, []byte("value"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		providers string
		stale     bool
		key       string
	}{
		{second + ", " + old, true, ""},
		{old + ", " + second, false, ""},
		{"{identity: {}}, " + old, true, ""},
		{"{aescbc: {keys: [{name: k2, secret: " + secretOf("new", 32) + "}, {name: k1, secret: " + secretOf("old", 32) + "}]}}", true, ""},
		{second, false, "aescbc:v1:k1"},
		{keyOf("aescbc", "k1", "other", 32), false, "aescbc:v1:k1"},
		{"{identity: {}}", false, "aescbc:v1:k1"},
	} {
		got, stale, err := open(t, configOf("secrets", test.providers)).Decrypt(secrets, path, stored)
		if failure := (*Error)(nil); test.key != "" {
			if !errors.As(err, &failure) || failure.Key != test.key || !strings.Contains(err.Error(), test.key) {
				t.Errorf("%s: error = %v, want one about %s", test.providers, err, test.key)
			}
		} else if string(got) != "value" || stale != test.stale || err != nil {
			t.Errorf("%s: Decrypt = %q, %t, %v, want stale %t", test.providers, got, stale, err, test.stale)
		}
	}
	if _, _, err := open(t, configOf("secrets", old)).Decrypt(secrets, path, []byte("{}")); err == nil || !strings.Contains(err.Error(), "identity") {
		t.Errorf("value that is not encrypted, without identity: error = %v", err)
	}
}

// TestDamagedValues: no bytes after the prefix make Decrypt panic, for instance a value that ends within the cipher's first blocks.
func TestDamagedValues(t *testing.T) {
	for _, provider := range []string{"aescbc", "aesgcm", "secretbox"} {
		e := open(t, configOf("secrets", keyOf(provider, "k1", "s", 32)))
		stored, err := e.Encrypt(secrets, path, []byte(`{"kind":"Secret"}`))
		if err != nil {
			t.Fatal(err)
		}
		for n := range stored {
			if got, _, err := e.Decrypt(secrets, path, stored[:n]); err == nil && provider != "aescbc" {
				t.Errorf("%s: the first %d bytes: %q, want an error", provider, n, got)
			}
		}
	}
	for _, stored := range []string{"k8s:enc:", "k8s:enc:aescbc", "k8s:enc:kms:v2:cloud:x"} {
		if _, _, err := open(t, configOf("secrets", "{identity: {}}")).Decrypt(secrets, path, []byte(stored)); err == nil {
			t.Errorf("%s: no error", stored)
		}
	}
}

// TestInvalidConfigurations: configurations that kube-apiserver rejects, and KMS, are rejected. No error contains a key.
func TestInvalidConfigurations(t *testing.T) {
	good := keyOf("aesgcm", "k1", "s", 32)
	for config, want := range map[string]string{
		"":                          "keys.yaml",
		"{":                         "keys.yaml",
		"apiVersion: v1\nkind: Pod": "no kind \"Pod\"",
		configOf():                  "resources: Required value",
		configOf("secrets", ""):     "resources[0].providers: Required value",
		configOf("secrets", "{kms: {apiVersion: v2, name: cloud, endpoint: unix:///kms.sock}}"): "resources[0].providers[0].kms: expected aescbc, aesgcm, secretbox or identity, received kms, which is not supported",
		configOf("secrets", keyOf("aesgcm", "k1", "short", 5)):                                  "secret is not of the expected length",
		configOf("secrets", keyOf("secretbox", "k1", "s", 16)):                                  "secret is not of the expected length",
		configOf("secrets, '*.'", good):                                                         "overlapping resources",
		configOf("'*.*'", good, "secrets", good):                                                `received "secrets" after "*.*"`,
		configOf("'*.'", good, "secrets", good):                                                 `received "secrets" after "*."`,
		configOf("Secrets", good):                                                               "capital letters",
		configOf("secrets", "{aesgcm: {keys: []}}"):                                             "at least one",
		configOf("secrets", good) + "extra: 1\n":                                                "unknown field",
	} {
		_, err := openText(t, config)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q", config, err, want)
			continue
		}
		if strings.Contains(err.Error(), secretOf("s", 16)) || strings.Contains(err.Error(), secretOf("short", 5)) {
			t.Errorf("%s: the error contains the key: %v", config, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: error = %v", err)
	}
}

// TestKubernetesReadsValues: the transformers of k8s.io/apiserver decrypt values, and Decrypt theirs.
func TestKubernetesReadsValues(t *testing.T) {
	for _, provider := range []string{"aescbc", "aesgcm", "secretbox"} {
		e := open(t, configOf("secrets", keyOf(provider, "k1", "s", 32)))
		k := e.current.Load().keys[secrets][0]
		upstream := value.NewPrefixTransformers(nil, value.PrefixTransformer{Prefix: []byte("k8s:enc:" + provider + ":v1:"),
			Transformer: value.NewPrefixTransformers(nil, value.PrefixTransformer{Prefix: []byte("k1:"), Transformer: k.Transformer})})
		stored, err := e.Encrypt(secrets, path, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := upstream.TransformFromStorage(t.Context(), stored, value.DefaultContext(path)); string(got) != "{}" || err != nil {
			t.Errorf("%s: Kubernetes reads %q, %v", provider, got, err)
		}
		if stored, err = upstream.TransformToStorage(t.Context(), []byte("{}"), value.DefaultContext(path)); err != nil {
			t.Fatal(err)
		}
		if got, _, err := e.Decrypt(secrets, path, stored); string(got) != "{}" || err != nil {
			t.Errorf("%s: Decrypt = %q, %v", provider, got, err)
		}
	}
}

func BenchmarkTransform(b *testing.B) {
	for _, provider := range []string{"aescbc", "aesgcm", "secretbox"} {
		file := filepath.Join(b.TempDir(), "keys.yaml")
		if err := os.WriteFile(file, []byte(configOf("secrets", keyOf(provider, "k1", "s", 32))), 0o600); err != nil {
			b.Fatal(err)
		}
		e, err := Open(file)
		if err != nil {
			b.Fatal(err)
		}
		plain := bytes.Repeat([]byte("x"), 2000)
		stored, err := e.Encrypt(secrets, path, plain)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(provider+"/encrypt", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Encrypt(secrets, path, plain); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(provider+"/decrypt", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := e.Decrypt(secrets, path, stored); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
