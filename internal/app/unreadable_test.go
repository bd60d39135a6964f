package app

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

var managedFields = regexp.MustCompile(`"managedFields":\[.*?\}\],"name"`)

// unreadable and noJSON are managedFields that cannot be decoded: unreadable has a wrong type, and noJSON is not JSON.
const (
	unreadable = `"unreadable"`
	noJSON     = `[unreadable]`
)

// corrupt replaces the managedFields of a stored object with managed, which cannot be decoded, and oldText with newText.
func (c *client) corrupt(key watchcache.Key, managed, oldText, newText string) {
	c.t.Helper()
	o, err := c.server.cache.Get(c.t.Context(), key, watchcache.Latest)
	if err != nil {
		c.t.Fatal(err)
	}
	text := managedFields.ReplaceAllString(o.Text(), `"managedFields":`+managed+`,"name"`)
	if text == o.Text() {
		c.t.Fatalf("%s: object = %s, want it to contain managedFields", o.Key(), text)
	}
	spoiled := strings.Replace(text, oldText, newText, 1)
	if spoiled == text && oldText != newText {
		c.t.Fatalf("%s: object = %s, want it to contain %s", o.Key(), text, oldText)
	}
	if _, _, err := c.server.cache.Commit(c.t.Context(), storage.Write{Key: o.Key(), Value: []byte(spoiled), Expected: o.Revision()}); err != nil {
		c.t.Fatal(err)
	}
}

// retryUntil repeats a request until the response contains part.
func (c *client) retryUntil(part, method, path, body string) {
	c.t.Helper()
	var answer *testResponse
	if !testwait.Within(testwait.Timeout, func() bool { answer = c.call(method, path, body); return strings.Contains(answer.text, part) }) {
		c.t.Fatalf("%s %s: got %d %s, want a response that contains %q", method, path, answer.code, answer.text, part)
	}
}

// TestConfigurationWithUndecodableManagedFields checks that roles, policies, webhook configurations and namespaces with
// undecodable managedFields take effect, because the server itself does not read their managedFields.
func TestConfigurationWithUndecodableManagedFields(t *testing.T) {
	c := start(t, Config{}, `secret,reader,1`)
	const rbac = "/apis/rbac.authorization.k8s.io/v1/"
	c.call("POST", rbac+"clusterroles", `{"metadata":{"name":"reading"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}]}`).want(201)
	c.call("POST", rbac+"clusterrolebindings", `{"metadata":{"name":"reading"},"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"nobody"}],
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"reading"}}`).want(201)
	c.call("POST", registration+"validatingadmissionpolicies", `{"metadata":{"name":"p"},"spec":{
		"matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}]},
		"validations":[{"expression":"namespaceObject.metadata.name != 'odd'","message":"as it was"}]}}`).want(201)
	c.call("POST", registration+"validatingadmissionpolicybindings", `{"metadata":{"name":"b"},"spec":{"policyName":"other","validationActions":["Deny"]}}`).want(201)
	c.call("POST", registration+"mutatingwebhookconfigurations", `{"metadata":{"name":"h"},"webhooks":[{"name":"before.example.com",
		"clientConfig":{"url":"https://127.0.0.1:1/"},"admissionReviewVersions":["v1"],"sideEffects":"None","timeoutSeconds":1,
		"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["secrets"],"operations":["CREATE"]}]}]}`).want(201)
	c.makeNamespace("odd", "")

	c.corrupt(watchcache.Key{Kind: "rbac.authorization.k8s.io/clusterroles", Name: "reading"}, noJSON, "configmaps", "secrets")
	c.corrupt(watchcache.Key{Kind: "rbac.authorization.k8s.io/clusterrolebindings", Name: "reading"}, noJSON, "nobody", "reader")
	c.corrupt(watchcache.Key{Kind: "admissionregistration.k8s.io/validatingadmissionpolicies", Name: "p"}, noJSON, "as it was", "as it is")
	c.corrupt(watchcache.Key{Kind: "admissionregistration.k8s.io/validatingadmissionpolicybindings", Name: "b"}, noJSON, "other", "p")
	c.corrupt(watchcache.Key{Kind: "admissionregistration.k8s.io/mutatingwebhookconfigurations", Name: "h"}, noJSON, "before", "later")
	c.corrupt(watchcache.Key{Kind: "core/namespaces", Name: "odd"}, unreadable, "", "")

	c.withToken("secret").waitFor("/api/v1/secrets", 200)
	c.retryUntil("as it is", "POST", allNamespaces+"/odd/configmaps?dryRun=All", mapBody("c", `{}`))
	c.retryUntil("later.example.com", "POST", allNamespaces+"/default/secrets?dryRun=All", `{"metadata":{"name":"s"}}`)
	c.call("DELETE", allNamespaces+"/odd", "").want(200)
	c.waitFor(allNamespaces+"/odd", 404)
}

