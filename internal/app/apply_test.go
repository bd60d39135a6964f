package app

import (
	"strings"
	"testing"
)

// TestApplyStory runs the example of the README: two field managers, a conflict, force, co-ownership, removal and unset.
func TestApplyStory(t *testing.T) {
	c := start(t, Config{})
	c.apply(configMaps+"/shared", "alice", configMap("shared", "color", "red", "size", "1")).want(201)
	c.apply(configMaps+"/shared", "bob", configMap("shared", "shape", "round")).want(200)

	conflict := c.apply(configMaps+"/shared", "bob", configMap("shared", "shape", "round", "color", "blue")).
		want(409, `Apply failed with 1 conflict: conflict with \"alice\": .data.color`)
	if got := conflict.get("details", "causes", 0, "reason"); got != "FieldManagerConflict" {
		t.Errorf("reason of the cause = %q, want FieldManagerConflict", got)
	}
	message := conflict.get("details", "causes", 0, "message")
	if !strings.HasPrefix(message, `conflict with "alice"`) || !strings.Contains(message, `"red"`) || !strings.Contains(message, `"blue"`) || !strings.Contains(message, "since 2") {
		t.Errorf("message of the cause = %q, want the field manager, both values and the time", message)
	}

	c.apply(configMaps+"/shared?force=true", "bob", configMap("shared", "shape", "round", "color", "blue")).want(200, `"color":"blue"`)
	c.apply(configMaps+"/shared", "alice", configMap("shared", "size", "1", "shape", "round")).want(200) // alice and bob co-own shape
	c.apply(configMaps+"/shared", "bob", configMap("shared", "color", "blue")).want(200, `"shape":"round"`)
	c.apply(configMaps+"/shared", "alice", configMap("shared", "size", "1")).want(200)
	if got := c.call("GET", configMaps+"/shared", "").want(200).get("data"); got != `{"color":"blue","size":"1"}` {
		t.Errorf("data after both managers removed shape: received %s, want color and size", got)
	}

	unset := strings.Replace(configMap("shared", "color", "blue"), `"blue"`, `{"k8s_io__value":"unset"}`, 1)
	after := c.apply(configMaps+"/shared", "bob", unset).want(200)
	if got := after.get("data"); got != `{"size":"1"}` {
		t.Errorf("data after unsetting color: received %s, want size only", got)
	}
	c.apply(configMaps+"/shared", "carol", configMap("shared", "color", "green")).want(409, "bob")
}

// TestApplyTwice checks that repeating a write is a no-op, for every verb and content type.
func TestApplyTwice(t *testing.T) {
	c := start(t, Config{})
	first := c.apply(configMaps+"/same", "m", configMap("same", "a", "1")).want(201)
	yaml := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: same\ndata:\n  a: \"1\"\n"
	for _, config := range []string{configMap("same", "a", "1"), yaml} {
		if again := c.apply(configMaps+"/same", "m", config).want(200); again.text != first.text {
			t.Errorf("repeated apply: got %s, want %s", again.text, first.text)
		}
	}
	put := c.call("PUT", configMaps+"/same", first.text).want(200)
	if put.text != first.text {
		t.Errorf("update without a change: got %s, want %s", put.text, first.text)
	}
	if patched := c.call("PATCH", configMaps+"/same", `{"data":{"a":"1"}}`, "Content-Type: "+mergeType).want(200); patched.text != first.text {
		t.Errorf("patch without a change: got %s, want %s", patched.text, first.text)
	}
}

