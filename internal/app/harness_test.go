package app

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	applyType = "application/apply-patch+yaml"
	mergeType = "application/merge-patch+json"
)

// client is an HTTP client of a server that a test has started.
type client struct {
	t      testing.TB
	server *Server
	url    string
	http   *http.Client
	header http.Header
}

// start starts a server in memory for the duration of a test and returns a client with the administrator's certificate. tokens
// are lines of a static token file: TOKEN,USER,UID,"GROUPS".
func start(t testing.TB, config Config, tokens ...string) *client {
	t.Helper()
	if len(tokens) > 0 {
		config.TokenFile = filepath.Join(t.TempDir(), "tokens.csv")
		if err := os.WriteFile(config.TokenFile, []byte(strings.Join(tokens, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config.Address, config.Unset = "127.0.0.1:0", true
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	s, err := Start(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return clientOf(t, s)
}

// clientOf returns a client of a server, authenticated by the administrator's certificate.
func clientOf(t testing.TB, s *Server) *client {
	t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.Authority.CA())
	certificate, err := tls.X509KeyPair(s.Authority.Admin())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{certificate}},
		ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, server: s, url: s.URL(), http: &http.Client{Transport: transport}, header: http.Header{"User-Agent": {"tester/1.0"}}}
}

// withToken returns a client with a bearer token, or without credentials if token is "".
func (c *client) withToken(token string) *client {
	transport := c.http.Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.Certificates = nil
	c.t.Cleanup(transport.CloseIdleConnections)
	other := *c
	other.http = &http.Client{Transport: transport}
	other.header = c.header.Clone()
	if token != "" {
		other.header.Set("Authorization", "Bearer "+token)
	}
	return &other
}

// port returns the port of the listener.
func (c *client) port() string {
	_, port, _ := net.SplitHostPort(c.server.listener.Address())
	return port
}

// withT returns a copy of the client that reports failures to the subtest t.
func (c *client) withT(t testing.TB) *client {
	other := *c
	other.t = t
	return &other
}

// testResponse is the response to a request. Its methods fail the test t.
type testResponse struct {
	t      testing.TB
	code   int
	header http.Header
	text   string
}

// send sends a request without the client's default headers and reads the response.
func (c *client) send(r *http.Request) *testResponse {
	c.t.Helper()
	response, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return &testResponse{c.t, response.StatusCode, response.Header, string(text)}
}

// call sends a request with additional headers "Name: value" and reads the response.
func (c *client) call(method, path, body string, headers ...string) *testResponse {
	c.t.Helper()
	response := c.open(method, path, body, headers...)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return &testResponse{c.t, response.StatusCode, response.Header, string(text)}
}

func (c *client) open(method, path, body string, headers ...string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header = c.header.Clone()
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	response, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return response
}

// apply sends an apply request with a field manager and additional headers "Name: value".
func (c *client) apply(path, manager, config string, headers ...string) *testResponse {
	c.t.Helper()
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	return c.call("PATCH", path+separator+"fieldManager="+manager, config, append(headers, "Content-Type: "+applyType)...)
}

// want fails the test unless the response has the status code and its body contains all parts. It returns the response.
func (a *testResponse) want(code int, contains ...string) *testResponse {
	a.t.Helper()
	if a.code != code {
		a.t.Fatalf("response: got status code %d, want %d; body %s", a.code, code, a.text)
	}
	for _, part := range contains {
		if !strings.Contains(a.text, part) {
			a.t.Fatalf("response body = %s, want it to contain %q", a.text, part)
		}
	}
	return a
}

// get returns the value at a path of field names and list indexes in the JSON response, as JSON or, if it is a string, as
// its text; "" if it is absent.
func (a *testResponse) get(path ...any) string {
	a.t.Helper()
	var v any
	if err := json.Unmarshal([]byte(a.text), &v); err != nil {
		a.t.Fatalf("%s: %v", a.text, err)
	}
	return jsonAt(v, path...)
}

func jsonAt(v any, path ...any) string {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			l, _ := v.([]any)
			if step >= len(l) {
				return ""
			}
			v = l[step]
		}
	}
	if v == nil {
		return ""
	}
	if s, ok := v.(string); ok {
		return s
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// events is an open watch in JSON. Its methods fail the test t.
type events struct {
	t     testing.TB
	lines *bufio.Scanner
	body  io.Closer
}

// watch starts a watch, which is closed at the end of the test.
func (c *client) watch(path string, headers ...string) *events {
	c.t.Helper()
	response := c.open("GET", path, "", headers...)
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		c.t.Fatalf("watch %s: received %d %s, want 200", path, response.StatusCode, text)
	}
	c.t.Cleanup(func() { response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 4<<20)
	return &events{c.t, lines, response.Body}
}

// next returns the next event of the watch, or nil if the watch has ended.
func (e *events) next() map[string]any {
	e.t.Helper()
	if !e.lines.Scan() {
		return nil
	}
	var event map[string]any
	if err := json.Unmarshal(e.lines.Bytes(), &event); err != nil {
		e.t.Fatalf("%s: %v", e.lines.Text(), err)
	}
	return event
}

// want reads the next event and fails the test unless it has the type kind and its object has the name.
func (e *events) want(kind, name string) map[string]any {
	e.t.Helper()
	event := e.next()
	if event["type"] != kind || jsonAt(event, "object", "metadata", "name") != name {
		e.t.Fatalf("next event = %v, want %s of %q", event, kind, name)
	}
	return event
}

const configMaps = "/api/v1/namespaces/default/configmaps"

func configMap(name string, data ...string) string {
	text := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"},"data":{`
	for i := 0; i+1 < len(data); i += 2 {
		if i > 0 {
			text += ","
		}
		text += `"` + data[i] + `":"` + data[i+1] + `"`
	}
	return text + "}}"
}
