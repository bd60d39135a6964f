package app

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

func ownedBy(name, owner, uid string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,"blockOwnerDeletion":true}]}}`,
		name, owner, uid)
}

// TestGarbageCollection checks that foreground deletion of an owner deletes its dependents.
func TestGarbageCollection(t *testing.T) {
	c := start(t, Config{})
	uid := c.call("POST", configMaps, configMap("owner")).want(201).get("metadata", "uid")
	c.call("POST", configMaps, ownedBy("child", "owner", uid)).want(201)
	c.call("DELETE", configMaps+"/owner?propagationPolicy=Foreground", "").want(200, `"finalizers":["foregroundDeletion"]`, `"deletionTimestamp"`)
	c.waitFor(configMaps+"/owner", 404)
	c.call("GET", configMaps+"/child", "").want(404)
}

// TestWithoutControllers checks that a server without controllers does not process objects that wait for a controller, and
// that a server with controllers does after a restart.
func TestWithoutControllers(t *testing.T) {
	folder := t.TempDir()
	s, err := Start(t.Context(), Config{Folder: folder, Address: "127.0.0.1:0", WithoutControllers: true, EventTTL: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, s)
	uid := c.call("POST", configMaps, configMap("owner")).want(201).get("metadata", "uid")
	c.call("POST", configMaps, ownedBy("child", "owner", uid)).want(201)
	c.call("POST", configMaps, ownedBy("lost", "nobody", "0")).want(201)
	c.makeNamespace("going", "")
	c.call("POST", allNamespaces+"/default/events", `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}}`).want(201)
	c.call("DELETE", configMaps+"/owner?propagationPolicy=Orphan", "").want(200, `"finalizers":["orphan"]`)
	c.call("DELETE", allNamespaces+"/going", "").want(200)
	time.Sleep(1500 * time.Millisecond) // a running controller would act within milliseconds
	c.call("GET", configMaps+"/owner", "").want(200, `"finalizers":["orphan"]`)
	c.call("GET", configMaps+"/child", "").want(200, uid)
	c.call("GET", configMaps+"/lost", "").want(200)
	c.call("GET", allNamespaces+"/going", "").want(200)
	c.call("GET", allNamespaces+"/default/events/e", "").want(200)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}

	c = start(t, Config{Folder: folder, EventTTL: time.Second})
	c.waitFor(configMaps+"/owner", 404)
	c.waitFor(configMaps+"/lost", 404)
	c.waitFor(allNamespaces+"/going", 404)
	c.waitFor(allNamespaces+"/default/events/e", 404)
	if child := c.call("GET", configMaps+"/child", "").want(200); child.get("metadata", "ownerReferences", 0) != "" {
		t.Errorf("orphaned ConfigMap child: got %s, want no ownerReferences", child.text)
	}
}

// dropManagedFields removes the managedFields of a stored object.
func (c *client) dropManagedFields(path string) {
	c.t.Helper()
	c.call("PATCH", path, `{"metadata":{"managedFields":[{}]}}`, "Content-Type: "+mergeType).want(200)
	if text := c.call("GET", path, "").want(200).text; strings.Contains(text, "managedFields") {
		c.t.Fatalf("%s: received %s, want it without managedFields", path, text)
	}
}

// TestControllersNeedNoManagedFields checks that controllers process objects without managedFields like other objects.
func TestControllersNeedNoManagedFields(t *testing.T) {
	c := start(t, Config{EventTTL: 2 * time.Second})
	uid := c.call("POST", configMaps, configMap("owner")).want(201).get("metadata", "uid")
	c.call("POST", configMaps, ownedBy("child", "owner", uid)).want(201)
	c.makeNamespace("going", "")
	inside := allNamespaces + "/going/configmaps"
	c.call("POST", inside, configMap("inside")).want(201)
	events := allNamespaces + "/default/events"
	c.call("POST", events, `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}}`).want(201)
	for _, path := range []string{configMaps + "/owner", configMaps + "/child", allNamespaces + "/going", inside + "/inside", events + "/e"} {
		c.dropManagedFields(path)
	}
	c.call("DELETE", configMaps+"/owner?propagationPolicy=Foreground", "").want(200)
	c.call("DELETE", allNamespaces+"/going", "").want(200)
	c.waitFor(configMaps+"/owner", 404)
	c.call("GET", configMaps+"/child", "").want(404)
	c.waitFor(allNamespaces+"/going", 404)
	c.waitFor(events+"/e", 404)
}

// TestControllersKeepOwnership checks that writes by controllers do not change the managed fields entries of other field
// managers.
func TestControllersKeepOwnership(t *testing.T) {
	c := start(t, Config{})
	uid := c.call("POST", configMaps, configMap("owner")).want(201).get("metadata", "uid")
	c.call("POST", configMaps, ownedBy("child", "owner", uid)).want(201)
	c.apply(configMaps+"/child", "ci", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"child"},"data":{"color":"blue"}}`).want(200)
	c.call("DELETE", configMaps+"/owner?propagationPolicy=Orphan", "").want(200)
	c.waitFor(configMaps+"/owner", 404)
	child := c.call("GET", configMaps+"/child", "").want(200, `"manager":"ci"`, `"f:color":{}`)
	if child.get("metadata", "ownerReferences", 0) != "" {
		t.Errorf("orphaned ConfigMap child: got %s, want no ownerReferences", child.text)
	}
}
