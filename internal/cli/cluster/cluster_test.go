package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/ownership"
	"github.com/cadastre/cadastre/schema"
)

func open(t *testing.T, config *rest.Config) *Cluster {
	t.Helper()
	c, err := Open(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func find(t *testing.T, c *Cluster, name string) Kind {
	t.Helper()
	k, err := c.FindKind(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func parse(t *testing.T, text string) document.Value {
	t.Helper()
	doc, err := document.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestCount checks that Count returns the number of all objects, although the server returns at most one of them, and 0
// if there are none.
func TestCount(t *testing.T) {
	c := open(t, cadastretest.Start(t))
	maps := find(t, c, "cm")
	for i := range 4 {
		config := parse(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d}}", i))
		if _, err := c.Apply(t.Context(), maps, "default", fmt.Sprint("c", i), config, ApplyOptions{Manager: "ci"}); err != nil {
			t.Fatal(err)
		}
	}
	for kind, want := range map[string]int{"cm": 4, "secrets": 0} {
		if n, err := c.Count(t.Context(), find(t, c, kind), "default"); err != nil || n != want {
			t.Errorf("Count(%s) = %d, %v, want %d", kind, n, err, want)
		}
	}
}

func TestObjects(t *testing.T) {
	c := open(t, cadastretest.Start(t))
	maps := find(t, c, "cm")
	const count = pageSize + 3
	for i := range count {
		config := parse(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: c%d, labels: {odd: \"%v\"}}}", i, i%2 == 1))
		if _, err := c.Apply(t.Context(), maps, "default", fmt.Sprint("c", i), config, ApplyOptions{Manager: "ci"}); err != nil {
			t.Fatal(err)
		}
	}
	for selector, want := range map[string]int{"": count, "odd=true": count / 2} {
		seen := 0
		for o, err := range c.List(t.Context(), maps, "default", selector) {
			if err != nil {
				t.Fatal(err)
			}
			if o.Document.Get("kind").Text() != "ConfigMap" || len(o.Entries) != 1 {
				t.Fatalf("List() yielded %s, want a ConfigMap with one managed fields entry", o.JSON())
			}
			seen++
		}
		if seen != want {
			t.Errorf("List(%q) yielded %d objects, want %d", selector, seen, want)
		}
	}
	o, err := c.Get(t.Context(), maps, "default", "c0")
	if err != nil {
		t.Fatal(err)
	}
	moved, err := ownership.Migrate(o, ownership.Migration{From: []ownership.Selector{{Manager: "ci"}}, To: "gitops"})
	if err != nil {
		t.Fatal(err)
	}
	patch, err := ownership.Patch(o, moved.Entries)
	if err != nil {
		t.Fatal(err)
	}
	after, err := c.Patch(t.Context(), maps, "default", "c0", "test", patch)
	if err != nil || len(after.Entries) != 1 || after.Entries[0].Manager != "gitops" {
		t.Errorf("Patch() = %v, %s, want one managed fields entry of gitops", err, after.JSON())
	}
	if _, err := c.Patch(t.Context(), maps, "default", "c0", "test", patch); !IsCode(err, http.StatusConflict) {
		t.Errorf("Patch() with an old resourceVersion: error = %v, want a conflict", err)
	}
}

func TestApplyOptions(t *testing.T) {
	c := open(t, cadastretest.Start(t))
	maps := find(t, c, "cm")
	config := func(value string) document.Value {
		return parse(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: "+value+"}}")
	}
	if _, err := c.Apply(t.Context(), maps, "default", "a", config("x"), ApplyOptions{Manager: "ci", DryRun: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), maps, "default", "a"); !IsCode(err, http.StatusNotFound) {
		t.Errorf("Get() after a dry run: error = %v, want NotFound", err)
	}
	if _, err := c.Apply(t.Context(), maps, "default", "a", config("x"), ApplyOptions{Manager: "ci"}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Apply(t.Context(), maps, "default", "a", config("z"), ApplyOptions{Manager: "ops"})
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != http.StatusConflict || len(refused.Causes) != 1 || refused.Causes[0].Field != ".data.k" {
		t.Errorf("Apply() = %#v, want one conflict at .data.k", err)
	}
	if o, err := c.Apply(t.Context(), maps, "default", "a", config("z"), ApplyOptions{Manager: "ops", Force: true}); err != nil || o.Document.Lookup("data", "k").Text() != "z" {
		t.Errorf("Apply(Force) = %v, %s, want data.k = z", err, o.JSON())
	}
}

func TestTopology(t *testing.T) {
	c := open(t, cadastretest.Start(t))
	kind, err := c.Topology(t.Context(), find(t, c, "deploy"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"spec", "template", "spec", "containers"} {
		field, ok := kind.Map.Find(name)
		if !ok {
			t.Fatalf("the topology has no field %s", name)
		}
		kind = field.Type
	}
	if kind.List == nil || kind.List.Relationship != schema.Keyed || kind.List.Keys[0].Name != "name" {
		t.Errorf("topology of containers = %+v, want a list with the key name", kind.List)
	}
	if _, err := c.Topology(t.Context(), Kind{Group: "none.example", Version: "v1", Name: "X"}); err == nil {
		t.Error("Topology() of an unknown kind = nil error, want an error")
	}
}

// TestTooManyRequests checks that a request is sent again after 429, at most maxAttempts times in total.
func TestTooManyRequests(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) < 3 || r.URL.Path == "/api/v1/namespaces/never" {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, `{"metadata":{"name":"x"}}`)
	}))
	t.Cleanup(server.Close)
	c := open(t, &rest.Config{Host: server.URL})
	namespaces := Kind{Version: "v1", Name: "Namespace", Resource: "namespaces"}
	if o, err := c.Get(t.Context(), namespaces, "", "x"); err != nil || o.Document.Lookup("metadata", "name").Text() != "x" || requests.Load() != 3 {
		t.Errorf("Get() = %v after %d requests, want nil after 3", err, requests.Load())
	}
	requests.Store(0)
	if _, err := c.Get(t.Context(), namespaces, "", "never"); !IsCode(err, http.StatusTooManyRequests) || requests.Load() != maxAttempts {
		t.Errorf("Get() = %v after %d requests, want a 429 after %d", err, requests.Load(), maxAttempts)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx, namespaces, "", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("Get() with a cancelled context = %v, want context.Canceled", err)
	}
}

// TestWarnings checks that the handler receives warnings with code 299, and no warnings with other codes.
func TestWarnings(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Warning", `299 - "old \"Endpoints\""`)
		w.Header().Add("Warning", `299 - "another", 299 - "third"`)
		w.Header().Add("Warning", `199 - "of a proxy"`)
		w.Header().Add("Warning", `nonsense`)
		fmt.Fprint(w, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`)
	}))
	t.Cleanup(server.Close)
	c := open(t, &rest.Config{Host: server.URL})
	get := func() {
		if _, err := c.Get(t.Context(), Kind{Version: "v1", Name: "ConfigMap", Resource: "configmaps"}, "", "c"); err != nil {
			t.Fatal(err)
		}
	}
	get() // without a warning handler, warnings are dropped
	var received []string
	c.SetWarningHandler(func(text string) { received = append(received, text) })
	get()
	if got, want := fmt.Sprintf("%q", received), `["old \"Endpoints\"" "another" "third"]`; got != want {
		t.Errorf("warnings = %s, want %s", got, want)
	}
}

