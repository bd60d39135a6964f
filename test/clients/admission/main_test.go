package admission

import (
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/test/clients/target"
)

func TestMain(m *testing.M) { os.Exit(target.Suite{M: m}.Run()) }

// timeout is the maximum duration of a request.
const timeout = 45 * time.Second

// mediaTypes maps the verbs of requests that are not HTTP methods to the media types of their patches.
var mediaTypes = map[string]string{
	"APPLY":     "application/apply-patch+yaml",
	"MERGE":     "application/merge-patch+json",
	"JSONPATCH": "application/json-patch+json",
}

// server is a plain HTTP client of the API server under test.
type server struct {
	client *http.Client
	host   string
}

func connect(t *testing.T) server {
	t.Helper()
	config := target.Config(t)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return server{client, config.Host}
}

// apiResponse is an HTTP response with its complete body.
type apiResponse struct {
	code     int
	warnings []string
	body     string
}

func (s server) call(t *testing.T, verb, path, body string) apiResponse {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	method, mediaType := verb, "application/json"
	if patch := mediaTypes[verb]; patch != "" {
		method, mediaType = http.MethodPatch, patch
	}
	request, err := http.NewRequestWithContext(ctx, method, s.host+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		request.Header.Set("Content-Type", mediaType)
	}
	request.Header.Set("User-Agent", "tester")
	response, err := s.client.Do(request)
	if err != nil {
		t.Fatalf("%s %s: %v", verb, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", verb, path, err)
	}
	return apiResponse{response.StatusCode, response.Header.Values("Warning"), string(text)}
}
