package docs_test

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
)

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	applyType  = "Content-Type: application/apply-patch+yaml"
)

// client sends requests to a server that the test has started.
type client struct {
	t      *testing.T
	config *rest.Config
	http   *http.Client
}

// newClient calls t.Parallel, starts a server that stops at the end of the test, and returns a client with all permissions.
func newClient(t *testing.T) *client {
	t.Helper()
	t.Parallel()
	config := cadastretest.Start(t)
	return &client{t, config, clientOf(t, config)}
}

// clientOf returns an HTTP client for a client configuration. Its connections are closed at the end of the test.
func clientOf(t *testing.T, config *rest.Config) *http.Client {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections) // the server's shutdown waits for open connections
	return client
}

// answer is the status code and body of a response.
type answer struct {
	t    *testing.T
	code int
	text string
}

// call sends a request and returns the response. Headers are "Name: value".
func (c *client) call(method, path, body string, headers ...string) answer {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.config.Host+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("User-Agent", "tester/1")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{c.t, response.StatusCode, string(text)}
}

// apply applies the named ConfigMap as manager. fields are the fields of the ConfigMap besides metadata, as JSON
// without the outer braces.
func (c *client) apply(name, manager, fields string, headers ...string) answer {
	c.t.Helper()
	return c.call("PATCH", configMaps+"/"+name+"?fieldManager="+manager, configMap(name, fields), append(headers, applyType)...)
}

// configMap returns the JSON of the named ConfigMap. fields are the fields of the ConfigMap besides metadata, as
// JSON without the outer braces.
func configMap(name, fields string) string {
	return `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"},` + fields + `}`
}

// want fails the test unless the status code is one of codes.
func (a answer) want(codes ...int) answer {
	a.t.Helper()
	if !slices.Contains(codes, a.code) {
		a.t.Fatalf("response: got status code %d, want one of %d; body: %s", a.code, codes, a.text)
	}
	return a
}

// wantText fails the test unless the body contains all texts.
func (a answer) wantText(texts ...string) answer {
	a.t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.text, text) {
			a.t.Errorf("response body: got %s, want it to contain %s", a.text, text)
		}
	}
	return a
}

// get returns the JSON of the value at path, which consists of field names, in the body; "" if the value is absent
// or null.
func (a answer) get(path ...string) string {
	a.t.Helper()
	var v any
	if err := json.Unmarshal([]byte(a.text), &v); err != nil {
		a.t.Fatalf("response body: got %s, want JSON: %v", a.text, err)
	}
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		a.t.Fatal(err)
	}
	return string(text)
}
