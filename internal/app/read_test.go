package app

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestList checks selectors, pagination at a consistent revision, and resourceVersion parameters of lists.
func TestList(t *testing.T) {
	c := start(t, Config{})
	for i := range 7 {
		c.call("POST", configMaps, configMap(fmt.Sprint("l", i))).want(201)
	}
	var names []string
	token, revision := "", ""
	for page := 0; ; page++ {
		list := c.call("GET", configMaps+"?limit=3&continue="+url.QueryEscape(token), "").want(200)
		if page == 0 {
			revision = list.get("metadata", "resourceVersion")
			if got := list.get("metadata", "remainingItemCount"); got != "4" {
				t.Errorf("remainingItemCount = %s, want 4", got)
			}
			c.call("DELETE", configMaps+"/l5", "").want(200) // later pages are at the revision of the first page, and still contain l5
		}
		if got := list.get("metadata", "resourceVersion"); got != revision {
			t.Errorf("page %d: resourceVersion = %s, want %s", page, got, revision)
		}
		for i := 0; list.get("items", i) != ""; i++ {
			names = append(names, list.get("items", i, "metadata", "name"))
		}
		if token = list.get("metadata", "continue"); token == "" {
			break
		}
	}
	if got := strings.Join(names, " "); got != "l0 l1 l2 l3 l4 l5 l6" {
		t.Errorf("names of all pages: received %s, want l0 to l6", got)
	}
	c.call("GET", configMaps+"?continue=nonsense", "").want(400, "continue key is not valid")
	for _, revision := range []int64{0, -2} { // the server never returns these revisions
		forged := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"v":"cadastre/v1","rv":%d,"after":"core/configmaps/default/a"}`, revision))
		c.call("GET", configMaps+"?continue="+forged, "").want(400, "continue key is not valid")
	}
	one := c.call("GET", configMaps+"?fieldSelector=metadata.name%3Dl3", "").want(200)
	if one.get("items", 0, "metadata", "name") != "l3" || one.get("items", 1) != "" {
		t.Errorf("list with metadata.name=l3: received %s, want l3 only", one.text)
	}
	c.call("GET", configMaps+"?fieldSelector=spec.x%3D1", "").want(400, "spec.x")
	c.call("GET", configMaps+"?labelSelector=a%3D%3D%3Db", "").want(400, "found '='")
	c.call("GET", configMaps+"?resourceVersion=999999&resourceVersionMatch=NotOlderThan", "").want(504, "Too large resource version")
	c.call("GET", configMaps+"?resourceVersionMatch=Exact", "").want(422, "resourceVersionMatch is forbidden unless resourceVersion is provided")
	if got := c.call("GET", configMaps+"?resourceVersionMatch=Exact&resourceVersion="+revision, "").want(200).get("items", 6, "metadata", "name"); got != "l6" {
		t.Errorf("last item of an exact list at the revision of the first page: received %q, want l6", got)
	}
}

// TestForms checks responses as a Table, as PartialObjectMetadata, and in YAML.
func TestForms(t *testing.T) {
	c := start(t, Config{})
	c.call("POST", configMaps, configMap("f", "a", "1", "b", "2")).want(201)
	table := c.call("GET", configMaps, "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json").want(200, `"kind":"Table"`)
	if got := table.get("rows", 0, "cells", 1); got != "2" {
		t.Errorf("the second cell = %s, want the number of data keys", got)
	}
	partial := c.call("GET", configMaps+"/f", "", "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io").want(200, `"kind":"PartialObjectMetadata"`)
	if partial.get("data") != "" || partial.get("metadata", "name") != "f" {
		t.Errorf("PartialObjectMetadata: received %s, want the name and no data", partial.text)
	}
	yaml := c.call("GET", configMaps+"/f", "", "Accept: application/yaml").want(200, "kind: ConfigMap\n")
	if got := yaml.header.Get("Content-Type"); got != "application/yaml" {
		t.Errorf("Content-Type = %q, want application/yaml", got)
	}
	c.call("GET", configMaps+"/f", "", "Accept: image/png").want(406, "NotAcceptable")
	c.call("GET", configMaps+"/f?pretty=true", "").want(200, "{\n  \"")
}

// TestNonResourcePaths checks health, version, discovery and metrics endpoints, and the errors for unknown paths.
func TestNonResourcePaths(t *testing.T) {
	c := start(t, Config{})
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		c.call("GET", path, "").want(200, "ok")
	}
	c.call("GET", "/version", "").want(200, `"minor":"37"`)
	c.call("GET", "/apis", "").want(200, `"APIGroupList"`)
	c.call("GET", "/openapi/v3", "").want(200, "apis/apps/v1")
	c.call("GET", "/nothing", "").want(404, "/nothing")
	c.call("GET", "/apis/apps/v1/namespaces/default/nothings", "").want(404, "nothings")
	c.call("GET", "/apis/apps/v7/namespaces/default/deployments", "").want(404, "v7")
	c.call("GET", "/api/v1/configmaps/x", "").want(404, "the path must have one")
	c.call("GET", "/api/v1/namespaces/default/nodes", "").want(404, "has no namespaces")
	c.call("POST", configMaps+"/x", "{}").want(405)
	c.apply(configMaps+"/counted", "m", configMap("counted")).want(201)
	metrics := c.call("GET", "/metrics", "").want(200).text
	if !strings.Contains(metrics, `apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="APPLY",version="v1"} 1`) {
		t.Errorf("metrics =\n%s\nwant one counted apply of ConfigMaps", metrics)
	}
}

// TestEventSource checks that the field selector source of Events matches source.component, or reportingComponent if
// source.component is empty.
func TestEventSource(t *testing.T) {
	c := start(t, Config{})
	const events = "/api/v1/namespaces/default/events"
	event := func(name, rest string) string {
		return `{"apiVersion":"v1","kind":"Event","metadata":{"name":"` + name + `"},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},` + rest + `}`
	}
	c.call("POST", events, event("old", `"source":{"component":"kubelet"}`)).want(201)
	c.call("POST", events, event("new", `"reportingComponent":"kubelet"`)).want(201)
	c.call("POST", events, event("both", `"source":{"component":"other"},"reportingComponent":"kubelet"`)).want(201)
	list := c.call("GET", events+"?fieldSelector=source%3Dkubelet", "").want(200, `"old"`, `"new"`)
	if list.get("items", 2) != "" {
		t.Errorf("list with source=kubelet: received %s, want old and new only", list.text)
	}
}

// TestPaths checks that every path that is listed at / can be read, that resources do not support HEAD, as in Kubernetes,
// and that a watch with a negative timeout ends.
func TestPaths(t *testing.T) {
	c := start(t, Config{})
	root := c.call("GET", "/", "")
	var paths struct{ Paths []string }
	if err := json.Unmarshal([]byte(root.text), &paths); err != nil || root.code != 200 {
		t.Fatalf("GET /: received %d %s, error %v, want 200 with a list of paths", root.code, root.text, err)
	}
	for _, path := range []string{"/api/v1", "/apis/apps", "/apis/apps/v1", "/healthz/ping", "/readyz/shutdown", "/version"} {
		if !slices.Contains(paths.Paths, path) {
			t.Errorf("path %s is not listed at /, which lists %q", path, paths.Paths)
		}
	}
	for _, path := range paths.Paths {
		if answer := c.call("GET", path, ""); answer.code != 200 {
			t.Errorf("GET %s: received %d %s, want 200", path, answer.code, answer.text)
		}
	}
	if answer := c.call("HEAD", "/api/v1/namespaces", ""); answer.code != 405 {
		t.Errorf("HEAD of namespaces: received %d, want 405", answer.code)
	}
	begun := time.Now()
	if answer := c.call("GET", "/api/v1/namespaces?watch=1&timeoutSeconds=-5", ""); answer.code != 200 || time.Since(begun) > time.Minute {
		t.Errorf("watch with a negative timeout: received %d after %v, want 200 and its end within a minute", answer.code, time.Since(begun))
	}
}
