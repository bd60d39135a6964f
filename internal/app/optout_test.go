package app

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
)

// withoutManaged returns an Accept header that requests a media type without managedFields.
func withoutManaged(media string) string { return "Accept: " + media + ";drop=metadata.managedFields" }

// TestDropGate checks that the parameter drop has no effect if the feature gate is off, for every verb and encoding.
func TestDropGate(t *testing.T) {
	for _, media := range allMedia {
		t.Run(media, func(t *testing.T) {
			c := start(t, Config{})
			for _, v := range verbs {
				answer := c.call(v.method, v.path, v.body, withoutManaged(media), "Content-Type: "+v.contentType)
				if answer.code >= 300 || countManagedFields(t, decode(t, media, answer.text)) == 0 {
					t.Errorf("%s: received %d %s, want success with managedFields", v.name, answer.code, answer.text)
				}
			}
			if media == "application/yaml" {
				return // watches do not support YAML
			}
			c.call("POST", deployments, deployment("web", "a:1"))
			watch := c.open("GET", deployments+"?watch=true", "", withoutManaged(media))
			defer watch.Body.Close()
			c.call("POST", deployments, deployment("other", "a:1"))
			if event, object := eventReader(t, media, watch.Body)(); event != "ADDED" || countManagedFields(t, object) == 0 {
				t.Errorf("watch: received %s %v, want ADDED with managedFields", event, object)
			}
			if metrics := c.call("GET", "/metrics", "").text; strings.Contains(metrics, droppedMetric+"{") {
				t.Errorf("metric of responses without managedFields: received %s, want none, because the feature gate is off", metrics[strings.Index(metrics, droppedMetric):])
			}
		})
	}
}

// TestDropKeepsOwnership checks that updating an object that was read without managedFields retains the managed fields
// entries of unchanged fields, in every encoding.
func TestDropKeepsOwnership(t *testing.T) {
	for _, media := range allMedia {
		c := start(t, Config{Drop: true})
		c.call("PATCH", deployments+"/web?fieldManager=me", deployment("web", "a:1"), "Content-Type: "+applyType).want(201)
		c.call("PATCH", deployments+"/web?fieldManager=other", `{"metadata":{"labels":{"x":"y"}}}`, "Content-Type: "+mergeType).want(200)
		read := c.call("GET", deployments+"/web", "", withoutManaged(media)).want(200)
		changed := strings.Replace(read.text, "a:1", "a:2", 1) // text of the same length, so that binary encodings remain valid
		put := c.call("PUT", deployments+"/web?fieldManager=putter", changed, "Content-Type: "+media).want(200)
		accessor, err := meta.Accessor(decode(t, "application/json", put.text))
		if err != nil {
			t.Fatal(err)
		}
		owners := map[string]string{}
		for _, entry := range accessor.GetManagedFields() {
			owners[entry.Manager] = entry.FieldsV1.GetRawString()
		}
		const image, label = `"f:image"`, `"f:x"`
		if len(owners) != 3 || !strings.Contains(owners["me"], `"f:containers"`) || strings.Contains(owners["me"], image) ||
			!strings.Contains(owners["other"], label) || !strings.Contains(owners["putter"], image) || strings.Contains(owners["putter"], label) {
			t.Errorf("%s: field managers and their fields: received %v, want me to own containers, other the label, and putter only the image", media, owners)
		}
	}
}

// TestDropIsDiscoverable checks that OpenAPI lists the parameter drop if and only if the feature gate is on.
func TestDropIsDiscoverable(t *testing.T) {
	for _, drop := range []bool{true, false} {
		c := start(t, Config{Drop: drop})
		for _, path := range []string{"/openapi/v2", "/openapi/v3/api/v1"} {
			for _, media := range allMedia {
				if named := strings.Contains(c.call("GET", path, "").text, media+";drop=metadata.managedFields"); named != drop {
					t.Errorf("feature gate enabled = %v: %s lists the parameter drop for %s = %v, want %v", drop, path, media, named, drop)
				}
			}
		}
	}
}

