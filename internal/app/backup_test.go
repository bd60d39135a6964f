package app

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/backup"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// TestBackup: a running server returns a backup to users with a role for its path. A server that starts with the restored store
// has the same objects.
func TestBackup(t *testing.T) {
	c := start(t, Config{}, "saver-token,saver,1", `monitor-token,monitor,2,"system:monitoring"`)
	created := c.call("POST", configMaps, configMap("kept")).want(201)
	c.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{"metadata":{"name":"saver"},"rules":[{"nonResourceURLs":["/storage/backup"],"verbs":["get"]}]}`).want(201)
	c.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", `{"metadata":{"name":"saver"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"saver"}],
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"saver"}}`).want(201)
	c.withToken("monitor-token").call("GET", "/storage/backup", "").want(http.StatusForbidden)
	c.withToken("").call("GET", "/storage/backup", "").want(http.StatusForbidden)
	c.withToken("wrong").call("GET", "/storage/backup", "").want(http.StatusUnauthorized)
	c.call("POST", "/storage/backup", "{}").want(http.StatusMethodNotAllowed)

	response := c.withToken("saver-token").call("GET", "/storage/backup", "").want(200)
	if got := response.header.Get("Content-Type"); got != backup.MediaType {
		t.Errorf("Content-Type = %q, want %q", got, backup.MediaType)
	}
	var items []storage.Item
	summary, err := backup.Verify(strings.NewReader(response.text), func(i storage.Item) error {
		items = append(items, i)
		return watchcache.CheckItem(i)
	})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	err = pebble.Restore(pebble.Options{Folder: filepath.Join(folder, "store")}, summary.Revision+1000, func(add func(storage.Item) error) error {
		for _, item := range items {
			if err := add(item); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	restored := start(t, Config{Folder: folder})
	if got := restored.call("GET", configMaps+"/kept", "").want(200); got.text != created.text {
		t.Errorf("restored object = %s, want %s", got.text, created.text)
	}
}

// TestOneBackup: while a backup is written, a second backup is rejected.
func TestOneBackup(t *testing.T) {
	c := start(t, Config{})
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 { // together larger than the buffers of a connection, even compressed
		value := make([]byte, 450_000)
		for i := range value {
			value[i] = byte(random.Uint32())
		}
		c.call("POST", configMaps, fmt.Sprintf(`{"metadata":{"generateName":"big-"},"data":{"a":"%x"}}`, value)).want(201)
	}
	first := c.open("GET", "/storage/backup", "")
	defer first.Body.Close()
	c.call("GET", "/storage/backup", "").want(http.StatusTooManyRequests)
	var text bytes.Buffer
	if _, err := text.ReadFrom(first.Body); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Verify(&text, nil); err != nil {
		t.Error(err)
	}
	c.waitFor("/storage/backup", 200)
}

// TestQuota: a server whose store exceeds its quota rejects creations with 507, and accepts deletions.
func TestQuota(t *testing.T) {
	c := start(t, Config{Folder: t.TempDir(), QuotaBytes: 2 << 20})
	c.call("POST", configMaps, configMap("first")).want(201)
	big := fmt.Sprintf(`{"metadata":{"generateName":"big-"},"data":{"a":"%0500000d"}}`, 7)
	c.retryUntil("its quota is 2097152; delete objects or free space on the disk, then retry", "POST", configMaps, big)
	c.call("POST", configMaps, big).want(http.StatusInsufficientStorage, "InsufficientStorage")
	c.call("DELETE", configMaps+"/first", "").want(200)
	if text := c.call("GET", "/metrics", "").want(200).text; !strings.Contains(text, "\ncadastre_store_out_of_space 1\n") {
		t.Error("/metrics lacks cadastre_store_out_of_space 1")
	}
}

// TestScheduledBackups: a server writes the scheduled backups and counts them.
func TestScheduledBackups(t *testing.T) {
	folder := t.TempDir()
	c := start(t, Config{Backups: backup.Schedule{Folder: folder, Interval: time.Hour, Keep: 1}})
	c.retryUntil(`cadastre_backups_total{result="written"} 1`, "GET", "/metrics", "")
	written, err := filepath.Glob(filepath.Join(folder, "cadastre-*.backup"))
	if err != nil || len(written) != 1 {
		t.Fatalf("the folder contains %v, %v, want one backup", written, err)
	}
	if _, err := backup.ReadFile(written[0], watchcache.CheckItem); err != nil {
		t.Error(err)
	}
}
