package client_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/client"
)

// fixedServer is an http.RoundTripper that returns the response of the function instead of sending the request.
type fixedServer func(r *http.Request) *http.Response

func (s fixedServer) RoundTrip(r *http.Request) (*http.Response, error) {
	response := s(r)
	response.Request = r
	return response, nil
}

// send sends a GET request to address, with the given header, through the transport of WithoutManagedFields. server
// returns the response. send returns the body that the client receives.
func send(t *testing.T, address string, header http.Header, server fixedServer) (string, error) {
	t.Helper()
	transport, err := rest.TransportFor(client.WithoutManagedFields(&rest.Config{Transport: server}))
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); closeErr != nil {
		t.Error(closeErr)
	}
	return string(body), err
}

// respondWith returns a response with status 200 and the given media type and body.
func respondWith(media, body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
}

// ownedConfigMap is a ConfigMap with managedFields.
const ownedConfigMap = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","managedFields":[{"manager":"me"}]}}`

// TestProxiedResponses checks that requests to pods, services and nodes, and their responses, are not modified.
func TestProxiedResponses(t *testing.T) {
	const address = "/api/v1/namespaces/default/services/web/proxy/objects"
	got, err := send(t, address, http.Header{"Accept": {"application/json"}}, func(r *http.Request) *http.Response {
		if accept := r.Header.Get("Accept"); accept != "application/json" {
			t.Errorf("proxied request: Accept = %q, want application/json", accept)
		}
		return respondWith("application/json", ownedConfigMap)
	})
	if err != nil || got != ownedConfigMap {
		t.Errorf("proxied response = %s, error = %v; want it unmodified: %s", got, err, ownedConfigMap)
	}
}

// TestSeveralAcceptLines checks that several Accept lines are combined into one header.
func TestSeveralAcceptLines(t *testing.T) {
	_, err := send(t, "/api/v1/pods", http.Header{"Accept": {"application/yaml", "application/json"}}, func(r *http.Request) *http.Response {
		const want = "application/yaml;drop=metadata.managedFields,application/json;drop=metadata.managedFields"
		if accept := r.Header.Values("Accept"); len(accept) != 1 || accept[0] != want {
			t.Errorf("Accept = %q, want %s", accept, want)
		}
		return respondWith("application/json", "{}")
	})
	if err != nil {
		t.Error(err)
	}
}

// TestContentLengthLimit checks that a large Content-Length does not allocate memory before the body is read.
func TestContentLengthLimit(t *testing.T) {
	for _, length := range []int64{1<<63 - 1, 1e12, 1e9} {
		got, err := send(t, "/api/v1/namespaces/default/configmaps/a", http.Header{}, func(*http.Request) *http.Response {
			response := respondWith("application/json", ownedConfigMap)
			response.ContentLength = length
			return response
		})
		if err != nil || strings.Contains(got, "managedFields") || !strings.Contains(got, `"name":"a"`) {
			t.Errorf("Content-Length %d: got %s, error = %v; want the ConfigMap a without managedFields", length, got, err)
		}
	}
}

// TestYAML checks that clients that request YAML receive no managedFields, from servers with and without support for the
// parameter drop.
func TestYAML(t *testing.T) {
	for _, drop := range []bool{true, false} {
		t.Run(fmt.Sprintf("drop=%v", drop), func(t *testing.T) {
			config := client.WithoutManagedFields(startServer(t, drop))
			config.ContentType, config.AcceptContentTypes = "application/yaml", "application/yaml"
			maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
			created, err := maps.Create(t.Context(), configMap("c"), metav1.CreateOptions{})
			if err != nil || entryCount(t, created) != 0 || created.Data["a"] != "b" {
				t.Errorf("Create() = %v, error = %v; want data a=b and no managedFields", created, err)
			}
			list, err := maps.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 1 || entryCount(t, &list.Items[0]) != 0 {
				t.Errorf("List() = %v, error = %v; want one object without managedFields", list, err)
			}
		})
	}
}
