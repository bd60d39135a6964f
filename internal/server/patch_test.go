package server

import (
	"strings"
	"testing"
)

// TestPatchKeepsFieldSets: on its way through a patch a field set is read as any document, whose
// names have another order. That is no change.
func TestPatchKeepsFieldSets(t *testing.T) {
	c := start(t, Config{})
	applied := c.apply(services+"/web", "alice", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":[{"name":"a","port":80},{"name":"b","port":443}]}}`).want(201)
	patched := c.call("PATCH", services+"/web", `{"spec":{"sessionAffinity":"None"}}`, "Content-Type: "+mergeType).want(200)
	if patched.text != applied.text {
		t.Errorf("a patch of nothing made of %s this: %s", applied.text, patched.text)
	}
}

// TestPatchThatEmpties: a map of which a patch removes the last field goes with it.
func TestPatchThatEmpties(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps, strings.Replace(configMap("e"), `"name":"e"`, `"name":"e","labels":{"a":"1"}`, 1)).want(201)
	for range 2 {
		got := c.call("PATCH", configMaps+"/e", `{"metadata":{"labels":{"a":null}}}`, "Content-Type: "+mergeType).want(200)
		if strings.Contains(got.text, "labels") {
			t.Errorf("there are labels: %s", got.text)
		}
	}
	c.call("PATCH", configMaps+"/e", `{"metadata":{"labels":{}}}`, "Content-Type: "+mergeType).want(200, `"labels":{}`)
}

// TestPatchRefused: a patch that makes no object is invalid, with a cause; of a Secret it is not shown.
func TestPatchRefused(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps, configMap("r")).want(201)
	c.call("PATCH", configMaps+"/r?fieldValidation=Strict", `{"foo":1}`, "Content-Type: "+mergeType).
		want(422, `"field":"patch"`, `"reason":"FieldValueInvalid"`, `strict decoding error: unknown field \"foo\"`)
	c.call("PATCH", configMaps+"/r", `{"op":"test"}`, "Content-Type: application/json-patch+json").want(400, "error decoding patch: expected a list")
	c.call("PATCH", configMaps+"/r", `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, "Content-Type: "+mergeType).
		want(422, "metadata.deletionTimestamp", "field is immutable")
	c.call("POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`).want(201)
	refused := c.call("PATCH", "/api/v1/namespaces/default/secrets/s?fieldValidation=Strict", `{"stringDate":{"a":"hidden"}}`, "Content-Type: "+mergeType).want(422, "stringDate")
	if strings.Contains(refused.text, "hidden") {
		t.Errorf("what is in a Secret is in the error: %s", refused.text)
	}
}

// TestConditionalUpdate: the conditions in headers hold for updates and patches as they do for applies.
func TestConditionalUpdate(t *testing.T) {
	c := start(t, Config{})
	const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	lease := `{"metadata":{"name":"l"}}`
	c.call("PUT", leases+"/l", lease, "If-Match: *").want(412)
	c.call("PUT", leases+"/l", lease, "If-None-Match: *").want(201)
	c.call("PUT", leases+"/l", lease, "If-None-Match: *").want(412)
	c.call("PATCH", leases+"/l", `{"spec":{"holderIdentity":"a"}}`, "If-None-Match: *", "Content-Type: "+mergeType).want(412)
	c.call("PATCH", leases+"/l", `{"spec":{"holderIdentity":"a"}}`, "If-Match: *", "Content-Type: "+mergeType).want(200)
}
