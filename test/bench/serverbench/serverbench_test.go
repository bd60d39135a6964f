package serverbench

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const testDuration = 150 * time.Millisecond

var testLoad = Load{Clients: 2, Warmup: testDuration / 3, Window: testDuration}

func TestMain(m *testing.M) {
	ServeIfLowerBound()
	os.Exit(m.Run())
}

// serve starts an HTTPS server with handler in this process, and returns it as a Server whose usage is that of this
// process. The server stops at the end of the test.
func serve(t *testing.T, handler http.HandlerFunc) *Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	s := newServer(os.Getpid(), nil)
	s.URL, s.token, s.tls = server.URL, "secret", server.Client().Transport.(*http.Transport).TLSClientConfig
	return s
}

// TestCases checks the requests that each case sends.
func TestCases(t *testing.T) {
	type seen struct{ method, path, query, kind, image string }
	for _, test := range []struct {
		name string
		want seen // the expected request; path is a prefix of its path
		same bool // whether all requests must have the same image
	}{
		{"get", seen{"GET", "/apis/apps/v1/namespaces/bench-list/deployments/web-", "", "", ""}, true},
		{"list/2000", seen{"GET", "/apis/apps/v1/namespaces/bench-list/deployments", "", "", ""}, true},
		{"apply/noop", seen{"PATCH", "/apis/apps/v1/namespaces/bench-work/deployments/noop-", "fieldManager=bench", applyType, ""}, true},
		{"apply/change", seen{"PATCH", "/apis/apps/v1/namespaces/bench-work/deployments/change-", "fieldManager=bench", applyType, ""}, false},
		{"update", seen{"PUT", "/apis/apps/v1/namespaces/bench-work/deployments/update-", "fieldManager=bench", jsonType, ""}, false},
		{"apply/create", seen{"PATCH", "/apis/apps/v1/namespaces/bench-create/deployments/new-", "fieldManager=bench", applyType, ""}, true},
		{"create", seen{"POST", "/apis/apps/v1/namespaces/bench-create/deployments", "fieldManager=bench", jsonType, ""}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			var lock sync.Mutex
			requests, images, paths := 0, map[string]bool{}, map[string]bool{}
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				lock.Lock()
				defer lock.Unlock()
				requests++
				paths[r.URL.Path] = true
				images[image(string(body))] = true
				got := seen{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Content-Type"), ""}
				if strings.HasPrefix(got.path, test.want.path) {
					got.path = test.want.path
				}
				if got != test.want || r.ProtoMajor != 2 || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("got request %+v over %s with headers %v, want %+v over HTTP/2.0", got, r.Proto, r.Header, test.want)
				}
			})
			result, err := find(t, test.name).Run(t.Context(), s, testLoad)
			if err != nil {
				t.Fatal(err)
			}
			if result.Operations == 0 || result.Operations > requests || result.P50 == 0 || result.P99 < result.P50 || result.After.Memory.Resident == 0 {
				t.Errorf("result of %d requests = %+v, want operations, latencies and no more operations than requests", requests, result)
			}
			if same := len(images) == 1; same != test.same {
				t.Errorf("%d requests had %d different images, want exactly 1: %v", requests, len(images), test.same)
			}
			if created := strings.HasPrefix(test.want.path, "/apis/apps/v1/namespaces/bench-create/deployments/"); created && len(paths) != requests {
				t.Errorf("%d requests had %d different names, want a new name in every request", requests, len(paths))
			}
		})
	}
}

func image(body string) string {
	_, rest, _ := strings.Cut(body, "shop/web:")
	tag, _, _ := strings.Cut(rest, `"`)
	return tag
}

func find(t *testing.T, name string) Case {
	t.Helper()
	for _, c := range Cases {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("case %s not found", name)
	return Case{}
}

// TestPrepare checks that Prepare creates the objects that the case reads.
func TestPrepare(t *testing.T) {
	var lock sync.Mutex
	created := map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		switch {
		case r.URL.Path == "/api/v1/namespaces":
			w.WriteHeader(http.StatusConflict) // the object exists
		case r.Method == "PATCH":
			created[r.URL.Path] = true
		case r.Method == "GET" && !created[r.URL.Path]:
			t.Errorf("GET %s: Prepare() has not created the object, want it created", r.URL.Path)
		}
	})
	c := find(t, "get")
	if err := c.Prepare(t.Context(), s, 2); err != nil {
		t.Fatal(err)
	}
	if len(created) != listed {
		t.Errorf("Prepare() created %d objects, want %d", len(created), listed)
	}
	if _, err := c.Run(t.Context(), s, testLoad); err != nil {
		t.Error(err)
	}
}

// TestFailures checks that an error response ends the load and is returned.
func TestFailures(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no such thing", http.StatusNotFound) })
	long := Load{Clients: 2, Window: time.Minute}
	for name, run := range map[string]func() error{
		"run":     func() error { _, err := find(t, "get").Run(t.Context(), s, long); return err },
		"prepare": func() error { return find(t, "get").Prepare(t.Context(), s, 2) },
		"watch":   func() error { _, err := Watch(t.Context(), s, 2, long); return err },
		"fill":    func() error { _, err := Fleet{10}.Fill(t.Context(), s, 0); return err },
		"sample":  func() error { _, err := TakeSample(t.Context(), s); return err },
	} {
		var status *StatusError
		if err := run(); !errors.As(err, &status) || status.Code != 404 || !strings.Contains(status.Body, "no such thing") {
			t.Errorf("%s: Run() = %v, want the 404 response of the server", name, err)
		}
	}
}

