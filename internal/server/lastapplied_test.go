package server

import (
	"strings"
	"testing"
)

// TestComingFromClientSideApply: kubectl takes over what its annotation shows to be its own, and
// only kubectl, and only that.
func TestComingFromClientSideApply(t *testing.T) {
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
		t.Errorf("received %s, want %s", again.text, taken.text)
	}
}
