package app

import (
	"fmt"
	"strings"
	"testing"
)

// TestCreateAndUpdate checks create, update and merge patch, and the field manager that they record.
func TestCreateAndUpdate(t *testing.T) {
	c := start(t, Config{})
	created := c.call("POST", configMaps, configMap("a", "x", "1")).want(201)
	if got := created.get("metadata", "managedFields", 0, "manager") + created.get("metadata", "managedFields", 0, "operation"); got != "testerUpdate" {
		t.Errorf("manager and operation of the first entry = %q, want testerUpdate, from the User-Agent", got)
	}
	c.call("POST", configMaps, configMap("a")).want(409, "AlreadyExists")
	generated := c.call("POST", configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"made-"}}`).want(201)
	if name := generated.get("metadata", "name"); !strings.HasPrefix(name, "made-") || len(name) != len("made-")+5 {
		t.Errorf("generated name = %q, want made- and 5 characters", name)
	}
	c.call("POST", configMaps, `{"metadata":{"name":"no-kind"}}`).want(201, `"kind":"ConfigMap"`)
	c.call("POST", configMaps, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\n", "Content-Type: application/yaml").want(201)
	c.call("POST", configMaps, "{}", "Content-Type: text/plain").want(415, "application/json")

	updated := strings.Replace(created.text, `"x":"1"`, `"x":"2"`, 1)
	c.call("PUT", configMaps+"/a", updated).want(200, `"x":"2"`)
	c.call("PUT", configMaps+"/a", updated).want(409, "the object has been modified")
	c.call("PUT", configMaps+"/a", configMap("a", "x", "3")).want(200, `"x":"3"`) // an update without resourceVersion is unconditional
	c.call("PUT", configMaps+"/nope", configMap("nope")).want(404)
	c.call("PUT", configMaps+"/a", configMap("b")).want(400, "does not match the name on the URL")
	other := strings.Replace(configMap("a"), `"name":"a"`, `"name":"a","uid":"other"`, 1)
	c.call("PUT", configMaps+"/a", other).want(409, "UID in precondition: other")
	c.call("PATCH", configMaps+"/a", `{"data":{"x":null,"y":"1"}}`, "Content-Type: "+mergeType).want(200, `"data":{"y":"1"}`)
}

// TestManagedFieldsOfUpdates checks updates that change, reset or try to corrupt managedFields.
func TestManagedFieldsOfUpdates(t *testing.T) {
	c := start(t, Config{})
	c.apply(configMaps+"/m", "applier", configMap("m", "a", "1")).want(201)
	put := func(managed string) *testResponse {
		body := strings.Replace(configMap("m", "a", "1"), `"name":"m"`, `"name":"m","managedFields":`+managed, 1)
		return c.call("PUT", configMaps+"/m", body).want(200)
	}
	entry := func(manager string) string {
		return `{"manager":"` + manager + `","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}`
	}
	c.call("PUT", configMaps+"/m", strings.Replace(configMap("m"), `"name":"m"`, `"name":"m","managedFields":[{"manager":1}]`, 1)).
		want(400, "cannot be handled as a ConfigMap: metadata.managedFields[0].manager: expected a string, received a number")
	c.call("PATCH", configMaps+"/m", `{"metadata":{"managedFields":[{"time":"noon"}]}}`, "Content-Type: "+mergeType).want(422, "patch: Invalid value", "managedFields[0].time")
	c.call("PUT", configMaps+"/m", strings.Replace(configMap("m", "a", "1"), `"name":"m"`, `"name":"m","managedFields":[`+entry(strings.Repeat("m", 129))+`]`, 1)).
		want(422, "metadata.managedFields[0].manager: Too long")
	const nonsense = `[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"nonsense":{}}}]`
	for _, bad := range []string{nonsense, `null`, `[{"manager":"x"}]`, `[{"manager":"x","operation":"Bad","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]`} {
		if got := put(bad).get("metadata", "managedFields", 0, "manager"); got != "applier" {
			t.Errorf("update with managedFields %s: the first manager is %q, want applier, unchanged", bad, got)
		}
	}
	if got := put("["+entry("b")+","+entry("a")+"]").get("metadata", "managedFields", 0, "manager"); got != "a" {
		t.Errorf("first manager after an update with the entries b, a = %q, want a, as entries are sorted", got)
	}
	for _, reset := range []string{`[]`, `[{}]`, `[null]`, `[{"manager":"","fieldsV1":null}]`} {
		if got := put(reset).get("metadata", "managedFields"); got != "" {
			t.Errorf("update with managedFields %s: received %s, want none", reset, got)
		}
		c.apply(configMaps+"/m?force=true", "applier", configMap("m", "a", "1")).want(200, `"manager":"applier"`)
	}
}

// TestFieldValidation checks that unknown fields are dropped with a warning, dropped silently, or rejected, depending on
// fieldValidation.
func TestFieldValidation(t *testing.T) {
	c := start(t, Config{})
	body := strings.Replace(configMap("v"), `"data"`, `"foo":1,"data"`, 1)
	c.call("POST", configMaps+"?fieldValidation=Strict", body).want(400, `strict decoding error: unknown field \"foo\"`)
	warned := c.call("POST", configMaps, body).want(201)
	if got := warned.header.Get("Warning"); got != `299 - "unknown field \"foo\""` {
		t.Errorf("default fieldValidation: received warning %s, want one for foo", got)
	}
	body = strings.Replace(body, `"v"`, `"w"`, 1)
	if got := c.call("POST", configMaps+"?fieldValidation=Ignore", body).want(201).header.Get("Warning"); got != "" {
		t.Errorf("fieldValidation=Ignore: received warning %s, want none", got)
	}
	c.call("PATCH", configMaps+"/w?fieldValidation=Strict", `{"foo":1}`, "Content-Type: "+mergeType).
		want(422, `\"\" is invalid: patch: Invalid value: \"{\\\"foo\\\":1}\": strict decoding error: unknown field \"foo\"`, `"causes"`, "FieldValueInvalid")
	c.call("POST", configMaps+"?fieldValidation=Loud", body).want(422, "fieldValidation")
}

