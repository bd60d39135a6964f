package main

import (
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// TestMain makes the test binary serve as the lower bound, or as a fake of the cadastre binary, if a test has started it
// for that purpose.
func TestMain(m *testing.M) {
	serverbench.ServeIfLowerBound()
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := serve(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// serve runs the fake server. Its arguments are --data DIR --listen ADDRESS --kubeconfig FILE.
func serve(arguments []string) error {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	server := httptest.NewUnstartedServer(&memoryServer{objects: map[string][]byte{}})
	server.EnableHTTP2 = true
	server.StartTLS()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	kubeconfig := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],`+
		`"clusters":[{"name":"c","cluster":{"server":%q,"certificate-authority-data":%q}}],"users":[{"name":"u","user":{}}]}`,
		server.URL, base64.StdEncoding.EncodeToString(authority))
	if err := os.WriteFile(arguments[5], []byte(kubeconfig), 0o600); err != nil {
		return err
	}
	fmt.Println("ready " + server.URL)
	<-end
	return nil
}

// memoryServer is a fake API server that stores request bodies by path and sends them to watchers.
type memoryServer struct {
	lock     sync.Mutex
	objects  map[string][]byte
	watchers []chan []byte
}

func (m *memoryServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Query().Get("watch") != "":
		m.watch(w, r)
	case r.Method == http.MethodGet:
		m.lock.Lock()
		defer m.lock.Unlock()
		for _, object := range m.objectsAt(r.URL.Path) {
			_, _ = w.Write(object)
		}
	default:
		body, _ := io.ReadAll(r.Body)
		m.lock.Lock()
		defer m.lock.Unlock()
		m.objects[r.URL.Path] = body
		for _, watcher := range m.watchers {
			watcher <- body
		}
		_, _ = w.Write(body)
	}
}

// objectsAt returns the object at a path, or the objects of the collection at the path.
func (m *memoryServer) objectsAt(at string) (found [][]byte) {
	for name, object := range m.objects {
		if name == at || path.Dir(name) == at {
			found = append(found, object)
		}
	}
	return found
}

func (m *memoryServer) watch(w http.ResponseWriter, r *http.Request) {
	events := make(chan []byte, 10_000) // the buffer is large enough that no write blocks on a watcher
	m.lock.Lock()
	for _, object := range m.objectsAt(r.URL.Path) {
		events <- object
	}
	m.watchers = append(m.watchers, events)
	m.lock.Unlock()
	for {
		select {
		case <-r.Context().Done():
			return
		case event := <-events:
			_, _ = w.Write(append(event, '\n'))
			w.(http.Flusher).Flush()
		}
	}
}

// TestParts runs every comparison with the fake server and the lower bound, and checks that the findings exist.
func TestParts(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := options{objects: 150, large: true, Options: serverbench.Options{
		Selected: regexp.MustCompile("ready|apply/noop|watch|objects"),
		Load:     serverbench.Load{Clients: 2, Warmup: 20 * time.Millisecond, Window: 100 * time.Millisecond},
		Rounds:   2, Folder: t.TempDir(), Implementations: []string{serverbench.CadastreFlag, serverbench.LowerBoundFlag}, Program: program,
	}}
	implementations, err := o.prepareImplementations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var found []stat.Finding
	for _, part := range parts {
		f, err := part(t.Context(), o, implementations)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, f...)
	}
	figures := map[string]stat.Spread{}
	for _, f := range found {
		figures[f.Name] = f.Figure
	}
	for _, name := range []string{
		"ready/empty time", "ready/empty memory", "apply/noop vs lower-bound", "apply/noop vs kube-apiserver", "watch/100 vs lower-bound",
		"ready/150 time", "ready/150 memory", "apply/objects growth",
	} {
		// The cost per watcher may be negative here, because the fake server does almost no work per watcher.
		if f, ok := figures[name]; !ok || f.Max <= 0 && !strings.HasPrefix(name, "watch") {
			t.Errorf("finding %s = %v, %v, want a positive figure", name, f, ok)
		}
	}
}
