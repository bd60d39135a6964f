package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestNamespaceChangesDuringAdmission checks that a create is repeated from the start if its namespace changes while
// webhooks are called: it is rejected if the namespace is being deleted, and webhooks are called again if the namespace was
// changed or recreated.
func TestNamespaceChangesDuringAdmission(t *testing.T) {
	const place, maps = allNamespaces + "/place", allNamespaces + "/place/configmaps"
	labels := []string{`{"metadata":{"labels":{"new":"yes"}}}`, "Content-Type: " + mergeType}
	for _, test := range []struct {
		name      string
		meanwhile func(c *client)
		code      int
		text      string
		asked     int32
	}{
		{"nothing", func(*client) {}, 201, "", 1},
		{"it changes", func(c *client) { c.call("PATCH", place, labels[0], labels[1]).want(200) }, 201, "", 2},
		{"it is going", func(c *client) {
			c.call("POST", maps, held("held")).want(201)
			c.call("DELETE", place, "").want(200)
		}, 403, `"reason":"NamespaceTerminating"`, 1},
		{"it is gone", func(c *client) {
			c.call("DELETE", place, "").want(200)
			c.waitFor(place, 404)
		}, 404, `namespaces \"place\" not found`, 1},
		{"it is another", func(c *client) {
			c.call("DELETE", place, "").want(200)
			c.waitFor(place, 404)
			c.makeNamespace("place", "")
		}, 201, "", 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, write := range []struct{ verb, path, mediaType string }{{"POST", maps, "application/json"}, {"PATCH", maps + "/new?fieldManager=alice", "application/apply-patch+yaml"}} {
				c := start(t, Config{})
				c.makeNamespace("place", "")
				asked := c.duringWebhook(test.meanwhile)
				c.call(write.verb, write.path, mapBody("new", `{"a":"1"}`), "Content-Type: "+write.mediaType).want(test.code, test.text)
				if got := asked.Load(); got != test.asked {
					t.Errorf("%s: the webhook was called %d times, want %d", write.verb, got, test.asked)
				}
				if test.code != 201 {
					c.call("GET", maps+"/new", "").want(404)
				}
			}
		})
	}
}

// duringWebhook configures a mutating webhook for ConfigMaps named new, which calls do during its first call. It returns the
// number of calls.
func (c *client) duringWebhook(do func(c *client)) *atomic.Int32 {
	c.t.Helper()
	var asked atomic.Int32
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct{ Request struct{ UID string } }
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			c.t.Error(err)
		}
		if asked.Add(1) == 1 {
			do(c)
		}
		fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":true}}`, review.Request.UID)
	}))
	c.t.Cleanup(hook.Close)
	c.call("POST", registration+"mutatingwebhookconfigurations", configuration("MutatingWebhookConfiguration", hook.URL, hook.Certificate().Raw,
		`"timeoutSeconds":30,"matchConditions":[{"name":"new","expression":"object.metadata.name == 'new'"}],`)).want(201)
	return &asked
}
