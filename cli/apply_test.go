package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/internal/cluster"
	"github.com/cadastre/cadastre/ownership"
)

// TestOnlyUpdateLosesRace has the object deleted after it was read: it must not come back.
func TestOnlyUpdateLosesRace(t *testing.T) {
	config := cadastretest.Start(t)
	f := newFixture(t, config, 1)
	a := application{
		applyFlags: applyFlags{manager: "old", onlyUpdate: true},
		cluster:    f.cluster, target: target{f.kind, "default", "c0"}, config: configOf(t, "c0", "a", "mine"),
	}
	if err := a.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), "c0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.apply(t.Context()); !cluster.IsCode(err, http.StatusConflict) {
		t.Errorf("applied: %v", err)
	}
	if _, err := a.target.get(t.Context(), f.cluster); !cluster.IsCode(err, http.StatusNotFound) {
		t.Errorf("it came back: %v", err)
	}
}

// TestForcePathLosesRace has somebody else write the object after it was read: nothing is forced that was not
// looked at.
func TestForcePathLosesRace(t *testing.T) {
	f := newFixture(t, cadastretest.Start(t), 1)
	path, err := ownership.ParsePath("data.a")
	if err != nil {
		t.Fatal(err)
	}
	a := application{
		applyFlags: applyFlags{manager: "new", forcePaths: []ownership.WrittenPath{path}},
		cluster:    f.cluster, target: target{f.kind, "default", "c0"}, config: configOf(t, "c0", "a", "mine"),
	}
	if err := a.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.apply(t, "c0", "other", "b")
	if _, err := a.apply(t.Context()); !cluster.IsCode(err, http.StatusConflict) {
		t.Errorf("applied: %v", err)
	}
	if err := a.read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after, err := a.apply(t.Context()); err != nil || after.Document.Lookup("data", "a").Text() != "mine" {
		t.Errorf("%v: %s", err, after.JSON())
	}
}

// dyingServer is a server that hangs up when it is asked to apply for the second time. It returns a kubeconfig.
func dyingServer(t *testing.T) string {
	t.Helper()
	config := cadastretest.Start(t)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	var applied atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch && applied.Add(1) > 1 {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := "{clusters: [{name: c, cluster: {server: " + server.URL + "}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestApplyWithoutServer has the server go away half-way: what was and was not done is told, and why, once.
func TestApplyWithoutServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "all.yaml")
	text := ""
	for _, name := range []string{"a", "b", "c", "d"} {
		text += "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}}\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := Main([]string{"apply", "--kubeconfig", dyingServer(t), "-f", file}, &stdout, &stderr); code != 1 {
		t.Errorf("exit code %d", code)
	}
	if got, want := stdout.String(), "configmap/a created\n"; got != want {
		t.Errorf("received %q, want %q", got, want)
	}
	want := regexp.MustCompile("^configmap/b: may or may not have been applied\nconfigmap/c: not applied\nconfigmap/d: not applied\n" +
		"cadastre: apply: stopped after 1 of 4 objects, of which 0 failed: ask the server at http://.*: EOF\n$")
	if !want.MatchString(stderr.String()) {
		t.Errorf("received %s", stderr.String())
	}
}
