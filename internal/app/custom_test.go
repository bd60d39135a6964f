package app

import (
	"strings"
	"testing"
)

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Cluster",
"names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer","description":"how large"},"colour":{"type":"string","default":"colourless"}}}}}]}}`

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// define creates the CustomResourceDefinition of widgets and waits until its names are accepted.
func (c *client) define() {
	c.t.Helper()
	c.call("POST", definitions, widgets).want(201)
	c.waitFor(definitions+"/widgets.example.com", 200, `"InitialNamesAccepted"`)
}

// TestCustomKind checks that a custom resource is in discovery and OpenAPI after its CustomResourceDefinition is established,
// and not after the CustomResourceDefinition is deleted.
func TestCustomKind(t *testing.T) {
	c := start(t, Config{})
	c.call("GET", "/openapi/v3", "").want(200)
	c.define()
	c.call("GET", "/apis/example.com/v1", "").want(200, `"name":"widgets"`)
	c.call("GET", "/openapi/v3", "").want(200, "apis/example.com/v1")
	c.call("GET", "/openapi/v3/apis/example.com/v1", "").want(200, `"how large"`, "com.example.v1.Widget", `"default":"colourless"`)
	if old := c.call("GET", "/openapi/v2", "").want(200, `"how large"`, `"colour"`); strings.Contains(old.text, "colourless") {
		t.Error("OpenAPI v2 contains the default \"colourless\"; want no defaults, which Kubernetes omits there")
	}
	c.call("GET", "/openapi/v3/apis/apiextensions.k8s.io/v1", "").want(200, "JSONSchemaProps")
	before := c.call("GET", "/openapi/v3", "").want(200).get("paths", "apis/example.com/v1", "serverRelativeURL")
	c.call("PATCH", definitions+"/widgets.example.com", `[{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/size/description","value":"how wide"}]`,
		"Content-Type: application/json-patch+json").want(200)
	c.waitFor("/openapi/v3/apis/example.com/v1", 200, `"how wide"`)
	c.waitFor("/openapi/v2", 200, `"how wide"`)
	if after := c.call("GET", "/openapi/v3", "").want(200).get("paths", "apis/example.com/v1", "serverRelativeURL"); after == before || after == "" {
		t.Errorf("serverRelativeURL of the changed schema: was %s and is %s, want another URL, since clients cache it", before, after)
	}
	c.call("POST", "/apis/example.com/v1/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"size":1}`).want(201, `"size":1`)
	c.call("PATCH", "/apis/example.com/v1/widgets/a", `{}`, "Content-Type: application/strategic-merge-patch+json").want(415)
	c.call("GET", "/apis/example.com/v1/widgets/a", "", "Accept: application/vnd.kubernetes.protobuf").want(406)
	events := c.watch("/apis/example.com/v1/widgets?watch=true&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
	events.want("ADDED", "a")
	c.call("DELETE", definitions+"/widgets.example.com", "").want(200)
	c.waitFor(definitions+"/widgets.example.com", 404)
	c.waitFor("/apis/example.com/v1/widgets", 404)
	c.waitFor("/apis/example.com", 404)
	for event := events.next(); event != nil; event = events.next() { // until the watch ends
		t.Log(event["type"])
	}
}

// TestDifferenceNoProtobufForCRDs checks that a get of a CustomResourceDefinition by a client that accepts only
// protobuf is a 406.
func TestDifferenceNoProtobufForCRDs(t *testing.T) {
	c := start(t, Config{})
	c.define()
	c.call("GET", definitions+"/widgets.example.com", "", "Accept: application/vnd.kubernetes.protobuf").want(406)
	c.call("GET", definitions+"/widgets.example.com", "", "Accept: application/vnd.kubernetes.protobuf,application/json").want(200, `"kind":"CustomResourceDefinition"`)
	c.call("GET", definitions+"/widgets.example.com", "", "Accept: application/cbor").want(200)
}

// TestNamespaceDeletionWithCustomResources checks that deleting a namespace deletes its custom resources, and waits for
// custom resources with finalizers.
func TestNamespaceDeletionWithCustomResources(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", definitions, strings.Replace(widgets, `"scope":"Cluster"`, `"scope":"Namespaced"`, 1)).want(201)
	c.waitFor(definitions+"/widgets.example.com", 200, `"InitialNamesAccepted"`)
	c.makeNamespace("going", "")
	inside := "/apis/example.com/v1/namespaces/going/widgets"
	c.call("POST", inside, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`).want(201)
	c.call("POST", inside, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"held","finalizers":["example.com/hold"]}}`).want(201)
	c.call("DELETE", allNamespaces+"/going", "").want(200)
	c.waitFor(inside+"/a", 404)
	c.waitFor(allNamespaces+"/going", 200, "widgets.example.com has 1 resource instances")
	c.call("POST", inside, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"late"}}`).want(403, "because it is being terminated")
	c.call("PATCH", inside+"/held", unheld[0], unheld[1:]...).want(200)
	c.waitFor(allNamespaces+"/going", 404)
}
