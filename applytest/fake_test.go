package applytest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"k8s.io/client-go/rest"
)

// fakeServer is a test server that returns fixed responses, in order, to the requests in the script's
// namespace.
type fakeServer struct {
	mu sync.Mutex
	// responses are the responses to the requests in the script's namespace, in order: "STATUS BODY", optionally
	// preceded by headers and an empty line.
	responses      []string
	requests       []string
	removed        []string
	host           string
	version        string
	hasLimitedUser bool        // whether the user has limited permissions
	stop           func()      // stops the server immediately, even during a request
	onRequest      func(n int) // called before the response to the n-th request in the script's namespace
}

// startFakeServer starts a server that returns the given responses; see fakeServer.responses. Responses may
// contain the variable $NAMESPACE, the script's namespace.
func startFakeServer(t *testing.T, responses ...string) *fakeServer {
	f := &fakeServer{responses: responses, version: "v1.37.0"}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.host = s.URL
	f.stop = func() {
		_ = s.Listener.Close() // makes the server refuse further connections
		s.CloseClientConnections()
	}
	return f
}

var namespacedPath = regexp.MustCompile(`^/apis?/.*/namespaces/(applytest-[a-z0-9]+)/`)

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	found := namespacedPath.FindStringSubmatch(r.URL.Path)
	switch {
	case r.URL.Path == "/version":
		fmt.Fprintf(w, `{"gitVersion":%q}`, f.version)
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		fmt.Fprintf(w, `{"status":{"allowed":%t}}`, !f.hasLimitedUser)
	case r.URL.Path == "/api/v1" || r.URL.Path == "/apis/apps/v1":
		fmt.Fprint(w, `{"kind":"APIResourceList","resources":[{"name":"configmaps"},{"name":"deployments"}]}`)
	case strings.HasPrefix(r.URL.Path, "/apis/") && strings.Count(r.URL.Path, "/") == 3:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{}`)
	case r.Method == http.MethodDelete:
		f.mu.Lock()
		defer f.mu.Unlock()
		f.removed = append(f.removed, r.URL.Path)
		fmt.Fprint(w, `{}`)
	case found == nil && r.Method == http.MethodPost:
		_, _ = io.Copy(w, r.Body) // the response to a creation is the object of the request
	case found == nil:
		fmt.Fprint(w, `{}`)
	default:
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		defer f.mu.Unlock()
		text := fmt.Sprintf("%s %s\n%s\n%s", r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), body)
		f.requests = append(f.requests, strings.ReplaceAll(text, found[1], "$NAMESPACE"))
		if f.onRequest != nil {
			f.onRequest(len(f.requests))
		}
		f.respond(w, found[1])
	}
}

func (f *fakeServer) respond(w http.ResponseWriter, namespace string) {
	if len(f.responses) == 0 {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	next := strings.ReplaceAll(f.responses[0], "$NAMESPACE", namespace)
	if len(f.responses) > 1 {
		f.responses = f.responses[1:]
	}
	for header, rest, ok := strings.Cut(next, "\n"); ok; header, rest, ok = strings.Cut(next, "\n") {
		name, value, _ := strings.Cut(header, ": ")
		w.Header().Set(name, value)
		next = rest
	}
	var code int
	_, _ = fmt.Sscan(next, &code) // an invalid response leaves code 0, with which WriteHeader panics
	w.WriteHeader(code)
	fmt.Fprint(w, strings.TrimPrefix(next, fmt.Sprint(code)+" "))
}

// run runs one script against the fake server, and returns its result.
func (f *fakeServer) run(t *testing.T, script string) Result {
	t.Helper()
	report, err := Run(context.Background(), f.options(script))
	if err != nil {
		t.Fatal(err)
	}
	return report.Results[0]
}

// record runs one script against the fake server with Options.Record, and returns the new text of the script.
func (f *fakeServer) record(t *testing.T, script string) string {
	t.Helper()
	options := f.options(script)
	recorded := script
	options.Record = func(_ string, text []byte) error {
		recorded = string(text)
		return nil
	}
	if _, err := Run(context.Background(), options); err != nil {
		t.Fatal(err)
	}
	return recorded
}

func (f *fakeServer) options(script string) Options {
	return Options{
		Config:  &rest.Config{Host: f.host},
		Scripts: fstest.MapFS{"area/behaviour.txtar": {Data: []byte(script)}},
	}
}
