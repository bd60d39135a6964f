package docs_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// Each test in this file demonstrates an entry of differences.md or not-implemented.md. Its comment states how kube-apiserver
// 1.37 behaves instead.

// Kubernetes: both applies are rejected with a 500 without reason and details.
func TestDifferenceInvalidConfigurationIsBadRequest(t *testing.T) {
	c := newClient(t)
	for fields, detail := range map[string]string{`"foo":1`: ".foo: field not declared in schema", `"data":{"a":1}`: ".data.a: expected a string"} {
		path, _, _ := strings.Cut(detail, ":")
		c.apply("c", "m", fields).want(400).wantText("failed to create typed patch object (default/c; /v1, Kind=ConfigMap): "+detail+", received number 1",
			`"reason":"BadRequest"`, `"field":"`+path+`"`)
	}
}

// Kubernetes: the message of the cause is only: conflict with "alice".
func TestDifferenceConflictCausesContainValues(t *testing.T) {
	c := newClient(t)
	c.apply("c", "alice", `"data":{"color":"red"}`).want(201)
	conflict := c.apply("c", "bob", `"data":{"color":"blue"}`).want(409)
	conflict.wantText(`"message":"Apply failed with 1 conflict: conflict with \"alice\": .data.color"`, `"reason":"FieldManagerConflict"`, `"field":".data.color"`,
		`"message":"conflict with \"alice\": the field is \"red\", and would become \"blue\", its owner has written it since 2`)
}

// Kubernetes: with fieldValidation Warn or Ignore a duplicate field is accepted with its last value, with Warn also with a warning.
func TestDifferenceDuplicateNamesAreRejected(t *testing.T) {
	c := newClient(t)
	double := configMap("c", `"data":{"a":"1","a":"2"}`)
	for _, validation := range []string{"", "Ignore", "Warn", "Strict"} {
		c.call("POST", configMaps+"?fieldValidation="+validation, double).want(400).wantText(".data.a: the field occurs twice")
	}
	c.apply("c", "m", `"data":{"a":"1","a":"2"}`).want(400).wantText(".data.a: the field occurs twice")
}

