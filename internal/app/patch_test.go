package app

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestPatchKeepsFieldSets checks that a no-op patch does not change managedFields, not even the order of the members of
// fieldsV1.
func TestPatchKeepsFieldSets(t *testing.T) {
	c := start(t, Config{})
	applied := c.apply(services+"/web", "alice", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web"},"spec":{"ports":[{"name":"a","port":80},{"name":"b","port":443}]}}`).want(201)
	patched := c.call("PATCH", services+"/web", `{"spec":{"sessionAffinity":"None"}}`, "Content-Type: "+mergeType).want(200)
	if patched.text != applied.text {
		t.Errorf("object after a no-op patch = %s, want %s", patched.text, applied.text)
	}
}

// TestPatchThatEmptiesMap checks that a patch that removes the last field of a map removes the map, too. An empty map in a
// patch is stored, except for new labels and annotations.
func TestPatchThatEmptiesMap(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps, strings.Replace(configMap("e"), `"name":"e"`, `"name":"e","labels":{"a":"1"}`, 1)).want(201)
	for _, patch := range []string{`{"labels":{"a":null}}`, `{"labels":{"a":null}}`, `{"labels":{},"annotations":{}}`} {
		got := c.call("PATCH", configMaps+"/e", `{"metadata":`+patch+`}`, "Content-Type: "+mergeType).want(200)
		if strings.Contains(got.text, "labels") || strings.Contains(got.text, "annotations") {
			t.Errorf("after %s: received %s, want no labels and no annotations", patch, got.text)
		}
	}
	c.call("PATCH", configMaps+"/e", `{"binaryData":{}}`, "Content-Type: "+mergeType).want(200, `"binaryData":{}`)
}

// TestInvalidPatch checks that a patch whose result is not a valid object of the kind is rejected with a 422, and that the
// error for a Secret does not contain its values.
func TestInvalidPatch(t *testing.T) {
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
		t.Errorf("the error contains a value of the Secret: %s", refused.text)
	}
}

// TestConditionalUpdate checks updates and patches with If-Match and If-None-Match.
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

// TestUnknownFieldsOfJSONPatches checks that unknown fields in the operations of a JSON patch are ignored, warned of or
// rejected, depending on fieldValidation.
func TestUnknownFieldsOfJSONPatches(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps, configMap("u")).want(201)
	const patch = `[{"op":"add","path":"/data","value":{"a":"1"},"vaule":2},{"op":"add","path":"/dta","value":{}}]`
	send := func(validation string) *testResponse {
		return c.call("PATCH", configMaps+"/u?fieldValidation="+validation, patch, "Content-Type: application/json-patch+json")
	}
	if got := strings.Join(send("Warn").want(200).header["Warning"], "; "); got != `299 - "json patch unknown field \"[0].vaule\""; 299 - "unknown field \"dta\""` {
		t.Errorf("fieldValidation=Warn: received warnings %s, want one for [0].vaule and one for dta", got)
	}
	send("Strict").want(422, `strict decoding error: json patch unknown field \"[0].vaule\", unknown field \"dta\"`)
	if got := send("Ignore").want(200).header["Warning"]; got != nil {
		t.Errorf("fieldValidation=Ignore: received warnings %s, want none", got)
	}
}

// TestPatchLimits checks Kubernetes' maximum number of operations and of copied bytes of a JSON patch.
func TestPatchLimits(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps, configMap("l")).want(201)
	operations := func(count int, operation string) string {
		return "[" + strings.Repeat(operation+",", count-1) + operation + "]"
	}
	const add, double = `{"op":"add","path":"/data","value":{"a":"1"}}`, `{"op":"copy","from":"/metadata","path":"/metadata/a"},{"op":"copy","from":"/metadata","path":"/metadata/b"}`
	send := func(patch string) *testResponse {
		return c.call("PATCH", configMaps+"/l", patch, "Content-Type: application/json-patch+json")
	}
	send(operations(10_000, add)).want(200)
	send(operations(10_001, add)).want(413, "at most 10000 operations")
	send(operations(50, double)).want(422, "bytes copied by one patch")
	send(`[{"op":"test","path":"/data/a","value":"1"},{"op":"test","path":"/data/a","value":"2"}]`).want(422, `[1]: expected the value \"2\" at \"/data/a\", received \"1\"`)
}

// TestConcurrentPatches checks that concurrent patches of one object all succeed without conflicts, and that no change is
// lost.
func TestConcurrentPatches(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps, configMap("race")).want(201)
	c.call("PATCH", configMaps+"/race", `{"data":{"a":"1"}}`, "Content-Type: "+mergeType).want(200)
	types := []string{mergeType, "application/strategic-merge-patch+json", "application/json-patch+json"}
	const each = 20
	var all sync.WaitGroup
	for worker, contentType := range types {
		for n := range each {
			all.Go(func() {
				key := fmt.Sprintf("k%d-%d", worker, n)
				patch := `{"foo":1,"data":{"` + key + `":"1"}}`
				if strings.Contains(contentType, "json-patch") {
					patch = `[{"op":"add","path":"/foo","value":1},{"op":"add","path":"/data/` + key + `","value":"1"}]`
				}
				got := c.call("PATCH", configMaps+"/race", patch, "Content-Type: "+contentType)
				if warnings := got.header["Warning"]; got.code != 200 || len(warnings) != 1 {
					t.Errorf("%s: received %d %s, warnings %q; want 200 with one warning", contentType, got.code, got.text, warnings)
				}
			})
		}
	}
	all.Wait()
	got := c.call("GET", configMaps+"/race", "").want(200)
	for worker := range types {
		for n := range each {
			if key := fmt.Sprintf(`"k%d-%d":"1"`, worker, n); !strings.Contains(got.text, key) {
				t.Errorf("the change %s is lost", key)
			}
		}
	}
}
