package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

func TestKinds(t *testing.T) {
	c := open(t, cadastretest.Start(t))
	for name, want := range map[string]string{
		"deployments": "deployment.apps apps/v1", "deployment": "deployment.apps apps/v1", "deploy": "deployment.apps apps/v1",
		"Deployment": "deployment.apps apps/v1", "deployments.apps": "deployment.apps apps/v1", "deploy.v1.apps": "deployment.apps apps/v1",
		"cm": "configmap v1", "configmaps.v1": "configmap v1", "events": "event v1", "events.events.k8s.io": "event.events.k8s.io events.k8s.io/v1",
		"hpa": "horizontalpodautoscaler.autoscaling autoscaling/v2", "hpa.v1.autoscaling": "horizontalpodautoscaler.autoscaling autoscaling/v1",
	} {
		if k := find(t, c, name); k.String()+" "+k.APIVersion() != want {
			t.Errorf("%s: received %s %s, want %s", name, k, k.APIVersion(), want)
		}
	}
	if k := find(t, c, "nodes"); k.Namespaced || !k.Can("get", "list", "patch") || k.Can("fly") {
		t.Errorf("nodes: %+v", k)
	}
	for _, name := range []string{"unicorns", "deployments.batch"} {
		if _, err := c.FindKind(t.Context(), name); err == nil || !strings.Contains(err.Error(), "does not have the kind \""+name+"\"") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if k, err := c.KindOf(t.Context(), "autoscaling/v1", "HorizontalPodAutoscaler"); err != nil || k.Resource != "horizontalpodautoscalers" {
		t.Errorf("by what an object says: %+v, %v", k, err)
	}
	if _, err := c.KindOf(t.Context(), "autoscaling/v9", "HorizontalPodAutoscaler"); err == nil {
		t.Error("a version that is not there was found")
	}
}

// plain is a server before Kubernetes 1.27, which knows nothing about aggregated discovery.
type plain struct{ http.RoundTripper }

func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", jsonType)
	return p.RoundTripper.RoundTrip(r)
}

// TestDiscoveryOfOldServers finds the same kinds in many answers as in one.
func TestDiscoveryOfOldServers(t *testing.T) {
	config := cadastretest.Start(t)
	today, err := open(t, config).Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return plain{rt} })
	before, err := open(t, config).Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range max(len(today), len(before)) {
		if i >= min(len(today), len(before)) || fmt.Sprint(today[i]) != fmt.Sprint(before[i]) {
			t.Fatalf("kind %d: received\n%v\nwant\n%v", i, before[i:], today[i:])
		}
	}
}

// TestDiscoveryOfPart has a group whose own server is down, and one whose preferred version is not the first.
func TestDiscoveryOfPart(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api":
			fmt.Fprint(w, `{"kind":"APIVersions","versions":["v1"]}`)
		case "/apis":
			fmt.Fprint(w, `{"kind":"APIGroupList","groups":[{"name":"down.io","versions":[{"version":"v1"}]},
				{"name":"up.io","versions":[{"version":"v1beta1"},{"version":"v1"}],"preferredVersion":{"version":"v1"}}]}`)
		case "/apis/down.io/v1":
			http.Error(w, "service unavailable", http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, `{"kind":"APIResourceList","resources":[{"name":"things","kind":"Thing","namespaced":true,"verbs":["get"]},{"name":"things/status","kind":"Thing"}]}`)
		}
	}))
	t.Cleanup(server.Close)
	kinds, err := open(t, &rest.Config{Host: server.URL}).Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range kinds {
		got = append(got, k.APIVersion()+" "+k.Resource+" "+k.Singular)
	}
	if want := "[v1 things thing up.io/v1 things thing up.io/v1beta1 things thing]"; fmt.Sprint(got) != want {
		t.Errorf("received %v, want %s", got, want)
	}
}

// TestCount has more than a page, and none.
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
			t.Errorf("%s: received %d, %v, want %d", kind, n, err, want)
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
				t.Fatalf("received %s", o.JSON())
			}
			seen++
		}
		if seen != want {
			t.Errorf("%q: listed %d, want %d", selector, seen, want)
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
		t.Errorf("patched: %v, %s", err, after.JSON())
	}
	if _, err := c.Patch(t.Context(), maps, "default", "c0", "test", patch); !IsCode(err, http.StatusConflict) {
		t.Errorf("patched what is not there any more: %v", err)
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
		t.Errorf("a dry run wrote: %v", err)
	}
	if _, err := c.Apply(t.Context(), maps, "default", "a", config("x"), ApplyOptions{Manager: "ci"}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Apply(t.Context(), maps, "default", "a", config("z"), ApplyOptions{Manager: "ops"})
	var refused *Error
	if !errors.As(err, &refused) || refused.Code != http.StatusConflict || len(refused.Causes) != 1 || refused.Causes[0].Field != ".data.k" {
		t.Errorf("received %#v", err)
	}
	if o, err := c.Apply(t.Context(), maps, "default", "a", config("z"), ApplyOptions{Manager: "ops", Force: true}); err != nil || o.Document.Lookup("data", "k").Text() != "z" {
		t.Errorf("forced: %v, %s", err, o.JSON())
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
			t.Fatalf("no field %s", name)
		}
		kind = field.Type
	}
	if kind.List == nil || kind.List.Relationship != schema.Keyed || kind.List.Keys[0].Name != "name" {
		t.Errorf("containers: %+v", kind.List)
	}
	if _, err := c.Topology(t.Context(), Kind{Group: "none.example", Version: "v1", Name: "X"}); err == nil {
		t.Error("the topology of a kind that is not there was found")
	}
}