const droppedMetric = "cadastre_managed_fields_dropped_requests_total"

// TestDropIsCounted checks the metric of responses without managedFields, which has one series per verb.
func TestDropIsCounted(t *testing.T) {
	c := start(t, Config{Drop: true})
	expected := map[string]int{}
	for _, v := range verbs {
		c.call(v.method, v.path, v.body, withoutManaged("application/json"), "Content-Type: "+v.contentType)
		verb := v.method
		switch {
		case v.name == "list":
			verb = "LIST"
		case v.contentType == applyType:
			verb = "APPLY"
		}
		expected[verb]++
	}
	watch := c.open("GET", deployments+"?watch=true", "", withoutManaged("application/json"))
	watch.Body.Close()
	expected["WATCH"]++
	c.call("GET", deployments, "").want(200)
	c.call("GET", deployments, "", "Accept: application/json;drop=metadata.annotations").want(200)
	c.call("GET", "/version", "", withoutManaged("application/json")).want(200)
	// Failed requests, and responses that are a Status, are not counted: there are no managedFields to drop.
	c.call("GET", deployments+"/nobody", "", withoutManaged("application/json")).want(404)
	c.call("GET", deployments+"?labelSelector=(", "", withoutManaged("application/json")).want(400)
	c.call("POST", deployments, "{", withoutManaged("application/json")).want(400)
	c.call("GET", deployments+"?watch=true&resourceVersion=x", "", withoutManaged("application/json")).want(400)
	c.call("GET", deployments, "", withoutManaged("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")).want(406)
	c.call("POST", deployments, deployment("gone", "a:1")).want(201)
	c.call("DELETE", deployments+"/gone", "", withoutManaged("application/json")).want(200, `"Success"`)
	counted := map[string]int{}
	line := regexp.MustCompile(droppedMetric + `\{[^}]*verb="([A-Z]+)"[^}]*\} (\d+)`)
	for _, match := range line.FindAllStringSubmatch(c.call("GET", "/metrics", "").text, -1) {
		var n int
		if _, err := fmt.Sscan(match[2], &n); err != nil {
			t.Fatal(err)
		}
		counted[match[1]] += n
	}
	if fmt.Sprint(counted) != fmt.Sprint(expected) {
		t.Errorf("requests counted per verb: received %v, want %v", counted, expected)
	}
}

// TestDropDoesNotChangeWrites checks that stored objects, field ownership and watch events are the same whether responses
// contain managedFields or not.
func TestDropDoesNotChangeWrites(t *testing.T) {
	history := func(accept string) (told []string) {
		c := start(t, Config{Drop: true})
		watch := c.open("GET", deployments+"?watch=true", "")
		defer watch.Body.Close()
		next := eventReader(t, "application/json", watch.Body)
		for _, v := range verbs {
			c.call(v.method, v.path, v.body, accept, "Content-Type: "+v.contentType)
		}
		for range 6 { // the events of create, update, two patches, an apply, and the deletion
			event, object := next()
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			told = append(told, event+" "+variableFields.ReplaceAllString(string(text), `${1}":"…"`))
		}
		return told
	}
	whole, less := history("Accept: application/json"), history(withoutManaged("application/json"))
	for i := range whole {
		if whole[i] != less[i] {
			t.Errorf("event %d: received\n%s\nwant\n%s", i, less[i], whole[i])
		}
	}
	if !strings.Contains(whole[0], "managedFields") {
		t.Errorf("watch without the parameter drop: received %s, want managedFields", whole[0])
	}
}

// variableFields matches the JSON fields whose values differ between servers.
var variableFields = regexp.MustCompile(`("(?:uid|creationTimestamp|time|resourceVersion|lastUpdateTime|lastTransitionTime))":"[^"]*"`)
