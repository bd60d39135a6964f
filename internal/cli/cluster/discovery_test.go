package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
)

func TestKinds(t *testing.T) {
	c := open(t, cadastretest.Start(t))
	for name, want := range map[string]string{
		"deployments": "deployment.apps apps/v1", "deployment": "deployment.apps apps/v1", "deploy": "deployment.apps apps/v1",
		"Deployment": "deployment.apps apps/v1", "deployments.apps": "deployment.apps apps/v1", "deploy.v1.apps": "deployment.apps apps/v1",
		"cm": "configmap v1", "configmaps.v1": "configmap v1", "events": "event v1", "events.events.k8s.io": "event.events.k8s.io events.k8s.io/v1",
		"hpa": "horizontalpodautoscaler.autoscaling autoscaling/v2", "hpa.v1.autoscaling": "horizontalpodautoscaler.autoscaling autoscaling/v1",
	} {
		if k := find(t, c, name); k.String()+" "+k.APIVersion() != want {
			t.Errorf("FindKind(%s) = %s %s, want %s", name, k, k.APIVersion(), want)
		}
	}
	if k := find(t, c, "nodes"); k.Namespaced || !k.SupportsVerbs("get", "list", "patch") || k.SupportsVerbs("fly") {
		t.Errorf("FindKind(nodes) = %+v, want a cluster-scoped kind with the verbs get, list and patch", k)
	}
	for _, name := range []string{"unicorns", "deployments.batch"} {
		if _, err := c.FindKind(t.Context(), name); err == nil || !strings.Contains(err.Error(), "does not serve the kind \""+name+"\"") {
			t.Errorf("FindKind(%s) = %v, want an error that the server does not serve it", name, err)
		}
	}
	if k, err := c.KindOf(t.Context(), "autoscaling/v1", "HorizontalPodAutoscaler"); err != nil || k.Resource != "horizontalpodautoscalers" {
		t.Errorf("KindOf() = %+v, %v, want horizontalpodautoscalers", k, err)
	}
	if _, err := c.KindOf(t.Context(), "autoscaling/v9", "HorizontalPodAutoscaler"); err == nil {
		t.Error("KindOf() of an unknown version = nil error, want an error")
	}
}

// unaggregatedTransport makes a server respond like a server before Kubernetes 1.27, which does not support aggregated
// discovery: it removes the media type of aggregated discovery from the Accept header of requests.
type unaggregatedTransport struct{ http.RoundTripper }

func (transport unaggregatedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", jsonType)
	return transport.RoundTripper.RoundTrip(r)
}

// TestUnaggregatedDiscovery checks that unaggregated discovery finds the same kinds in the same order as aggregated
// discovery.
func TestUnaggregatedDiscovery(t *testing.T) {
	config := cadastretest.Start(t)
	aggregated, err := open(t, config).Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	config = rest.CopyConfig(config)
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return unaggregatedTransport{rt} })
	unaggregated, err := open(t, config).Kinds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range max(len(aggregated), len(unaggregated)) {
		if i >= min(len(aggregated), len(unaggregated)) || fmt.Sprint(aggregated[i]) != fmt.Sprint(unaggregated[i]) {
			t.Fatalf("kind %d: unaggregated discovery\n%v\naggregated discovery\n%v", i, unaggregated[i:], aggregated[i:])
		}
	}
}

// TestPartialDiscovery checks that unaggregated discovery skips a group whose API server is unavailable, and sorts the
// preferred version of a group first.
func TestPartialDiscovery(t *testing.T) {
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
		t.Errorf("Kinds() = %v, want %s", got, want)
	}
}