// startLowerBound starts the lower bound as a child process, and stops it at the end of the test.
func startLowerBound(t *testing.T) *Server {
	t.Helper()
	// The context of the test ends before its cleanup functions run.
	s, err := LowerBound(SyntheticSample()).Start(context.WithoutCancel(t.Context()), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestLowerBound runs all cases and watchers on the lower bound.
func TestLowerBound(t *testing.T) {
	s := startLowerBound(t)
	for _, c := range Cases {
		if err := c.Prepare(t.Context(), s, testLoad.Clients); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if r, err := c.Run(t.Context(), s, testLoad); err != nil || r.Operations == 0 {
			t.Errorf("%s: Run() = %+v, %v, want operations and no error", c.Name, r, err)
		}
	}
	const watchers = 5
	r, err := Watch(t.Context(), s, watchers, testLoad)
	if err != nil || r.Watched.Operations == 0 || r.Alone.Operations == 0 || r.Watchers != watchers {
		t.Errorf("Watch() = %+v, %v, want operations and no error", r, err)
	}
	sample, err := TakeSample(t.Context(), s)
	if err != nil || string(sample.List) != string(SyntheticSample().List) || string(sample.Object) != string(SyntheticSample().Object) {
		t.Errorf("TakeSample() = object of %d bytes, list of %d bytes, %v, want those of SyntheticSample", len(sample.Object), len(sample.List), err)
	}
}

// TestMinimumCPU checks that windows are extended until the server has used the minimum CPU time of the load. For a
// watch, the CPU times of all windows are added.
func TestMinimumCPU(t *testing.T) {
	s := startLowerBound(t)
	load := testLoad
	load.Window, load.CPU = time.Millisecond, 200*time.Millisecond
	if err := Cases[0].Prepare(t.Context(), s, load.Clients); err != nil {
		t.Fatal(err)
	}
	if r, err := Cases[0].Run(t.Context(), s, load); err != nil || r.CPU < load.CPU {
		t.Errorf("CPU = %v, %v, want at least %v", r.CPU, err, load.CPU)
	}
	r, err := Watch(t.Context(), s, 2, load)
	if err != nil || r.Watched.CPU < load.CPU || r.Alone.CPU < load.CPU {
		t.Errorf("CPU watched = %v, alone = %v, %v, want at least %v", r.Watched.CPU, r.Alone.CPU, err, load.CPU)
	}
}

// TestWatchWaits checks that wait returns only when all watchers have received the event.
func TestWatchWaits(t *testing.T) {
	all := newWatchGroup(3)
	total := all.expect(1)
	all.count(2, 20)
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := all.wait(short, total); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("wait() after 2 of 3 events = %v, want %v", err, context.DeadlineExceeded)
	}
	go all.count(1, 10)
	if err := all.wait(t.Context(), total); err != nil {
		t.Error(err)
	}
}

func TestCPUPerEvent(t *testing.T) {
	r := WatchResult{
		Watchers: 100,
		Watched:  Result{Operations: 10, CPU: 30 * time.Millisecond},
		Alone:    Result{Operations: 20, CPU: 20 * time.Millisecond},
	}
	if got := r.CPUPerEvent(); got != 20_000 {
		t.Errorf("CPUPerEvent() = %v ns, want 20 µs: (3 ms - 1 ms) / 100", got)
	}
	r.Watched, r.Alone = r.Alone, r.Watched
	if got := r.CPUPerEvent(); !math.IsNaN(got) {
		t.Errorf("CPUPerEvent() with a negative difference = %v ns, want NaN", got)
	}
}

// TestFill checks that Fill creates only the missing objects and their namespaces.
func TestFill(t *testing.T) {
	var lock sync.Mutex
	namespaces, created := 0, map[string]bool{}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		if r.URL.Path == "/api/v1/namespaces" {
			namespaces++
			return
		}
		created[r.URL.Path] = true
		_, _ = io.WriteString(w, "12345")
	})
	bytes, err := Fleet{2100}.Fill(t.Context(), s, 900)
	if err != nil || bytes != 1200*5 || len(created) != 1200 || namespaces != 3 {
		t.Errorf("Fill() created %d objects of %d bytes in %d namespaces, %v; want 1200, 6000 and 3", len(created), bytes, namespaces, err)
	}
}

const kubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],` +
	`"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}],"users":[{"name":"u","user":{"token":"secret"}}]}`

// TestCadastre starts shell scripts that simulate the cadastre binary and its failures.
func TestCadastre(t *testing.T) {
	script := func(text string) string {
		file := filepath.Join(t.TempDir(), "cadastre")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := script(`printf '%s' '` + kubeconfig + `' > "$7"; echo hello; echo ready https://127.0.0.1:1; exec sleep 60`)
	s, err := Cadastre(good).Start(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if s.URL != "https://127.0.0.1:1" || s.token != "secret" || s.Ready == 0 {
		t.Errorf("Start() = %+v, want the URL and the credentials that the script printed", s)
	}
	start := time.Now()
	if err := s.Stop(); time.Since(start) > stopTimeout/2 || err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("Stop() returned %[2]v after %[1]v, want an error with \"terminated\" within %[3]v", time.Since(start), err, stopTimeout/2)
	}
	_, err = Cadastre(script(`echo no disk >&2; exit 3`)).Start(t.Context(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "no disk") || !strings.Contains(err.Error(), "status 3") {
		t.Errorf("Start() = %v, want an error with \"no disk\" and \"status 3\"", err)
	}
}
