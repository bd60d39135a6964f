package applytest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"k8s.io/client-go/rest"
)

const getConfigMap = "It works.\n-- step --\nGET configmaps/shared\n"

// startDefectiveServer starts a server, and returns Options for it that select one script. The server responds to GET
// /version itself, and calls respond for every other request. If respond returns false, a complete server handles the
// request.
func startDefectiveServer(t *testing.T, respond func(w http.ResponseWriter, r *http.Request) bool) Options {
	like := &fakeServer{responses: []string{shared}, version: "v1.37.0"}
	var mu sync.Mutex // serializes calls of respond: requests may be concurrent, and the functions of tests append to slices
	answered := func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		return respond(w, r)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/version" || !answered(w, r) {
			like.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return Options{Config: &rest.Config{Host: s.URL}, CleanupTimeout: time.Second,
		Scripts: fstest.MapFS{"area/behaviour.txtar": {Data: []byte(getConfigMap)}}}
}

// TestPages checks that an HTML page, such as the login page of a proxy, is not mistaken for a created object.
func TestPages(t *testing.T) {
	options := startDefectiveServer(t, func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>log in</html>")
		return true
	})
	if report, err := Run(t.Context(), options); err == nil || !strings.Contains(err.Error(), "expected the created object, received 200 <html>") {
		t.Errorf("Run() = %v, %+v, want an error that shows the HTML page", err, report)
	}
}

// TestNoDiscovery checks that a script fails, and is not skipped, on a server without discovery: skipping the script
// would hide the defect.
func TestNoDiscovery(t *testing.T) {
	for respond, outcome := range map[string]Outcome{
		"404 {}":                                Fail, // a failure, because namespaces are in the core group v1, which every server must serve
		"500 {}":                                Fail,
		"200 {}":                                Fail,
		"200 <html>":                            Fail,
		`200 {"kind":"APIResourceList"}`:        Skip,
		`403 {"message":"you are not welcome"}`: Fail,
	} {
		t.Run(respond, func(t *testing.T) {
			t.Parallel()
			report, err := Run(t.Context(), startDefectiveServer(t, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/api/v1" {
					return false
				}
				var code int
				_, _ = fmt.Sscan(respond, &code) // Sscan never fails, because the test cases contain only valid numbers
				if strings.HasSuffix(respond, ">") {
					w.Header().Set("Content-Type", "text/html")
				}
				w.WriteHeader(code)
				fmt.Fprint(w, respond[len("200 "):])
				return true
			}))
			if err != nil || report.Results[0].Outcome != outcome {
				t.Fatalf("Run() = %v, %+v, want %s", err, report, outcome)
			}
			if failure := report.Results[0].Failure; outcome == Fail && !strings.Contains(failure.String(), "GET /api/v1: expected an APIResourceList, received "+respond) {
				t.Errorf("failure = %s, want the response %s in it", failure, respond)
			}
		})
	}
}

// TestFailureBeforeTheFirstStep checks that the text of a Failure without a step consists of its complaints only.
func TestFailureBeforeTheFirstStep(t *testing.T) {
	if text := (&Failure{Complaints: []string{"no namespace"}}).String(); text != "no namespace\n" {
		t.Errorf("String() = %q, want only the complaint", text)
	}
}

// TestNamespaceWithoutResponse checks that a namespace is deleted even if the server did not respond to its creation.
func TestNamespaceWithoutResponse(t *testing.T) {
	var removed []string
	options := startDefectiveServer(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodDelete:
			removed = append(removed, r.URL.Path)
			return false
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces":
			panic(http.ErrAbortHandler) // aborts the connection: the request was executed, but has no response
		}
		return false
	})
	report, err := Run(t.Context(), options)
	if report != nil || err == nil || len(removed) != 1 || !strings.Contains(err.Error(), "create namespace "+strings.TrimPrefix(removed[0], namespacePath)+": ") {
		t.Errorf("Run() = %v, %+v, deleted %q, want the created namespace deleted", err, report, removed)
	}
	if strings.Contains(fmt.Sprint(err), "--namespace") {
		t.Errorf("Run() = %v, want no advice to use another namespace", err)
	}
}

// TestNamespacesWithoutResponses checks that all namespaces are deleted if the server responds to no creation of a
// namespace. One of these namespaces probes whether the server completes deletions.
func TestNamespacesWithoutResponses(t *testing.T) {
	var made []string
	deleted, looked := map[string]bool{}, map[string]int{}
	options := startDefectiveServer(t, func(w http.ResponseWriter, r *http.Request) bool {
		name, isNamespace := strings.CutPrefix(r.URL.Path, namespacePath)
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces":
			body, _ := io.ReadAll(r.Body)
			made = append(made, regexp.MustCompile(`applytest-[a-z0-9]+`).FindString(string(body)))
			panic(http.ErrAbortHandler) // aborts the connection: the request was executed, but has no response
		case isNamespace && r.Method == http.MethodDelete:
			deleted[name] = true
			fmt.Fprint(w, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`)
			return true
		case isNamespace && r.Method == http.MethodGet:
			if looked[name]++; looked[name] > 2 {
				w.WriteHeader(http.StatusNotFound)
			}
			fmt.Fprint(w, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"finalizers":["kubernetes"]}}`)
			return true
		}
		return false
	})
	if report, err := Run(t.Context(), options); report != nil || err == nil {
		t.Errorf("Run() = %v, %+v, want no report and an error", err, report)
	}
	for _, name := range made {
		if !deleted[name] {
			t.Errorf("namespace %s was not deleted, want all of %q deleted", name, made)
		}
	}
	if len(made) != 2 {
		t.Errorf("created namespaces = %q, want the runner's namespace and the probe namespace", made)
	}
}

// TestDeletionProbeIsReported checks that the namespace that is created to probe whether the server completes deletions
// is deleted, or reported as a leftover.
func TestDeletionProbeIsReported(t *testing.T) {
	var probe string
	made := 0
	options := startDefectiveServer(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces":
			made++
			return false
		case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, namespacePath) && !strings.Contains(strings.TrimPrefix(r.URL.Path, namespacePath), "/"):
			fmt.Fprint(w, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"finalizers":["kubernetes"]}}`)
			return true
		case r.Method == http.MethodDelete && made == 3: // the third namespace is the probe; the first two are those of the runner and of the script
			probe = r.URL.Path
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, `{}`)
			return true
		case r.Method == http.MethodDelete:
			fmt.Fprint(w, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`)
			return true
		}
		return false
	})
	report, err := Run(t.Context(), options)
	if err != nil || probe == "" {
		t.Fatalf("Run() = %v, probe namespace = %q, want the name of a created namespace", err, probe)
	}
	for _, left := range report.Leftovers {
		if left.Path == probe {
			return
		}
	}
	t.Errorf("Leftovers = %v, want %s among them", report.Leftovers, probe)
}
