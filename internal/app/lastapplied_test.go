package app

import (
	"strings"
	"testing"
)

// TestMigrationFromLastApplied checks that an apply by the field manager kubectl takes over the fields of the
// last-applied-configuration annotation, and that other field managers and other fields are unaffected.
func TestMigrationFromLastApplied(t *testing.T) {
	c := start(t, Config{})
	object := func(annotation, data string) string {
		return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"` +
			strings.ReplaceAll(annotation, `"`, `\"`) + `"}},"data":{` + data + `}}`
	}
	last := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"mine":"1","changed":"1"}}`
	c.call("POST", configMaps+"?fieldManager=kubectl-client-side-apply", object(last, `"mine":"1","changed":"2"`)).want(201)

	c.apply(configMaps+"/c", "other", configMap("c", "mine", "9")).want(409, ".data.mine")
	c.apply(configMaps+"/c", "kubectl", configMap("c", "mine", "9", "changed", "9")).want(409, "Apply failed with 1 conflict", ".data.changed")
	taken := c.apply(configMaps+"/c", "kubectl", configMap("c", "mine", "9")).want(200, `"mine":"9"`, `"changed":"2"`)
	annotation := taken.get("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	if want := `{"apiVersion":"v1","data":{"mine":"9"},"kind":"ConfigMap","metadata":{"name":"c"}}` + "\n"; annotation != want {
		t.Errorf("the annotation is %s, want %s", annotation, want)
	}
	again := c.apply(configMaps+"/c", "kubectl", configMap("c", "mine", "9")).want(200)
	if again.text != taken.text {
		t.Errorf("repeated apply: received %s, want the unchanged %s", again.text, taken.text)
	}
}

// TestTakeOverClientSideApply checks that an apply with takeOver=client-side-apply takes over all fields of client-side apply
// and removes the omitted fields, in one write, and that other field managers still own their fields.
func TestTakeOverClientSideApply(t *testing.T) {
	for _, manager := range []string{"kubectl", "gitops"} {
		t.Run(manager, func(t *testing.T) {
			c := start(t, Config{})
			c.call("POST", configMaps+"?fieldManager=kubectl-client-side-apply", configMap("c", "mine", "1", "left", "1")).want(201)
			c.apply(configMaps+"/c", "other", configMap("c", "theirs", "1")).want(200)

			const asked = "?takeOver=client-side-apply"
			c.apply(configMaps+"/c"+asked, manager, configMap("c", "mine", "2", "theirs", "2")).want(409, "Apply failed with 1 conflict", ".data.theirs")
			foreseen := c.apply(configMaps+"/c"+asked+"&dryRun=All", manager, configMap("c", "mine", "2")).want(200, `"mine":"2"`, `"theirs":"1"`)
			c.call("GET", configMaps+"/c", "").want(200, `"left":"1"`)
			taken := c.apply(configMaps+"/c"+asked, manager, configMap("c", "mine", "2")).want(200, `"mine":"2"`, `"theirs":"1"`)
			for _, answer := range []*testResponse{foreseen, taken} {
				if strings.Contains(answer.text, "client-side-apply") || strings.Contains(answer.text, `"left"`) {
					t.Errorf("response of the take-over: received %s, want no client-side-apply entry and no data.left", answer.text)
				}
			}
			again := c.apply(configMaps+"/c"+asked, manager, configMap("c", "mine", "2")).want(200)
			if again.text != taken.text {
				t.Errorf("repeated take-over: received %s, want the unchanged %s", again.text, taken.text)
			}
		})
	}
}

// TestTakeOverWithoutChangedValues checks that takeOver=client-side-apply transfers the ownership of fields even if no value
// changes.
func TestTakeOverWithoutChangedValues(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps+"?fieldManager=kubectl-client-side-apply", configMap("c", "mine", "1")).want(201)
	c.apply(configMaps+"/c?takeOver=client-side-apply", "gitops", configMap("c", "mine", "1")).want(200)
	if now := c.call("GET", configMaps+"/c", "").want(200, `"manager":"gitops"`).text; strings.Contains(now, "client-side-apply") {
		t.Errorf("object after the take-over: received %s, want no client-side-apply entry", now)
	}
	c.apply(configMaps+"/new?takeOver=client-side-apply", "gitops", configMap("new", "mine", "1")).want(201)
}

// TestTakeOverWithoutManagedFields checks takeOver on an object without managedFields: as in kubectl, the first apply removes
// the fields that are in the last-applied-configuration annotation and not in the configuration, and conflicts are those of
// an apply without takeOver. Without the annotation, takeOver has no effect.
func TestTakeOverWithoutManagedFields(t *testing.T) {
	for _, annotated := range []bool{true, false} {
		c := start(t, Config{})
		annotations := ""
		if annotated {
			annotations = `,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{\"mine\":\"1\",\"left\":\"1\"}}"}`
		}
		c.call("POST", configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"`+annotations+`},"data":{"mine":"1","left":"1"}}`).want(201)
		c.call("PATCH", configMaps+"/c", `{"metadata":{"managedFields":[{}]}}`, "Content-Type: "+mergeType).want(200)
		const asked = "/c?takeOver=client-side-apply"
		c.apply(configMaps+asked, "ci", configMap("c", "mine", "2")).want(409, "before-first-apply", ".data.mine")
		taken := c.apply(configMaps+asked, "kubectl", configMap("c", "mine", "1")).want(200, `"mine":"1"`).text
		if strings.Contains(taken, `"left":"1"`) == annotated || strings.Contains(taken, "before-first-apply") == annotated {
			t.Errorf("annotated=%v: received %s, want data.left and before-first-apply only without the annotation", annotated, taken)
		}
		if again := c.apply(configMaps+asked, "kubectl", configMap("c", "mine", "1")).want(200); again.text != taken {
			t.Errorf("repeated take-over: received %s, want the unchanged %s", again.text, taken)
		}
	}
}

func TestRejectedTakeOver(t *testing.T) {
	c := start(t, Config{})
	c.apply(configMaps+"/c?takeOver=everybody", "m", configMap("c")).want(400, `takeOver: expected client-side-apply, received [\"everybody\"]`)
	c.apply(configMaps+"/c?takeOver=client-side-apply&takeOver=client-side-apply", "m", configMap("c")).want(400, "takeOver: expected client-side-apply")
	c.call("POST", configMaps+"?takeOver=client-side-apply", configMap("c")).want(400, "takeOver: expected an apply")
	c.call("PATCH", configMaps+"/c?takeOver=client-side-apply", `{}`, "Content-Type: "+mergeType).want(400, "takeOver: expected an apply")
	c.apply(deployments+"/d/status?takeOver=client-side-apply", "m", `{}`).want(400, "received an apply to its subresource status")
}
