package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/backup"
	"github.com/cadastre/cadastre/internal/storage/encryption"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/internal/watchcache"
)

const allSecrets = "/api/v1/namespaces/default/secrets"

// keysFile writes an EncryptionConfiguration with one entry and returns its name. keys are PROVIDER/NAME; the names determine the
// secrets of the keys.
func keysFile(t *testing.T, resources string, keys ...string) string {
	t.Helper()
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- resources: [" + resources + "]\n  providers:\n"
	for _, key := range keys {
		provider, name, _ := strings.Cut(key, "/")
		if provider == "identity" {
			text += "  - identity: {}\n"
			continue
		}
		secret := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(name), 32)[:32])
		text += fmt.Sprintf("  - %s: {keys: [{name: %s, secret: %s}]}\n", provider, name, secret)
	}
	file := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// serving starts a server on a data directory, calls do and stops the server.
func serving(t *testing.T, config Config, do func(*client)) {
	t.Helper()
	config.Address, config.Log = "127.0.0.1:0", slog.New(slog.DiscardHandler)
	s, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	}()
	do(clientOf(t, s))
}

// filesWith returns the names of the files in a folder that contain any of the texts. The contents of backups are uncompressed.
func filesWith(t *testing.T, folder string, texts ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".backup") {
			r, err := gzip.NewReader(bytes.NewReader(content))
			if err != nil {
				return err
			}
			if content, err = io.ReadAll(r); err != nil {
				return err
			}
		}
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				found = append(found, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEncryptionAtRest: no file of the data directory and no backup contains a value of a Secret, after all kinds of writes, a
// compaction and a stop. The values of a ConfigMap, which is not encrypted, are found.
func TestEncryptionAtRest(t *testing.T) {
	folder, backups := t.TempDir(), t.TempDir()
	const value, other, open = "hunter2Zq8vX1mK7pW", "hunter3Lr5tB9nC2dY", "hunter4Gs6jF3hT8uE"
	config := Config{
		Folder: folder, Backups: backup.Schedule{Folder: backups, Interval: time.Hour, Keep: 9},
		EncryptionConfigFile: keysFile(t, "secrets", "aescbc/first", "identity/"),
	}
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	serving(t, config, func(c *client) {
		c.retryUntil(`cadastre_backups_total{result="written"} 1`, "GET", "/metrics", "")
		c.call("POST", configMaps, `{"metadata":{"name":"open"},"data":{"a":"`+open+`"}}`).want(201)
		c.call("POST", allSecrets, `{"metadata":{"name":"s"},"stringData":{"p":"`+value+`"}}`).want(201)
		c.call("PATCH", allSecrets+"/s", `{"stringData":{"p":"`+other+`"}}`, "Content-Type: "+mergeType).want(200)
		c.apply(allSecrets+"/applied", "m", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"applied"},"stringData":{"p":"`+value+`"}}`).want(201)
		c.call("POST", allSecrets, `{"metadata":{"name":"gone"},"stringData":{"p":"`+value+`"}}`).want(201)
		c.call("DELETE", allSecrets+"/gone", "").want(200)
		copied := c.call("GET", "/storage/backup", "").want(200)
		if err := os.WriteFile(filepath.Join(backups, "copy.backup"), []byte(copied.text), 0o600); err != nil {
			t.Fatal(err)
		}
		now, err := c.server.store.Revision(t.Context())
		if err == nil {
			err = c.server.store.Compact(t.Context(), now)
		}
		if err != nil {
			t.Fatal(err)
		}
		c.call("GET", allSecrets+"/s", "").want(200, encoded(other))
		c.call("GET", allSecrets, "").want(200, encoded(other), encoded(value))
	})
	hidden := []string{value, other, encoded(value), encoded(other)}
	for _, dir := range []string{folder, backups} {
		if found := filesWith(t, dir, hidden...); len(found) > 0 {
			t.Errorf("values of Secrets are in %v", found)
		}
		if len(filesWith(t, dir, open)) == 0 {
			t.Errorf("the value of the ConfigMap is in no file of %s", dir)
		}
	}
	serving(t, config, func(c *client) { c.call("GET", allSecrets+"/s", "").want(200, encoded(other)) })

	// The backup can be restored, and checked with and without the keys.
	restored := filepath.Join(t.TempDir(), "store")
	verified, err := backup.ReadFile(filepath.Join(backups, "copy.backup"), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = pebble.Restore(pebble.Options{Folder: restored}, verified.Revision+1000, func(add func(storage.Item) error) error {
		_, err := backup.ReadFile(filepath.Join(backups, "copy.backup"), add)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	config.Folder, config.Backups = filepath.Dir(restored), backup.Schedule{}
	serving(t, config, func(c *client) { c.call("GET", allSecrets+"/s", "").want(200, encoded(other)) })
	for file, want := range map[string][2]int{"": {2, 0}, config.EncryptionConfigFile: {0, 0}, keysFile(t, "secrets", "aescbc/wrong"): {0, 2}} {
		values, err := encryption.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		skipped := 0
		report, err := pebble.Check(pebble.Options{Folder: restored}, values.Check(watchcache.CheckItem, &skipped))
		if err != nil || len(report.Problems) != want[1] || skipped != want[0] {
			t.Errorf("check with the keys of %q: %d skipped, problems %v, error %v, want %v", file, skipped, report.Problems, err, want)
		}
	}
}

// TestMissingEncryptionKey: a server whose configuration lacks the key of some objects starts, reports which key is missing, serves all
// other objects, and neither loses nor replaces the encrypted ones. They are readable again when the key is back.
func TestMissingEncryptionKey(t *testing.T) {
	folder := t.TempDir()
	const everything = "'*.*'"
	serving(t, Config{Folder: folder, EncryptionConfigFile: keysFile(t, "secrets", "aesgcm/first", "identity/")}, func(c *client) {
		c.call("POST", allSecrets, `{"metadata":{"name":"s"},"stringData":{"p":"x"}}`).want(201)
		c.call("POST", configMaps, configMap("open")).want(201)
	})
	for _, file := range []string{"", keysFile(t, "secrets", "aesgcm/second", "identity/"), keysFile(t, "secrets", "secretbox/first", "identity/")} {
		serving(t, Config{Folder: folder, EncryptionConfigFile: file}, func(c *client) {
			const reason = "core/secrets/default/s: the value is encrypted with the key aesgcm:v1:first, which the encryption configuration of its resource lacks"
			c.call("GET", allSecrets+"/s", "").want(500, "InternalError", reason)
			c.call("GET", allSecrets, "").want(500, reason)
			c.call("PUT", allSecrets+"/s", `{"metadata":{"name":"s"},"stringData":{"p":"y"}}`).want(500, reason)
			c.call("DELETE", allSecrets+"/s", "").want(500, reason)
			c.call("POST", allSecrets, `{"metadata":{"name":"s"},"stringData":{"p":"y"}}`).want(500, reason)
			c.call("GET", configMaps+"/open", "").want(200)
			c.call("POST", allNamespaces+"/kube-system/secrets", `{"metadata":{"generateName":"s"},"stringData":{"p":"y"}}`).want(201)
		})
	}
	all := keysFile(t, "secrets", "aesgcm/second", "secretbox/first", "aesgcm/first", "identity/")
	serving(t, Config{Folder: folder, EncryptionConfigFile: all}, func(c *client) {
		c.call("GET", allSecrets+"/s", "").want(200, `"eA=="`)
		if n := strings.Count(c.call("GET", "/api/v1/secrets", "").want(200).text, `"uid"`); n != 4 {
			t.Errorf("number of Secrets = %d, want 4", n)
		}
	})

	// Even without the keys of all objects, among them roles and namespaces, the server starts and its administrator gets in.
	folder = t.TempDir()
	file := keysFile(t, everything, "aesgcm/first")
	serving(t, Config{Folder: folder, EncryptionConfigFile: file}, func(c *client) { c.call("POST", configMaps, configMap("kept")).want(201) })
	serving(t, Config{Folder: folder, EncryptionConfigFile: keysFile(t, everything, "aesgcm/second")}, func(c *client) {
		c.call("GET", configMaps+"/kept", "").want(500, "aesgcm:v1:first")
	})
	serving(t, Config{Folder: folder, EncryptionConfigFile: file}, func(c *client) {
		c.call("GET", configMaps+"/kept", "").want(200)
		c.call("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view", "").want(200)
	})
}

// TestEncryptionKeyRotation: after a reload with a new key first, a write that changes nothing encrypts the object again, as in
// Kubernetes; a second one writes nothing.
func TestEncryptionKeyRotation(t *testing.T) {
	file := keysFile(t, "secrets", "aesgcm/first", "identity/")
	config := Config{Folder: t.TempDir(), EncryptionConfigFile: file, ReloadEncryptionConfig: true, reloadInterval: 10 * time.Millisecond}
	serving(t, config, func(c *client) {
		key := "core/secrets/default/s"
		stored := func() string {
			item, err := c.server.stored.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			return string(item.Value)
		}
		object := c.call("POST", allSecrets, `{"metadata":{"name":"s"},"stringData":{"p":"x"}}`).want(201).text
		c.call("PUT", allSecrets+"/s", object).want(200)
		if got := c.call("GET", allSecrets+"/s", "").want(200).text; got != object {
			t.Errorf("a no-op changed the object to %s", got)
		}
		second, err := os.ReadFile(keysFile(t, "secrets", "secretbox/second", "aesgcm/first"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, second, 0o600); err != nil {
			t.Fatal(err)
		}
		c.retryUntil(`apiserver_encryption_config_controller_automatic_reloads_total{status="success"} 1`, "GET", "/metrics", "")
		c.call("GET", allSecrets+"/s", "").want(200)
		if !strings.HasPrefix(stored(), "k8s:enc:aesgcm:v1:first:") {
			t.Errorf("stored = %.40q before the rotation", stored())
		}
		c.call("PUT", allSecrets+"/s?dryRun=All", object).want(200)
		if !strings.HasPrefix(stored(), "k8s:enc:aesgcm:v1:first:") {
			t.Error("a dry run has written the object")
		}
		rotated := c.call("PUT", allSecrets+"/s", object).want(200)
		if !strings.HasPrefix(stored(), "k8s:enc:secretbox:v1:second:") {
			t.Errorf("stored = %.40q after a no-op, want the new key", stored())
		}
		if again := c.call("PUT", allSecrets+"/s", rotated.text).want(200); again.text != rotated.text {
			t.Errorf("a second no-op changed the object to %s", again.text)
		}
		if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if !testwait.Within(testwait.Timeout, func() bool {
			return strings.Contains(c.call("GET", "/metrics", "").text, `automatic_reloads_total{status="failure"}`)
		}) {
			t.Error("the invalid configuration was not counted")
		}
		c.call("GET", allSecrets+"/s", "").want(200)
	})
}
