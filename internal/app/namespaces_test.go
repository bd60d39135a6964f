package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

const allNamespaces = "/api/v1/namespaces"

func (c *client) makeNamespace(name, rest string) {
	c.t.Helper()
	c.call("POST", allNamespaces, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+name+`"`+rest+`}}`).want(201)
}

// waitFor repeats a get until the response has the status code and its body contains all parts.
func (c *client) waitFor(path string, code int, contains ...string) *testResponse {
	c.t.Helper()
	var a *testResponse
	isWanted := func() bool {
		a = c.call("GET", path, "")
		return a.code == code && !slices.ContainsFunc(contains, func(part string) bool { return !strings.Contains(a.text, part) })
	}
	if !testwait.Within(testwait.Timeout, isWanted) {
		c.t.Fatalf("GET %s: got %d %s, want %d with %q", path, a.code, a.text, code, contains)
	}
	return a
}

func held(name string) string {
	return strings.Replace(configMap(name), `"name"`, `"finalizers":["example.org/hold"],"name"`, 1)
}

var unheld = []string{`{"metadata":{"finalizers":null}}`, "Content-Type: " + mergeType}

// TestNamespaceDeletion checks that a deleted namespace and its objects are removed within 5 seconds.
func TestNamespaceDeletion(t *testing.T) {
	c := start(t, Config{})
	c.makeNamespace("going", "")
	for i := range 40 {
		c.call("POST", allNamespaces+"/going/configmaps", configMap(fmt.Sprint("c", i))).want(201)
	}
	address := c.call("POST", allNamespaces+"/going/services", serviceBody("web", `"ports":[{"port":80}]`)).want(201).get("spec", "clusterIP")
	c.call("POST", allNamespaces+"/going/events", `{"metadata":{"name":"e"},"involvedObject":{"namespace":"going"}}`).want(201)
	c.call("POST", configMaps, configMap("stays")).want(201)

	c.call("DELETE", allNamespaces+"/going?dryRun=All", "").want(200, `"phase":"Terminating"`)
	c.call("GET", allNamespaces+"/going", "").want(200, `"phase":"Active"`)
	deleted := time.Now()
	marked := c.call("DELETE", allNamespaces+"/going", "").want(200, `"deletionTimestamp"`, `"phase":"Terminating"`, `"finalizers":["kubernetes"]`)
	if marked.get("metadata", "deletionGracePeriodSeconds") != "" {
		t.Errorf("deleted namespace: received %s, want no deletionGracePeriodSeconds", marked.text)
	}
	c.waitFor(allNamespaces+"/going", 404)
	if took := time.Since(deleted); took > 5*time.Second {
		t.Errorf("deletion of the namespace took %v, want at most 5 s", took)
	}
	for _, resource := range []string{"configmaps", "services", "events"} {
		if list := c.call("GET", allNamespaces+"/going/"+resource, "").want(200); list.get("items", 0) != "" {
			t.Errorf("%s after the deletion of the namespace: received %s, want none", resource, list.text)
		}
	}
	c.call("GET", ipAddresses+"/"+address, "").want(404)
	c.call("GET", configMaps+"/stays", "").want(200)
	c.makeNamespace("going", "")
}

// TestNamespaceDeletionWaits checks that the deletion of a namespace waits for objects with finalizers and reports them in
// its conditions.
func TestNamespaceDeletionWaits(t *testing.T) {
	c := start(t, Config{})
	c.makeNamespace("waiting", "")
	c.call("POST", allNamespaces+"/waiting/configmaps", held("held")).want(201)
	c.call("POST", allNamespaces+"/waiting/configmaps", configMap("free")).want(201)
	c.call("DELETE", allNamespaces+"/waiting", "").want(200)
	c.waitFor(allNamespaces+"/waiting", 200, `"type":"NamespaceContentRemaining"`, "configmaps. has 1 resource instances", "example.org/hold in 1 resource instances")
	c.call("GET", allNamespaces+"/waiting/configmaps/free", "").want(404)
	c.call("GET", allNamespaces+"/waiting/configmaps/held", "").want(200, "deletionTimestamp")
	c.call("POST", allNamespaces+"/waiting/configmaps", configMap("late")).want(403, "unable to create new content in namespace waiting because it is being terminated")
	revision := c.call("GET", allNamespaces+"/waiting", "").want(200).get("metadata", "resourceVersion")
	time.Sleep(300 * time.Millisecond) // the controller retries several times during the wait
	if now := c.call("GET", allNamespaces+"/waiting", "").want(200).get("metadata", "resourceVersion"); now != revision {
		t.Errorf("resourceVersion changed from %s to %s although the conditions did not", revision, now)
	}
	c.call("PATCH", allNamespaces+"/waiting/configmaps/held", unheld[0], unheld[1]).want(200)
	c.waitFor(allNamespaces+"/waiting", 404)
}

// TestNamespaceDeletionAfterRestart checks that a restarted server continues the deletion of a namespace.
func TestNamespaceDeletionAfterRestart(t *testing.T) {
	config := Config{Folder: t.TempDir()}
	t.Run("first", func(t *testing.T) {
		c := start(t, config)
		c.makeNamespace("going", "")
		c.call("POST", allNamespaces+"/going/configmaps", held("held")).want(201)
		c.call("DELETE", allNamespaces+"/going", "").want(200)
	})
	c := start(t, config)
	c.call("PATCH", allNamespaces+"/going/configmaps/held", unheld[0], unheld[1]).want(200)
	c.waitFor(allNamespaces+"/going", 404)
}

