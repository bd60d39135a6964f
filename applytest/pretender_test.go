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

const aConfigMap = "It works.\n-- step --\nGET configmaps/shared\n"

// pretend starts a server that says its version, and answers everything else as a test does. Where that does not
// answer, it is a server that lacks nothing.
func pretend(t *testing.T, answer func(w http.ResponseWriter, r *http.Request) bool) Options {
	like := &fake{answers: []string{shared}, version: "v1.36.0"}
	var mu sync.Mutex // requests may come at once, and tests remember them
	answered := func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		return answer(w, r)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/version" || !answered(w, r) {
			like.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return Options{Config: &rest.Config{Host: s.URL}, CleanupTimeout: time.Second,
		Scripts: fstest.MapFS{"area/behaviour.txtar": {Data: []byte(aConfigMap)}}}
}

// TestPages: a page for people, such as that of a proxy where one has to log in, is not taken for an object that was
// made.
func TestPages(t *testing.T) {
	options := pretend(t, func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>log in</html>")
		return true
	})
	if report, err := Run(t.Context(), options); err == nil || !strings.Contains(err.Error(), "expected the object that was made, received 200 <html>") {
		t.Errorf("received %v, %+v", err, report)
	}
}

// TestNoDiscovery: a server that does not say which kinds it has is told so. It is not said to lack them, which would
// be a reason to skip everything and find no fault.
func TestNoDiscovery(t *testing.T) {
	for answer, outcome := range map[string]Outcome{
		"404 {}":                                Fail, // the namespace was made in the same group
		"500 {}":                                Fail,
		"200 {}":                                Fail,
		"200 <html>":                            Fail,
		`200 {"kind":"APIResourceList"}`:        Skip,
		`403 {"message":"you are not welcome"}`: Fail,
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			report, err := Run(t.Context(), pretend(t, func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/api/v1" {
					return false
				}
				var code int
				_, _ = fmt.Sscan(answer, &code) // the test has written it
				if strings.HasSuffix(answer, ">") {
					w.Header().Set("Content-Type", "text/html")
				}
				w.WriteHeader(code)
				fmt.Fprint(w, answer[len("200 "):])
				return true
			}))
			if err != nil || report.Results[0].Outcome != outcome {
				t.Fatalf("received %v, %+v, want %s", err, report, outcome)
			}
			if failure := report.Results[0].Failure; outcome == Fail && !strings.Contains(failure.String(), "GET /api/v1: expected the kinds that are served, received "+answer) {
				t.Errorf("received %s", failure)
			}
		})
	}
}

// TestFailureBeforeTheFirstStep: what goes wrong before a script begins is in no step.
func TestFailureBeforeTheFirstStep(t *testing.T) {
	if text := (&Failure{Complaints: []string{"no namespace"}}).String(); text != "no namespace\n" {
		t.Errorf("received %q", text)
	}
}

// TestNamespaceWithoutAnAnswer: a namespace that may have been made goes, though nobody said that it is there.
func TestNamespaceWithoutAnAnswer(t *testing.T) {
	var removed []string
	options := pretend(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodDelete:
			removed = append(removed, r.URL.Path)
			return false
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces":
			panic(http.ErrAbortHandler) // done, and no answer
		}
		return false
	})
	report, err := Run(t.Context(), options)
	if report != nil || err == nil || len(removed) != 1 || !strings.Contains(err.Error(), "make the namespace "+strings.TrimPrefix(removed[0], namespacePath)+": ") {
		t.Errorf("received %v, %+v, removed %q", err, report, removed)
	}
	if strings.Contains(fmt.Sprint(err), "--namespace") {
		t.Errorf("received %v: another namespace would not help", err)
	}
}

// TestNamespacesWithoutAnswers: so do those that are made to remove it.
func TestNamespacesWithoutAnswers(t *testing.T) {
	var made []string
	deleted, looked := map[string]bool{}, map[string]int{}
	options := pretend(t, func(w http.ResponseWriter, r *http.Request) bool {
		name, isNamespace := strings.CutPrefix(r.URL.Path, namespacePath)
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces":
			body, _ := io.ReadAll(r.Body)
			made = append(made, regexp.MustCompile(`applytest-[a-z0-9]+`).FindString(string(body)))
			panic(http.ErrAbortHandler) // done, and no answer
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
		t.Errorf("received %v, %+v", err, report)
	}
	for _, name := range made {
		if !deleted[name] {
			t.Errorf("%s is left, of %q", name, made)
		}
	}
	if len(made) != 2 {
		t.Errorf("made %q, want the runner's own, and one to see who completes deletions", made)
	}
}

// TestNamespaceThatFindsOut: the namespace that shows whether somebody completes deletions goes, or is told, too.
func TestNamespaceThatFindsOut(t *testing.T) {
	var trial string
	made := 0
	options := pretend(t, func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/api/v1/namespaces":
			made++
			return false
		case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, namespacePath) && !strings.Contains(strings.TrimPrefix(r.URL.Path, namespacePath), "/"):
			fmt.Fprint(w, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"finalizers":["kubernetes"]}}`)
			return true
		case r.Method == http.MethodDelete && made == 3: // those of the runner and of the script were made before
			trial = r.URL.Path
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
	if err != nil || trial == "" {
		t.Fatalf("received %v, and %q was to find out", err, trial)
	}
	for _, left := range report.Leftovers {
		if left.Path == trial {
			return
		}
	}
	t.Errorf("left are %v, want %s among them", report.Leftovers, trial)
}
