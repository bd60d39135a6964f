package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/server"
)

// tenants starts a server with few seats and two users without special rights, which may edit all namespaces.
func tenants(t *testing.T, config Config) (admin, mallory, alice *client) {
	config.MaxReadsInFlight, config.MaxWritesInFlight = 8, 4
	admin = start(t, config, `token-m,mallory,1,"team"`, `token-a,alice,2,"team"`)
	admin.bind("edit", "team")
	return admin, admin.withToken("token-m"), admin.withToken("token-a")
}

// slowBody is a request body that sends its first byte and then blocks until the channel release is closed.
type slowBody struct {
	once    sync.Once
	started *sync.WaitGroup
	release chan struct{}
}

// Read implements io.Reader.
func (b *slowBody) Read(p []byte) (n int, err error) {
	b.once.Do(func() {
		b.started.Done()
		n = copy(p, "{")
	})
	if n > 0 {
		return n, nil
	}
	<-b.release
	return 0, context.Canceled
}

// TestSlowBodies checks that bodies that do not arrive occupy no seats: 240 of them on one connection do not disturb the writes
// of another user, and the server ends them.
func TestSlowBodies(t *testing.T) {
	_, mallory, alice := tenants(t, Config{Limits: server.Limits{ProgressTimeout: 2 * time.Second}})
	const n = 240
	var started, ended sync.WaitGroup
	started.Add(n)
	release := make(chan struct{})
	for range n {
		ended.Go(func() {
			r, _ := http.NewRequestWithContext(t.Context(), "POST", mallory.url+configMaps, &slowBody{started: &started, release: release})
			r.Header = mallory.header.Clone()
			response, err := mallory.http.Do(r)
			if err != nil {
				return // the server has ended the stream
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusBadRequest {
				t.Errorf("status code of a body that does not arrive = %d, want 400", response.StatusCode)
			}
		})
	}
	started.Wait()
	testwait.For(t, "the bodies to arrive", func() bool { return alice.server.handler.ActiveRequests() >= n })
	for i := range 20 {
		alice.apply(configMaps+fmt.Sprint("/x-", i), "m", configMap(fmt.Sprint("x-", i))).want(201)
	}
	testwait.For(t, "the server to end all requests", func() bool { return alice.server.handler.ActiveRequests() == 0 })
	close(release)
	ended.Wait()
}

// TestUnreadLists checks that responses that are not read occupy no seats, and that the server ends them.
func TestUnreadLists(t *testing.T) {
	admin, mallory, alice := tenants(t, Config{Limits: server.Limits{ProgressTimeout: 2 * time.Second}})
	for i := range 6 { // together larger than the flow-control window of a client
		admin.call("POST", configMaps, configMap(fmt.Sprint("large-", i), "a", strings.Repeat("x", 1000<<10))).want(201)
	}
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			response := mallory.open("GET", configMaps, "", "Accept-Encoding: identity")
			t.Cleanup(func() { response.Body.Close() })
		})
	}
	group.Wait()
	for range 20 {
		alice.call("GET", configMaps+"?limit=1", "").want(200)
	}
	testwait.For(t, "the server to end all requests", func() bool { return alice.server.handler.ActiveRequests() == 0 })
}

// TestFairnessOfPaths checks that discovery, OpenAPI, metrics and additional handlers count, and that health checks and the group
// system:masters are exempt.
func TestFairnessOfPaths(t *testing.T) {
	admin, mallory, _ := tenants(t, Config{Handlers: map[string]http.Handler{"/extra": http.NotFoundHandler()}})
	uid := func(path string) string { return admin.call("GET", path, "").want(200).get("metadata", "uid") }
	const schemas, levels = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/", "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/"
	admin.bind("cluster-admin", "team")
	for _, test := range []struct {
		client              *client
		path, schema, level string
	}{
		{mallory, "/openapi/v2", "global-default", "global-default"},
		{mallory, "/apis", "global-default", "global-default"},
		{mallory, "/metrics", "global-default", "global-default"},
		{mallory, "/extra", "global-default", "global-default"},
		{mallory, configMaps + "/nothing", "global-default", "global-default"},
		{mallory, "/readyz", "probes", "exempt"},
		{admin.withToken(""), "/livez", "probes", "exempt"},
		{admin.withToken(""), "/version", "global-default", "global-default"},
		{admin, "/openapi/v2", "exempt", "exempt"},
	} {
		h := test.client.call("GET", test.path, "").header
		if got, want := h.Get("X-Kubernetes-PF-FlowSchema-UID"), uid(schemas+test.schema); got != want {
			t.Errorf("FlowSchema of %s = %s, want %s, that of %s", test.path, got, want, test.schema)
		}
		if got, want := h.Get("X-Kubernetes-PF-PriorityLevel-UID"), uid(levels+test.level); got != want {
			t.Errorf("level of %s = %s, want %s, that of %s", test.path, got, want, test.level)
		}
	}
	admin.call("GET", "/debug/api_priority_and_fairness/dump_priority_levels", "").want(200, "PriorityLevelName,", "global-default,")
	admin.call("GET", "/metrics", "").want(200, `apiserver_flowcontrol_dispatched_requests_total{flow_schema="global-default",priority_level="global-default"}`,
		`apiserver_flowcontrol_current_limit_seats{priority_level="global-default"}`)
}

// TestFlowSchemas checks that the bootstrap objects exist with their status, that a FlowSchema takes effect, that the status
// follows its level, and that deleted bootstrap objects are created again.
func TestFlowSchemas(t *testing.T) {
	admin, mallory, _ := tenants(t, Config{reconcileInterval: 10 * time.Millisecond})
	const api = "/apis/flowcontrol.apiserver.k8s.io/v1/"
	admin.call("GET", api+"flowschemas/probes", "").want(200, `"reason":"Found"`, "api-priority-and-fairness-config-consumer-v1", "api-priority-and-fairness-config-producer-v1")
	admin.call("POST", api+"flowschemas", `{"metadata":{"name":"mallory"},"spec":{"matchingPrecedence":50,"priorityLevelConfiguration":{"name":"jail"},
		"rules":[{"subjects":[{"kind":"User","user":{"name":"mallory"}}],"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"namespaces":["*"]}]}]}}`).want(201)
	dangling := func(status string) func() bool {
		return func() bool {
			return admin.call("GET", api+"flowschemas/mallory", "").get("status", "conditions", 0, "status") == status
		}
	}
	testwait.For(t, "the condition Dangling", dangling("True"))
	jail := admin.call("POST", api+"prioritylevelconfigurations", `{"metadata":{"name":"jail"},"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":1,"limitResponse":{"type":"Reject"}}}}`).want(201)
	testwait.For(t, "the level to exist", dangling("False"))
	if got, want := mallory.call("GET", configMaps, "").want(200).header.Get("X-Kubernetes-PF-PriorityLevel-UID"), jail.get("metadata", "uid"); got != want {
		t.Errorf("level = %s, want %s", got, want)
	}
	admin.call("DELETE", api+"flowschemas/probes", "").want(200)
	testwait.For(t, "the bootstrap object to exist", func() bool { return admin.call("GET", api+"flowschemas/probes", "").code == 200 })
}