// TestNamespaceFinalizers checks that a deleted namespace is removed only when it has no finalizers in spec and metadata.
func TestNamespaceFinalizers(t *testing.T) {
	c := start(t, Config{})
	c.makeNamespace("kept", `,"finalizers":["example.org/hold"]`)
	c.call("DELETE", allNamespaces+"/kept", "").want(200)
	emptied := c.waitFor(allNamespaces+"/kept", 200, `"finalizers":[]`)
	if emptied.get("metadata", "finalizers") != `["example.org/hold"]` {
		t.Errorf("emptied namespace: received %s, want the finalizer in metadata", emptied.text)
	}
	c.call("PATCH", allNamespaces+"/kept", unheld[0], unheld[1]).want(200)
	c.call("GET", allNamespaces+"/kept", "").want(404)

	finalize := func(name, finalizers string) *testResponse {
		return c.call("PUT", allNamespaces+"/"+name+"/finalize", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+name+`"},"spec":{"finalizers":`+finalizers+`}}`)
	}
	c.makeNamespace("other", "")
	finalize("other", `["example.org/mine","kubernetes"]`).want(200, `["example.org/mine","kubernetes"]`, `"phase":"Active"`)
	c.call("DELETE", allNamespaces+"/other", "").want(200)
	c.waitFor(allNamespaces+"/other", 200, `"spec":{"finalizers":["example.org/mine"]}`)
	finalize("other", `[]`).want(200)
	c.call("GET", allNamespaces+"/other", "").want(404)
	c.makeNamespace("none", "")
	finalize("none", `[]`).want(200, `"phase":"Active"`)
	c.call("DELETE", allNamespaces+"/none", "").want(200, `"phase":"Terminating"`)
	c.waitFor(allNamespaces+"/none", 404)
	c.call("PATCH", allNamespaces+"/default/finalize", `{}`, unheld[1]).want(405)
}

// TestNamespacePods checks that the deletion of a namespace first deletes pods, after their grace period, and then other
// objects.
func TestNamespacePods(t *testing.T) {
	c := start(t, Config{})
	c.makeNamespace("pods", "")
	c.call("POST", allNamespaces+"/pods/configmaps", configMap("guard")).want(201)
	c.call("POST", allNamespaces+"/pods/pods",
		`{"metadata":{"name":"p"},"spec":{"nodeName":"n","terminationGracePeriodSeconds":1,"containers":[{"name":"c","image":"i"}]}}`).want(201)
	c.call("DELETE", allNamespaces+"/pods", "").want(200)
	c.waitFor(allNamespaces+"/pods", 200, "pods. has 1 resource instances")
	c.call("GET", allNamespaces+"/pods/configmaps/guard", "").want(200)
	c.waitFor(allNamespaces+"/pods", 404)
}

// TestProtectedNamespaces checks that the namespaces default, kube-system and kube-public cannot be deleted, and that
// namespaces do not support deletecollection.
func TestProtectedNamespaces(t *testing.T) {
	c := start(t, Config{})
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		c.call("DELETE", allNamespaces+"/"+name, "").want(403, `namespaces \"`+name+`\" is forbidden: this namespace may not be deleted`)
	}
	c.call("DELETE", allNamespaces+"/kube-node-lease?dryRun=All", "").want(200)
	c.call("DELETE", allNamespaces, "").want(405)
}

// TestSystemObjectsAreRecreated checks that deleted system namespaces and the Service default/kubernetes are recreated, as
// in Kubernetes, even without controllers.
func TestSystemObjectsAreRecreated(t *testing.T) {
	c := start(t, Config{reconcileInterval: 20 * time.Millisecond})
	uid := c.call("GET", allNamespaces+"/kube-node-lease", "").want(200).get("metadata", "uid")
	c.call("DELETE", allNamespaces+"/kube-node-lease", "").want(200)
	testwait.For(t, "the namespace to be created again", func() bool {
		again := c.call("GET", allNamespaces+"/kube-node-lease", "")
		return again.code == 200 && again.get("metadata", "uid") != uid
	})
	alone := start(t, Config{reconcileInterval: 20 * time.Millisecond, WithoutControllers: true})
	alone.call("DELETE", services+"/kubernetes", "").want(200)
	alone.waitFor(services+"/kubernetes", 200, `"clusterIP":"10.96.0.1"`)
}

// TestReconcileOfExistingObjects checks that reconciling system objects that exist writes nothing and calls no webhook.
func TestReconcileOfExistingObjects(t *testing.T) {
	s, err := Start(t.Context(), Config{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop(context.Background()) })
	hook, calls := hookServer(t)
	ofNamespaces := strings.NewReplacer(`"configmaps"`, `"namespaces","services"`)
	clientOf(t, s).call("POST", registration+"validatingwebhookconfigurations", ofNamespaces.Replace(configuration("ValidatingWebhookConfiguration", hook.URL, hook.Certificate().Raw, ""))).want(201)
	(&systemObjects{all: s.handler.Objects, address: s.address()}).reconcile(t.Context())
	if n := calls.Load(); n != 0 {
		t.Errorf("the webhook was called %d times, want 0, because nothing has to be written", n)
	}
}
