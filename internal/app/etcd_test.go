package app

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage/etcd"
	"github.com/cadastre/cadastre/internal/storage/etcd/etcdtest"
)

func configFor(cluster *etcdtest.Process) Config {
	return Config{Etcd: Etcd{Options: etcd.Options{Endpoints: []string{cluster.Endpoint}}}, EventTTL: time.Hour}
}

// TestServersOnEtcd checks that servers on one etcd read, watch and change each other's objects, and serve each other's definitions and
// roles.
func TestServersOnEtcd(t *testing.T) {
	cluster := etcdtest.Start(t)
	first := start(t, configFor(cluster))
	second := start(t, configFor(cluster), "token-of-ann,ann,1,")
	watch := second.watch(configMaps + "?watch=1&resourceVersion=" + second.call("GET", configMaps, "").want(200).get("metadata", "resourceVersion"))
	created := first.call("POST", configMaps, configMap("a", "k", "1")).want(201)
	second.call("GET", configMaps+"/a", "").want(200, created.get("metadata", "uid"), `"k":"1"`)
	second.apply(configMaps+"/a", "m", configMap("a", "other", "2")).want(200)
	applied := first.call("GET", configMaps+"/a", "").want(200, `"k":"1"`, `"other":"2"`)
	first.call("PUT", configMaps+"/a", created.text, "Content-Type: application/json").want(409)
	second.call("DELETE", configMaps+"/a", "").want(200)
	first.call("GET", configMaps+"/a", "").want(404)
	watch.want("ADDED", "a")
	if modified := watch.want("MODIFIED", "a"); jsonAt(modified, "object", "metadata", "resourceVersion") != applied.get("metadata", "resourceVersion") {
		t.Errorf("event = %v, want the resourceVersion %s", modified, applied.get("metadata", "resourceVersion"))
	}
	watch.want("DELETED", "a")

	second.define()
	first.waitFor("/apis/example.com/v1/widgets", 200)
	ann := second.withToken("token-of-ann")
	ann.call("GET", configMaps, "").want(403)
	first.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
		`{"metadata":{"name":"ann"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"view"},"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"ann"}]}`).want(201)
	ann.waitFor(configMaps, 200)
}

// TestEtcdAway checks that without etcd stale reads and watches continue, other requests receive 503, readiness names the cause, and
// that the server recovers when etcd does.
func TestEtcdAway(t *testing.T) {
	cluster := etcdtest.Start(t)
	c := start(t, configFor(cluster))
	version := c.call("POST", configMaps, configMap("a", "k", "1")).want(201).get("metadata", "resourceVersion")
	watch := c.watch(configMaps + "?watch=1&resourceVersion=" + version)
	cluster.Kill()
	c.waitFor("/readyz", http.StatusInternalServerError)
	c.call("GET", "/readyz/commits", "").want(http.StatusInternalServerError)
	c.call("GET", "/livez", "").want(200)
	c.call("GET", configMaps+"/a?resourceVersion=0", "").want(200, `"k":"1"`)
	c.call("GET", configMaps+"?resourceVersion=0", "").want(200, `"k":"1"`)
	for name, response := range map[string]*testResponse{
		"a read of the latest state": c.call("GET", configMaps+"/a", ""),
		"a write":                    c.call("POST", configMaps, configMap("b")),
	} {
		if response.code != http.StatusServiceUnavailable || response.header.Get("Retry-After") == "" {
			t.Errorf("%s without etcd: received %d with Retry-After %q, want 503 with Retry-After; body %s", name, response.code, response.header.Get("Retry-After"), response.text)
		}
	}
	cluster.Resume(t)
	c.waitFor("/readyz", 200)
	testwait.For(t, "writes", func() bool { return c.call("POST", configMaps, configMap("b")).code == 201 })
	watch.want("ADDED", "b")
}

// TestEtcdLimits checks the status of an object that etcd rejects because of its size.
func TestEtcdLimits(t *testing.T) {
	c := start(t, configFor(etcdtest.Start(t)))
	// ConfigMaps have a limit of their own, of 1 MiB; the description of a PriorityClass has none.
	large := strings.Repeat("x", 1_900_000) // more than etcd accepts, and less than the server does
	c.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"a"},"value":1,"description":"`+large+`"}`).want(http.StatusRequestEntityTooLarge)
}

// TestBackupOfEtcd checks that a backup of a server on etcd is refused with the command to use.
func TestBackupOfEtcd(t *testing.T) {
	serving(t, configFor(etcdtest.Start(t)), func(c *client) {
		c.call("GET", "/storage/backup", "").want(501, "etcdctl snapshot save")
	})
}