// TestListContinuesAfterExpiry checks that, after 410 Gone, List resumes with the continue token in the error response.
func TestListContinuesAfterExpiry(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("continue") {
		case "":
			fmt.Fprint(w, `{"metadata":{"continue":"old"},"items":[{"metadata":{"name":"a"}}]}`)
		case "old":
			w.WriteHeader(http.StatusGone)
			fmt.Fprint(w, `{"kind":"Status","code":410,"reason":"Expired","metadata":{"continue":"new"}}`)
		case "new":
			fmt.Fprint(w, `{"metadata":{},"items":[{"metadata":{"name":"b"}}]}`)
		}
	}))
	t.Cleanup(server.Close)
	c := open(t, &rest.Config{Host: server.URL})
	var names []string
	for o, err := range c.List(t.Context(), Kind{Version: "v1", Name: "Thing", Resource: "things"}, "", "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, o.Document.Lookup("metadata", "name").Text())
	}
	if fmt.Sprint(names) != "[a b]" {
		t.Errorf("List() yielded %v, want [a b]", names)
	}
}

// TestListExpiresRepeatedly checks that, after 410 Gone, List fails if the continue token in the error response has
// expired as well.
func TestListExpiresRepeatedly(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusGone)
		fmt.Fprint(w, `{"kind":"Status","code":410,"reason":"Expired","metadata":{"continue":"new"}}`)
	}))
	t.Cleanup(server.Close)
	c := open(t, &rest.Config{Host: server.URL})
	for _, err := range c.List(t.Context(), Kind{Version: "v1", Name: "Thing", Resource: "things"}, "", "") {
		if !IsCode(err, http.StatusGone) {
			t.Errorf("List() = %v, want 410", err)
		}
	}
}