// TestDelete checks preconditions and finalizers of deletions, and deletecollection.
func TestDelete(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps, configMap("d")).want(201)
	c.call("DELETE", configMaps+"/d", `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"other"}}`).want(409, `on ConfigMap \"d\": the UID in the precondition (other) does not match the UID in record (`, "). The object might have been deleted and then recreated")
	c.call("DELETE", configMaps+"/d", `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"1"}}`).want(409, "the ResourceVersion in the precondition (1) does not match", "). The object might have been modified")
	c.call("DELETE", configMaps+"/d", "").want(200, `"status":"Success"`, `"name":"d"`)
	c.call("DELETE", configMaps+"/d", "").want(404)
	c.call("DELETE", configMaps+"/d?propagationPolicy=Never", "").want(422, "propagationPolicy")

	held := strings.Replace(configMap("held"), `"name"`, `"finalizers":["example.org/hold"],"name"`, 1)
	c.call("POST", configMaps, held).want(201)
	c.call("DELETE", configMaps+"/held", "").want(200, "deletionTimestamp")
	c.call("DELETE", configMaps+"/held", "").want(200, "deletionTimestamp")
	c.call("PATCH", configMaps+"/held", `{"metadata":{"finalizers":null}}`, "Content-Type: "+mergeType).want(200)
	c.call("GET", configMaps+"/held", "").want(404)

	for i := range 5 {
		labelled := strings.Replace(configMap(fmt.Sprint("many-", i)), `"name"`, fmt.Sprintf(`"labels":{"odd":"%d"},"name"`, i%2), 1)
		c.call("POST", configMaps, labelled).want(201)
	}
	deleted := c.call("DELETE", configMaps+"?labelSelector=odd%3D1", "").want(200, `"kind":"ConfigMapList"`)
	if deleted.get("items", 1, "metadata", "name") != "many-3" || deleted.get("items", 2) != "" {
		t.Errorf("deletecollection with odd=1: received %s, want many-1 and many-3", deleted.text)
	}
	if left := c.call("GET", configMaps+"?labelSelector=odd", "").want(200); left.get("items", 2) == "" || left.get("items", 3) != "" {
		t.Errorf("objects after deletecollection: received %s, want 3", left.text)
	}
}

// TestSubresources checks that writes to the subresources status and scale change only the fields of these subresources.
func TestSubresources(t *testing.T) {
	c := start(t, Config{})
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	deployment := func(replicas int, rest string) string {
		return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":%d,"selector":{"matchLabels":{"a":"b"}},`+
			`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"nginx"}]}}}%s}`, replicas, rest)
	}
	created := c.apply(deployments+"/web", "m", deployment(1, `,"status":{"replicas":5}`)).want(201, `"imagePullPolicy":"Always"`, `"status":{}`)
	if strings.Contains(created.text, `"f:status"`) {
		t.Errorf("managedFields after an apply of the main resource: received %s, want no status fields", created.text)
	}
	c.call("PUT", deployments+"/web/status", deployment(9, `,"status":{"replicas":5}`)).want(200, `"replicas":5`, `"subresource":"status"`)
	c.call("GET", deployments+"/web", "").want(200, `"replicas":1`, `"replicas":5`, `"generation":1`)
	c.call("GET", deployments+"/web/scale", "").want(200, `"kind":"Scale"`, `"spec":{"replicas":1}`, `"selector":"a=b"`)
	scale := `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"web"},"spec":{"replicas":3}}`
	c.apply(deployments+"/web/scale", "scaler", scale).want(409, ".spec.replicas")
	c.apply(deployments+"/web/scale?force=true", "scaler", scale).want(200, `"spec":{"replicas":3}`)
	c.call("GET", deployments+"/web", "").want(200, `"generation":2`, `"subresource":"scale"`)
	patch := func(replicas string) *testResponse {
		return c.call("PATCH", deployments+"/web/scale", `{"spec":{"replicas":`+replicas+`}}`, "Content-Type: "+mergeType)
	}
	patch("-1").want(422, `Scale.autoscaling \"web\" is invalid: spec.replicas`)
	patch("0").want(200, `"spec":{}`)
	if got := c.call("GET", deployments+"/web", "").want(200, `"replicas":0`).text; strings.Contains(got, `"subresource":"scale"`) {
		t.Errorf("spec.replicas after a patch to 0: received %s, want no managed fields entry for scale", got)
	}
	c.call("GET", deployments+"/web/log", "").want(404, "no subresource")
	c.call("POST", deployments+"/web/status", deployment(1, "")).want(405)
}

// TestEventValidationByVersion checks that an Event is validated by the rules of the API version at which it was sent.
func TestEventValidationByVersion(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", "/api/v1/namespaces/default/events", `{"metadata":{"name":"old"},"involvedObject":{"kind":"Pod","namespace":"default"},"type":"Odd"}`).want(201)
	c.call("POST", "/apis/events.k8s.io/v1/namespaces/default/events", `{"metadata":{"name":"new"},"regarding":{"kind":"Pod","namespace":"default"},"type":"Odd"}`).
		want(422, `"field":"eventTime"`, `"field":"type"`)
}
