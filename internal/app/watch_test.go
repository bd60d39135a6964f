package app

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/server"
)

// TestWatch checks watches without a resourceVersion, from a resourceVersion, with initial events, and with bookmarks.
// wire.TestExpired checks expired resourceVersions.
func TestWatch(t *testing.T) {
	c := start(t, Config{})
	first := c.call("POST", configMaps, configMap("w1")).want(201).get("metadata", "resourceVersion")
	state := c.watch(configMaps + "?watch=true")
	state.want("ADDED", "w1")
	later := c.watch(configMaps + "?watch=true&resourceVersion=" + first)
	named := c.watch(configMaps + "?watch=true&fieldSelector=metadata.name%3Dw2&resourceVersion=" + first)
	c.call("POST", configMaps, configMap("w2")).want(201)
	c.call("PATCH", configMaps+"/w1", `{"data":{"a":"1"}}`, "Content-Type: "+mergeType).want(200)
	c.call("DELETE", configMaps+"/w2", "").want(200)
	for _, w := range []*events{state, later} {
		w.want("ADDED", "w2")
		w.want("MODIFIED", "w1")
		w.want("DELETED", "w2")
	}
	named.want("ADDED", "w2")
	named.want("DELETED", "w2")

	listed := c.watch(configMaps + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
	listed.want("ADDED", "w1")
	if end := listed.next(); end["type"] != "BOOKMARK" || jsonAt(end, "object", "metadata", "annotations", "k8s.io/initial-events-end") != "true" {
		t.Errorf("event after the initial state = %v, want the bookmark that ends the initial events", end)
	}

	short := c.watch(configMaps + "?watch=true&timeoutSeconds=1&allowWatchBookmarks=true")
	short.want("ADDED", "w1")
	if end := short.next(); jsonAt(end, "object", "metadata", "annotations", "k8s.io/initial-events-end") != "true" {
		t.Errorf("event after the initial state = %v, want the bookmark that ends the initial events", end)
	}
	if last := short.next(); last["type"] != "BOOKMARK" {
		t.Errorf("last event before the timeout = %v, want a BOOKMARK", last)
	}
	if more := short.next(); more != nil {
		t.Errorf("event after the timeout = %v, want the end of the watch", more)
	}
	c.call("GET", configMaps+"?watch=true&sendInitialEvents=true", "").want(422, "sendInitialEvents requires setting resourceVersionMatch")
}

// TestIdleWatch checks that a watch without events stays open longer than the write timeout of the server.
func TestIdleWatch(t *testing.T) {
	c := start(t, Config{Limits: server.Limits{RequestTimeout: 500 * time.Millisecond}})
	w := c.watch(configMaps + "?watch=true&timeoutSeconds=9223372036854775807")
	for _, name := range []string{"first", "second"} {
		time.Sleep(1200 * time.Millisecond) // longer than the write timeout
		c.call("POST", configMaps, configMap(name)).want(201)
		w.want("ADDED", name)
	}
}

// TestWatchTables checks that a watch, as by kubectl get -w, can receive events as Tables.
func TestWatchTables(t *testing.T) {
	c := start(t, Config{})
	w := c.watch(configMaps+"?watch=true", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
	c.call("POST", configMaps, configMap("row")).want(201)
	if event := w.next(); jsonAt(event, "object", "kind") != "Table" || jsonAt(event, "object", "rows", 0, "cells", 0) != "row" {
		t.Errorf("event = %v, want a Table with the row of the ConfigMap", event)
	}
}

// TestWatchEndsDuringInitialEvents checks that a watch that the server ends during the initial events sends no bookmark.
func TestWatchEndsDuringInitialEvents(t *testing.T) {
	halfway := 0
	for range 20 {
		s, err := Start(t.Context(), Config{Address: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		s.handler.Drain() // each later watch ends immediately
		a := clientOf(t, s).call("GET", "/api/v1/namespaces?watch=true&allowWatchBookmarks=true", "")
		if a.code == 200 && strings.Contains(a.text, "BOOKMARK") && strings.Count(a.text, "ADDED") != 4 {
			t.Errorf("response of a watch that ended during the initial events = %s, want no bookmark before all 4 initial events", a.text)
		}
		if a.code == 200 && strings.Count(a.text, "ADDED") < 4 {
			halfway++
		}
		if err := s.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if halfway == 0 {
		t.Error("no watch ended during the initial events")
	}
}

// TestWatchEnds checks that a server that is shutting down ends watches with a bookmark from which clients can resume.
func TestWatchEnds(t *testing.T) {
	s, err := Start(t.Context(), Config{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	w := clientOf(t, s).watch("/api/v1/namespaces?watch=true&allowWatchBookmarks=true")
	for _, name := range []string{"default", "kube-node-lease", "kube-public", "kube-system", ""} {
		kind := "ADDED"
		if name == "" {
			kind = "BOOKMARK" // the bookmark marks the end of the initial events
		}
		w.want(kind, name)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	var types []string
	for event := w.next(); event != nil; event = w.next() {
		types = append(types, event["type"].(string))
	}
	if got := strings.Join(types, " "); got != "BOOKMARK" {
		t.Errorf("events after Stop: received %q, want one BOOKMARK", got)
	}
}

// TestDifferenceUnacceptableRequestIsNotExecuted checks that a request is rejected with 406 before it is executed if its
// response could not be encoded. Kubernetes executes such a write and then responds with 406; in Kubernetes such a watch
// starts, and ends without an error at the first event.
func TestDifferenceUnacceptableRequestIsNotExecuted(t *testing.T) {
	c := start(t, Config{})
	const one, list = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io", ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
	c.call("POST", configMaps, mapBody("there", `{"a":"1"}`)).want(201)
	before := c.call("GET", configMaps+"/there", "").want(200).text
	for _, media := range allMedia {
		asList, asOne := "Accept: "+media+list, "Accept: "+media+one
		c.call("POST", configMaps, mapBody("new", `{}`), asList).want(406, "is not a list")
		c.call("PUT", configMaps+"/there", mapBody("there", `{"a":"2"}`), asList).want(406, "is not a list")
		c.call("PATCH", configMaps+"/there", `{"data":{"a":"2"}}`, asList, "Content-Type: "+mergeType).want(406, "is not a list")
		c.call("PATCH", configMaps+"/new?fieldManager=me", mapBody("new", `{}`), asList, "Content-Type: "+applyType).want(406, "is not a list")
		c.call("DELETE", configMaps, "", asOne).want(406, "is a list (ConfigMapList)")
		c.call("GET", configMaps+"?watch=true", "", asList).want(406)
		c.call("GET", configMaps+"/there", "", asOne).want(200)
		c.call("GET", configMaps, "", asList).want(200)
	}
	c.call("GET", configMaps+"/new", "").want(404)
	if after := c.call("GET", configMaps+"/there", "").want(200).text; after != before {
		t.Errorf("object after the rejected write = %s, want %s", after, before)
	}
}
