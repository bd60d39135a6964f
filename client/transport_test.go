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

// answering is a server of one answer.
type answering func(r *http.Request) *http.Response

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	response := a(r)
	response.Request = r
	return response, nil
}

// ask sends a request through a client of a server of one answer.
func ask(t *testing.T, address string, header http.Header, server answering) (string, error) {
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

func says(media, body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}
}

const owned = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","managedFields":[{"manager":"me"}]}}`

// TestProxiedAnswers are those of pods, services and nodes, which are asked what the program asks, and not looked into.
func TestProxiedAnswers(t *testing.T) {
	const address = "/api/v1/namespaces/default/services/web/proxy/objects"
	got, err := ask(t, address, http.Header{"Accept": {"application/json"}}, func(r *http.Request) *http.Response {
		if accept := r.Header.Get("Accept"); accept != "application/json" {
			t.Errorf("the service was asked for %q", accept)
		}
		return says("application/json", owned)
	})
	if err != nil || got != owned {
		t.Errorf("received %s: %v", got, err)
	}
}

// TestSeveralAcceptLines are one header.
func TestSeveralAcceptLines(t *testing.T) {
	_, err := ask(t, "/api/v1/pods", http.Header{"Accept": {"application/yaml", "application/json"}}, func(r *http.Request) *http.Response {
		const want = "application/yaml;drop=metadata.managedFields,application/json;drop=metadata.managedFields"
		if accept := r.Header.Values("Accept"); len(accept) != 1 || accept[0] != want {
			t.Errorf("expected %s, received %q", want, accept)
		}
		return says("application/json", "{}")
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLongestLength: nobody can take a program's memory by a header.
func TestLongestLength(t *testing.T) {
	for _, length := range []int64{1<<63 - 1, 1e12, 1e9} {
		got, err := ask(t, "/api/v1/namespaces/default/configmaps/a", http.Header{}, func(*http.Request) *http.Response {
			response := says("application/json", owned)
			response.ContentLength = length
			return response
		})
		if err != nil || strings.Contains(got, "managedFields") || !strings.Contains(got, `"name":"a"`) {
			t.Errorf("of a length of %d: received %s: %v", length, got, err)
		}
	}
}

// TestYAML is what older servers answer with all the same.
func TestYAML(t *testing.T) {
	for _, drop := range []bool{true, false} {
		t.Run(fmt.Sprintf("drop=%v", drop), func(t *testing.T) {
			config := client.WithoutManagedFields(start(t, drop))
			config.ContentType, config.AcceptContentTypes = "application/yaml", "application/yaml"
			maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
			created, err := maps.Create(t.Context(), configMap("c"), metav1.CreateOptions{})
			if err != nil || entries(t, created) != 0 || created.Data["a"] != "b" {
				t.Errorf("created %v: %v", created, err)
			}
			list, err := maps.List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 1 || entries(t, &list.Items[0]) != 0 {
				t.Errorf("listed %v: %v", list, err)
			}
		})
	}
}
