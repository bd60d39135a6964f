package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/test/clients/target"
)

func TestMain(m *testing.M) { os.Exit(target.Suite{M: m}.Run()) }

// timeout is the maximum duration of a request.
const timeout = 30 * time.Second

// server is a plain HTTP client of the API server under test.
type server struct {
	client *http.Client
	host   string
}

func connect(t *testing.T) server {
	t.Helper()
	return connectTo(t, target.Config(t))
}

func connectTo(t *testing.T, config *rest.Config) server {
	t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return server{client, config.Host}
}

// apiResponse is an HTTP response with its complete body.
type apiResponse struct {
	code   int
	header http.Header
	body   string
}

// call sends a request and reads the complete response. For a watch it returns when the watch ends, with all events.
// method may be followed by a space and the Content-Type.
func (s server) call(t *testing.T, method, path, body string) apiResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	method, mediaType, _ := strings.Cut(method, " ")
	request, err := http.NewRequestWithContext(ctx, method, s.host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", cmp.Or(mediaType, "application/json"))
	}
	response, err := s.client.Do(request)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return apiResponse{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return apiResponse{response.StatusCode, response.Header, string(text)}
}

// must sends a request, and fails the test if the status code of the response is not code.
func (s server) must(t *testing.T, code int, method, path, body string) apiResponse {
	t.Helper()
	a := s.call(t, method, path, body)
	if a.code != code {
		t.Fatalf("%s %s: got status %d %s, want %d", method, path, a.code, a.body, code)
	}
	return a
}

// read parses the body of a as JSON.
func read[T any](t *testing.T, a apiResponse) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		t.Errorf("response %s is not valid JSON: %v", a.body, err)
	}
	return v
}

// status parses the body of the response as a Status.
func (a apiResponse) status(t *testing.T) metav1.Status { return read[metav1.Status](t, a) }