// Kubernetes: alice's second apply creates a new resourceVersion, because it moves alice's managed fields entry after bob's.
func TestDifferenceNoOpApplyKeepsEntryOrder(t *testing.T) {
	c := newClient(t)
	write := func(manager, fields string) string {
		return c.call("PATCH", "/api/v1/namespaces/default/secrets/s?fieldManager="+manager,
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},`+fields+`}`, applyType).want(200, 201).get("metadata", "resourceVersion")
	}
	write("alice", `"stringData":{"a":"1"}`) // the server stores stringData as data, so an apply of stringData is never equal to the live object
	before := write("bob", `"data":{"b":"Mg=="}`)
	time.Sleep(1100 * time.Millisecond) // times in managedFields have a resolution of one second
	if after := write("alice", `"stringData":{"a":"1"}`); after != before {
		t.Errorf("resourceVersion after the second apply of alice: got %s, want %s", after, before)
	}
}

// Kubernetes: unknown fields in DeleteOptions are ignored, and the object is deleted.
func TestDifferenceUnknownDeleteOptionsAreRejected(t *testing.T) {
	c := newClient(t)
	c.call("POST", configMaps, configMap("c", `"data":{}`)).want(201)
	for _, options := range []string{`{"dry-run":["All"]}`, `{"preconditions":{"uuid":"x"}}`, `{"kind":"DeleteOptions","apiVersion":"v1","onlyIf":"empty"}`} {
		c.call("DELETE", configMaps+"/c", options).want(400).wantText("unknown field")
		c.call("DELETE", configMaps, options).want(400).wantText("unknown field")
	}
	c.call("GET", configMaps+"/c", "").want(200)
}

// Kubernetes: the pod is rejected with a 403.
func TestDifferencePodSecurityIsNotEnforced(t *testing.T) {
	c := newClient(t)
	c.call("POST", "/api/v1/namespaces", `{"metadata":{"name":"safe","labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`).want(201)
	c.call("POST", "/api/v1/namespaces/safe/pods", `{"metadata":{"name":"p"},"spec":{"hostNetwork":true,"containers":[{"name":"c","image":"i"}]}}`).want(201)
}

// Kubernetes: the request for a token returns a 201 with the token, and the requests for logs and port forwarding succeed.
func TestDifferenceUnservedSubresources(t *testing.T) {
	c := newClient(t)
	const namespace = "/api/v1/namespaces/default/"
	c.call("POST", namespace+"serviceaccounts", `{"metadata":{"name":"a"}}`).want(201)
	c.call("POST", namespace+"pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`).want(201)
	for _, test := range []struct{ method, path, body, says string }{
		{"POST", namespace + "serviceaccounts/a/token", `{"spec":{}}`, `serviceaccounts has no subresource \"token\" here`},
		{"GET", namespace + "pods/p/log", "", `pods has no subresource \"log\" here`},
		{"GET", namespace + "pods/p/portforward", "", `pods has no subresource \"portforward\" here`},
	} {
		c.call(test.method, test.path, test.body).want(404).wantText("the server could not find the requested resource", test.says)
	}
	c.call("GET", namespace+"pods/p", "").want(200)
}

// Kubernetes: the empty data and binaryData are absent from the object and from managedFields.
func TestDifferenceEmptyContainersAreKept(t *testing.T) {
	c := newClient(t)
	created := c.call("POST", configMaps, configMap("c", `"data":{},"binaryData":{}`)).want(201)
	if created.get("data") != "{}" || created.get("binaryData") != "{}" {
		t.Errorf("created ConfigMap: got %s, want empty data and binaryData", created.text)
	}
	created.wantText(`"fieldsV1":{"f:binaryData":{},"f:data":{}}`)
}

// Kubernetes: a create with a resourceVersion is rejected with a 500.
func TestDifferenceCreateWithResourceVersionIsBadRequest(t *testing.T) {
	c := newClient(t)
	c.call("POST", configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","resourceVersion":"12"}}`).
		want(400).wantText("resourceVersion should not be set on objects to be created")
}

// Kubernetes: get and watch return a 500 without a reason; list returns a 400.
func TestDifferenceInvalidResourceVersionIsBadRequest(t *testing.T) {
	c := newClient(t)
	c.apply("c", "m", `"data":{"a":"1"}`).want(201)
	for _, path := range []string{"/c?", "?watch=1&", "?"} {
		c.call("GET", configMaps+path+"resourceVersion=abc", "").want(400).wantText(`"reason":"BadRequest"`, `invalid resource version: resourceVersion: expected a number, received \"abc\"`)
	}
}

// Kubernetes: JSON fields have the order of the Go structs: kind, apiVersion, metadata, then all other fields.
func TestDifferenceJSONFieldsAreSorted(t *testing.T) {
	c := newClient(t)
	created := c.apply("c", "m", `"immutable":true,"data":{"b":"1","a":"2"}`).want(201)
	var v any
	if err := json.Unmarshal([]byte(created.text), &v); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(v) // sorts the keys of maps
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(created.text) != string(sorted) {
		t.Errorf("created ConfigMap: got %s, want sorted fields %s", created.text, sorted)
	}
}

// Kubernetes: a new cluster contains 69 ClusterRoles, and the service default/kubernetes.
func TestDifferenceObjectsCreatedAtStart(t *testing.T) {
	c := newClient(t)
	for _, path := range []string{
		"/api/v1/services?fieldSelector=metadata.name!=kubernetes", "/api/v1/configmaps",
		"/apis/rbac.authorization.k8s.io/v1/roles",
	} {
		if items := c.call("GET", path, "").want(200).get("items"); items != "[]" {
			t.Errorf("list of %s on a new server: got items %s, want none", path, items)
		}
	}
	c.call("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view", "").want(200)
	c.call("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:kube-scheduler", "").want(404)
}

// Kubernetes: the object of a bookmark contains all fields that the Go struct encodes without omitempty, such as spec.template,
// and a watch of one second does not end with a bookmark.
func TestDifferenceBookmarksContainOnlyResourceVersion(t *testing.T) {
	c := newClient(t)
	events := c.call("GET", "/apis/apps/v1/namespaces/default/deployments?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"+
		"&resourceVersionMatch=NotOlderThan&timeoutSeconds=1", "").want(200)
	lines := strings.Split(strings.TrimSpace(events.text), "\n")
	if len(lines) != 2 {
		t.Fatalf("watch events: got %s, want a bookmark after the initial events and one at the end of the watch", events.text)
	}
	for _, line := range lines {
		bookmark := answer{t, 200, line}
		if got := bookmark.get("type"); got != `"BOOKMARK"` {
			t.Errorf("watch event: got %s, want a bookmark", line)
		}
		if bookmark.get("object", "metadata", "resourceVersion") == "" || bookmark.get("object", "spec") != "" || bookmark.get("object", "status") != "" {
			t.Errorf("bookmark: got %s, want a resourceVersion, and neither spec nor status", line)
		}
	}
}

// Kubernetes: the descriptions of Table columns are the descriptions of the fields in the API documentation.
func TestDifferenceColumnDescriptions(t *testing.T) {
	c := newClient(t)
	table := c.call("GET", configMaps, "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io").want(200)
	table.wantText(`{"name":"Name","type":"string","format":"name","description":"The name of the object.","priority":0}`)
}

// Kubernetes: the message for patches is "415: Unsupported Media Type" and does not contain the media type of the request.
func TestDifferenceUnsupportedMediaTypeMessage(t *testing.T) {
	c := newClient(t)
	c.apply("c", "m", `"data":{}`).want(201)
	c.call("PATCH", configMaps+"/c", "{}", "Content-Type: application/foo").want(415).wantText("application/apply-patch+yaml", `received \"application/foo\"`)
	c.call("POST", configMaps, "{}", "Content-Type: application/foo").want(415).wantText("application/json", `received \"application/foo\"`)
	c.call("GET", configMaps, "", "Accept: text/html").want(406).wantText("application/json")
}

// Kubernetes: CBOR is rejected with a 406 unless the feature gate CBORServingAndStorage is enabled.
func TestDifferenceCBORNeedsNoGate(t *testing.T) {
	c := newClient(t)
	c.call("GET", configMaps, "", "Accept: application/cbor").want(200).wantText("\xd9\xd9\xf7", "ConfigMapList")
}

// Kubernetes: the parameter drop of Accept is not supported, and the response contains managedFields.
func TestDifferenceResponsesWithoutManagedFields(t *testing.T) {
	c := newClient(t)
	c.apply("c", "m", `"data":{}`).want(201).wantText("managedFields")
	short := c.call("GET", configMaps+"/c", "", "Accept: application/json;drop=metadata.managedFields").want(200)
	if strings.Contains(short.text, "managedFields") {
		t.Errorf("response with drop=metadata.managedFields: got %s, want no managedFields", short.text)
	}
}

// Kubernetes: the message is always "the server could not find the requested resource", without details; for /foo the response
// is the text "404 page not found" instead of a Status.
func TestDifferenceNotFoundMessages(t *testing.T) {
	c := newClient(t)
	for path, detail := range map[string]string{
		"/api/v1/foos":                                `there is no resource \"foos\" in group \"\"`,
		"/apis/apps/v7/deployments":                   `deployments.apps is served at [v1], not at \"v7\"`,
		"/api/v1/namespaces/default/nodes/x":          "nodes has no namespaces",
		"/api/v1/pods/x":                              "objects of pods are in namespaces: the path must have one",
		"/api/v1/namespaces/default/pods/x/log":       `pods has no subresource \"log\" here`,
		"/api/v1/namespaces/default/configmaps/x/log": `configmaps has no subresource \"log\" here`,
		"/foo": "GET /foo is not served",
	} {
		c.call("GET", path, "").want(404).wantText("the server could not find the requested resource: "+detail, `"reason":"NotFound"`)
	}
}

// Kubernetes: the decoded continue token is {"v":"meta.k8s.io/v1","rv":…,"start":…}.
func TestDifferenceContinueTokens(t *testing.T) {
	c := newClient(t)
	c.apply("a", "m", `"data":{}`).want(201)
	c.apply("b", "m", `"data":{}`).want(201)
	next := strings.Trim(c.call("GET", configMaps+"?limit=1", "").want(200).get("metadata", "continue"), `"`)
	token, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil || !strings.HasPrefix(string(token), `{"v":"cadastre/v1",`) {
		t.Errorf("decoded continue token: got %s, %v, want one that begins with {\"v\":\"cadastre/v1\",", token, err)
	}
	c.call("GET", configMaps+"?limit=1&continue="+next, "").want(200).wantText(`"name":"b"`)
	c.call("GET", "/api/v1/secrets?limit=1&continue="+next, "").want(400).wantText("continue key is not valid: expected what a list of core/secrets returned")
}

// Kubernetes: the headers If-Match and If-None-Match are ignored.
func TestDifferenceConditionalWrites(t *testing.T) {
	c := newClient(t)
	c.apply("c", "m", `"data":{}`, "If-Match: *").want(412)
	c.call("GET", configMaps+"/c", "").want(404)
	c.apply("c", "m", `"data":{}`, "If-None-Match: *").want(201)
	c.apply("c", "m", `"data":{"a":"1"}`, "If-None-Match: *").want(412)
	c.apply("c", "m", `"data":{"a":"1"}`, "If-Match: *").want(200)
	c.call("PUT", configMaps+"/c", configMap("c", `"data":{}`), `If-Match: "7"`).want(400).wantText("metadata.resourceVersion")
	c.call("DELETE", configMaps+"/c", "", `If-Match: "7"`).want(400).wantText("preconditions")
	c.call("DELETE", configMaps+"/c", "", "If-None-Match: *").want(400)
	c.call("DELETE", configMaps, "", `If-Match: "7"`).want(400)
	c.call("DELETE", configMaps+"/c", "", "If-Match: *").want(200)
}

// Kubernetes: there is no parameter takeOver; the field data.left remains, owned by kubectl-client-side-apply.
func TestDifferenceApplyTakesOver(t *testing.T) {
	c := newClient(t)
	c.call("POST", configMaps+"?fieldManager=kubectl-client-side-apply", configMap("c", `"data":{"left":"1","mine":"1"}`)).want(201)
	taken := c.call("PATCH", configMaps+"/c?fieldManager=m&takeOver=client-side-apply", configMap("c", `"data":{"mine":"1"}`), "Content-Type: application/apply-patch+yaml").want(200)
	if strings.Contains(taken.text, "left") || strings.Contains(taken.text, "client-side-apply") {
		t.Errorf("apply with takeOver: got %s, want neither data.left nor the field manager of client-side apply", taken.text)
	}
}

// Kubernetes: an unset marker is rejected with a 500: .data.a: expected string.
func TestDifferenceUnsetMarkers(t *testing.T) {
	c := newClient(t)
	c.apply("c", "alice", `"data":{"a":"1","b":"2"}`).want(201)
	unset := c.apply("c", "alice", `"data":{"a":{"k8s_io__value":"unset"},"b":"2"}`).want(200)
	if got := unset.get("data"); got != `{"b":"2"}` {
		t.Errorf("data after the apply with an unset marker: got %s, want {\"b\":\"2\"}", got)
	}
	c.apply("c", "bob", `"data":{"a":"3"}`).want(409).wantText("alice", "the field is absent")
}

// Kubernetes: a map with the field k8s_io__value is data outside of apply, too.
func TestDifferenceMarkersOutsideOfApply(t *testing.T) {
	c := newClient(t)
	c.call("POST", configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"k8s_io__value":"x"}}`).want(400).wantText(".data: expected a value, received an unset marker")
	c.call("POST", configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"k8s_io__value"}}`).want(201)
}