// TestRejectedConfigurations checks the errors for configurations that cannot be applied. The messages are those of
// Kubernetes.
func TestRejectedConfigurations(t *testing.T) {
	c := start(t, Config{})
	c.apply(configMaps+"/c", "m", configMap("c", "a", "1")).want(201)
	metadata := func(text string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{` + text + `}}`
	}
	for _, test := range []struct {
		name, path, config string
		code               int
		contains           string
	}{
		{"no manager", "/c", configMap("c"), 422, "fieldManager: Required value: is required for apply patch"},
		{"managedFields", "/c?fieldManager=m", metadata(`"name":"c","managedFields":[{"manager":"x"}]`), 400, "metadata.managedFields must be nil"},
		{"empty managedFields", "/c?fieldManager=m", metadata(`"name":"c","managedFields":[]`), 400, "metadata.managedFields must be nil"},
		{"other name", "/c?fieldManager=m", configMap("d"), 400, "the name of the object (d) does not match the name on the URL (c)"},
		{"no name for a new object", "/n?fieldManager=m", metadata(``), 400, "name must be provided"},
		{"other namespace", "/c?fieldManager=m", metadata(`"name":"c","namespace":"x"`), 400, "the namespace of the provided object does not match the namespace sent on the request"},
		{"uid of nothing", "/n?fieldManager=m", metadata(`"name":"n","uid":"u"`), 409, "uid mismatch: the provided object specified uid u, and no existing object was found"},
		{"version of nothing that is no number", "/n?fieldManager=m", metadata(`"name":"n","resourceVersion":"x"`), 400, "metadata.resourceVersion: expected a number"},
		{"old version", "/c?fieldManager=m", metadata(`"name":"c","resourceVersion":"1"`), 409, "the object has been modified"},
		{"unknown field", "/c?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"foo":1}`, 400, "failed to create typed patch object (default/c; /v1, Kind=ConfigMap): .foo"},
		{"wrong type", "/c?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":1}}`, 400, ".data.a"},
		{"no kind", "/c?fieldManager=m", `{"metadata":{"name":"c"}}`, 400, "invalid object type"},
		{"another kind", "/c?fieldManager=m", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"c"}}`, 400, "Secret"},
		{"not YAML", "/c?fieldManager=m", "{a: [", 400, "line 1"},
		{"a list", "/c?fieldManager=m", "[1]", 400, "expected an object"},
		{"twice", "/c?fieldManager=m", `{"apiVersion":"v1","kind":"ConfigMap","kind":"ConfigMap","metadata":{"name":"c"}}`, 400, "kind"},
		{"no namespace", "/../../nope/configmaps/c?fieldManager=m", configMap("c"), 404, `namespaces \"nope\" not found`},
		{"a manager that is too long", "/c?fieldManager=" + strings.Repeat("m", 129), configMap("c"), 422, "may not be more than 128"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := strings.Replace(configMaps+test.path, "default/configmaps/../../", "", 1)
			c.withT(t).call("PATCH", path, test.config, "Content-Type: "+applyType).want(test.code, test.contains)
		})
	}
	c.apply(configMaps+"/created", "m", metadata(`"name":"created","resourceVersion":"7"`)).want(201) // Kubernetes ignores a resourceVersion in an apply that creates
}

// TestConditionalApply checks applies with If-Match and If-None-Match, an extension that Kubernetes does not support.
func TestConditionalApply(t *testing.T) {
	c := start(t, Config{})
	c.apply(configMaps+"/x", "m", configMap("x"), "If-Match: *").want(412, "only updates")
	c.apply(configMaps+"/x", "m", configMap("x"), "If-None-Match: *").want(201)
	c.apply(configMaps+"/x", "m", configMap("x", "a", "b"), "If-None-Match: *").want(412, "only creates")
	c.apply(configMaps+"/x", "m", configMap("x", "a", "b"), "If-Match: *").want(200)
	c.apply(configMaps+"/x", "m", configMap("x"), `If-Match: "5"`).want(400, "metadata.resourceVersion")
}

// TestDryRun checks that a dry run does everything except the commit.
func TestDryRun(t *testing.T) {
	c := start(t, Config{})
	created := c.apply(configMaps+"/dry?dryRun=All", "m", configMap("dry", "a", "1")).want(201, `"uid"`)
	if got := created.get("metadata", "resourceVersion"); got != "" {
		t.Errorf("object created in a dry run: received resourceVersion %s, want none", got)
	}
	c.call("GET", configMaps+"/dry", "").want(404)
	there := c.apply(configMaps+"/dry", "m", configMap("dry", "a", "1")).want(201)
	c.apply(configMaps+"/dry?dryRun=All", "m", configMap("dry", "a", "2")).want(200, `"a":"2"`)
	c.call("DELETE", configMaps+"/dry?dryRun=All", "").want(200)
	if now := c.call("GET", configMaps+"/dry", "").want(200); now.text != there.text {
		t.Errorf("object after dry runs: received %s, want %s", now.text, there.text)
	}
	c.apply(configMaps+"/dry?dryRun=Some", "m", configMap("dry")).want(422, "dryRun")
}