// TestControllersWithUndecodableManagedFields checks that controllers process objects with undecodable managedFields like
// other objects.
func TestControllersWithUndecodableManagedFields(t *testing.T) {
	c := start(t, Config{})
	here := func(name string) watchcache.Key {
		return watchcache.Key{Kind: "core/configmaps", Namespace: "default", Name: name}
	}
	uid := c.call("POST", configMaps, configMap("left")).want(201).get("metadata", "uid")
	c.call("POST", configMaps, ownedBy("orphan", "left", uid)).want(201)
	c.corrupt(here("orphan"), unreadable, "", "")
	c.call("DELETE", configMaps+"/left?propagationPolicy=Orphan", "").want(200)
	c.waitFor(configMaps+"/left", 404)
	if orphan := c.call("GET", configMaps+"/orphan", "").want(200); orphan.get("metadata", "ownerReferences", 0) != "" {
		t.Errorf("ConfigMap orphan = %s, want no ownerReferences", orphan.text)
	}

	// If an object is deleted because its owner was deleted, its finalizers determine whether its dependents are deleted or
	// orphaned.
	uid = c.call("POST", configMaps, configMap("first")).want(201).get("metadata", "uid")
	uid = c.call("POST", configMaps, strings.Replace(ownedBy("second", "first", uid), `"metadata":{`, `"metadata":{"finalizers":["orphan"],`, 1)).want(201).get("metadata", "uid")
	c.call("POST", configMaps, ownedBy("third", "second", uid)).want(201)
	c.corrupt(here("second"), unreadable, "", "")
	c.call("DELETE", configMaps+"/first?propagationPolicy=Background", "").want(200)
	c.waitFor(configMaps+"/second", 404)
	if third := c.call("GET", configMaps+"/third", "").want(200); third.get("metadata", "ownerReferences", 0) != "" {
		t.Errorf("ConfigMap third = %s, want no ownerReferences", third.text)
	}
}

// TestNamespaceDeletionWithUndecodableObjects checks that the deletion of a namespace respects grace periods and reports
// finalizers of objects whose managedFields cannot be decoded.
func TestNamespaceDeletionWithUndecodableObjects(t *testing.T) {
	c := start(t, Config{})
	c.makeNamespace("odd", "")
	inside := allNamespaces + "/odd/"
	c.call("POST", inside+"configmaps", `{"metadata":{"name":"waits","finalizers":["example.com/wait"]}}`).want(201)
	c.call("DELETE", inside+"configmaps/waits", "").want(200, "deletionTimestamp")
	c.call("POST", inside+"pods", `{"metadata":{"name":"late"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`).want(201)
	c.call("DELETE", inside+"pods/late?gracePeriodSeconds=1", "").want(200, "deletionTimestamp")
	c.corrupt(watchcache.Key{Kind: "core/configmaps", Namespace: "odd", Name: "waits"}, unreadable, "", "")
	c.corrupt(watchcache.Key{Kind: "core/pods", Namespace: "odd", Name: "late"}, unreadable, "", "")
	c.call("DELETE", allNamespaces+"/odd", "").want(200)
	c.waitFor(inside+"pods/late", 404)
	c.retryUntil("example.com/wait in 1 resource instances", "GET", allNamespaces+"/odd", "")
}