// TestBusyServer has a server that is asked again when it says so, and one that never is free.
func TestBusyServer(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) < 3 || r.URL.Path == "/api/v1/namespaces/never" {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, `{"metadata":{"name":"x"}}`)
	}))
	t.Cleanup(server.Close)
	c := open(t, &rest.Config{Host: server.URL})
	namespaces := Kind{Version: "v1", Name: "Namespace", Resource: "namespaces"}
	if o, err := c.Get(t.Context(), namespaces, "", "x"); err != nil || o.Document.Lookup("metadata", "name").Text() != "x" || asked.Load() != 3 {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
	asked.Store(0)
	if _, err := c.Get(t.Context(), namespaces, "", "never"); !IsCode(err, http.StatusTooManyRequests) || asked.Load() != mostTries {
		t.Errorf("asked %d times: %v", asked.Load(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(ctx, namespaces, "", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("received %v", err)
	}
}

// TestListThatTakesLong goes on where the server says when a page comes too late.
// TestWarnings: whoever asks is told what the server warns of, and nothing else.
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
	get() // nobody is told
	var told []string
	c.OnWarning(func(text string) { told = append(told, text) })
	get()
	if got, want := fmt.Sprintf("%q", told), `["old \"Endpoints\"" "another" "third"]`; got != want {
		t.Errorf("received %s, want %s", got, want)
	}
}

func TestListThatTakesLong(t *testing.T) {
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
		t.Errorf("received %v", names)
	}
}

// TestErrors has servers that are none, or not reachable: one line each.
func TestErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api":
			fmt.Fprint(w, `{"kind":"Hello"}`)
		case "/api/v1/things/cut":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{`)
		case "/api/v1/things/listed":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"kind":"Status","message":"failed to create: errors:\n  .a: expected b\n\n  .c: expected d\n"}`)
		case "/api/v1/things/stranger":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"kind":"Status","message":"Unauthorized"}`)
		case "/api/v1/things/text":
			fmt.Fprint(w, "hello")
		default:
			http.Error(w, "<html>\nnot here", http.StatusTeapot)
		}
	}))
	things := Kind{Version: "v1", Name: "Thing", Resource: "things"}
	c := open(t, &rest.Config{Host: server.URL})
	_, old := c.Kinds(t.Context())
	get := func(name string) error { _, err := c.Get(t.Context(), things, "", name); return err }
	cut, text, teapot, listed, stranger := get("cut"), get("text"), get("teapot"), get("listed"), get("stranger")
	server.Close()
	gone := get("x")
	for _, test := range []struct {
		err  error
		want string
	}{
		{old, `GET /api: expected an APIGroupDiscoveryList, APIVersions or APIGroupList, received "Hello": is this a Kubernetes API server?`},
		{cut, "GET /api/v1/things/cut: the answer ended early: "},
		{text, "read a thing from the server: "},
		{teapot, "GET /api/v1/things/teapot: 418 I'm a teapot: received a page for people: is this a Kubernetes API server?"},
		{listed, "failed to create: .a: expected b; .c: expected d"},
		{stranger, "the server does not accept your credentials, or there are none: Unauthorized"},
		{gone, "ask the server at " + server.URL + ": dial tcp "},
	} {
		if test.err == nil || !strings.HasPrefix(test.err.Error(), test.want) || strings.Contains(test.err.Error(), "\n") {
			t.Errorf("received %v, want %s", test.err, test.want)
		}
	}
}

// TestReadsLongErrors: a refusal may be longer than what servers accept, as one with thousands of conflicts is; what nobody
// understands is told by its beginning.
func TestReadsLongErrors(t *testing.T) {
	cause := `{"reason":"FieldManagerConflict","field":".data.a","message":"` + strings.Repeat("x", 1000) + `"}`
	body := `{"kind":"Status","message":"refused","details":{"causes":[` + strings.Repeat(cause+",", 5000) + cause + `]}}`
	var refused *Error
	if err := readError(request{}, http.StatusConflict, body); !errors.As(err, &refused) || refused.Message != "refused" || len(refused.Causes) != 5001 {
		t.Errorf("received %.300s", err)
	}
	const want = "GET /x: 500 Internal Server Error: "
	if err := readError(request{method: "GET", path: "/x"}, http.StatusInternalServerError, body[1:]); !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 300 {
		t.Errorf("received %.300s", err)
	}
}

// TestStoppedWhileAsking: who stops to wait is told why, and not how.
func TestStoppedWhileAsking(t *testing.T) {
	enough := errors.New("that is enough")
	for name, answer := range map[string]http.HandlerFunc{
		"for an answer":             func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"for the end of an answer":  func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() },
		"until there is less to do": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "30"); w.WriteHeader(429) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			c, err := Open(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { stop(enough) })
			var lost *NoAnswerError
			if _, err = c.Get(ctx, Kind{Version: "v1", Resource: "things"}, "", "x"); !errors.As(err, &lost) || lost.Error() != enough.Error() {
				t.Errorf("received %v", err)
			}
		})
	}
}
