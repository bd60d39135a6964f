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
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/cadastretest"
)

// startFailingServer starts a server with four objects, and a proxy for it. The proxy counts the requests whose method is
// method and whose path contains part; from the n-th of them on, it closes the connection without a response.
// startFailingServer returns the file name of a kubeconfig for the proxy.
func startFailingServer(t *testing.T, n int32, method, part string) string {
	t.Helper()
	config := cadastretest.Start(t)
	newFixture(t, config, 4)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	var seen atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method && strings.Contains(r.URL.Path, part) && seen.Add(1) >= n {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	text := "{clusters: [{name: c, cluster: {server: " + server.URL + "}}], contexts: [{name: c, context: {cluster: c}}], current-context: c}"
	return writeFile(t, "kubeconfig", text)
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestServerLoss checks that, if the server stops responding while a verb runs, every object is reported and the error is
// one line.
func TestServerLoss(t *testing.T) {
	newObjects, existing := "", ""
	for _, n := range []string{"0", "1", "2", "3"} {
		newObjects += "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: n" + n + "}}\n"
		existing += "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c" + n + "}, data: {a: other}}\n"
	}
	const noResponse = "request to http://.*: EOF"
	for _, test := range []struct {
		name, args     string
		n              int32
		method, part   string
		code           int
		stdout, stderr string
	}{
		{
			"apply", "apply -f FRESH", 2, "PATCH", "", 1, "configmap/n0 created\n",
			"configmap/n1: may have been applied; the server did not respond\nconfigmap/n2: not applied\nconfigmap/n3: not applied\n" +
				"cadastre: apply: stopped after 1 of 4 objects, 0 failed: " + noResponse + "\n",
		},
		{
			"apply with dry run", "apply -f FRESH --dry-run", 2, "PATCH", "", 1, "configmap/n0 created \\(dry run\\)\n",
			"configmap/n1: not checked\nconfigmap/n2: not checked\nconfigmap/n3: not checked\n" +
				"cadastre: apply: stopped after 1 of 4 objects, 0 failed: " + noResponse + "\n",
		},
		{
			"plan", "plan -f FRESH -o name", 2, "PATCH", "", 2, "configmap/n0\n",
			"configmap/n1: not planned\nconfigmap/n2: not planned\nconfigmap/n3: not planned\n" +
				"cadastre: plan: stopped after 1 of 4 objects, 0 failed: " + noResponse + "\n",
		},
		{
			"plan without OpenAPI", "plan -f KNOWN --manager old", 1, "GET", "/openapi/v3/api/v1", 2, "",
			"configmap/c0: not planned\n(.*\n){3}cadastre: plan: stopped after 0 of 4 objects, 0 failed: " + noResponse + "\n",
		},
		{
			"migrate", "migrate -f KNOWN --from old --to new --parallel 1", 2, "PATCH", "", 1,
			"configmap/c0 in default: migrated: old Apply -> new Apply: 1 field, 1 newly owned\nconfigmap/c1 in default: outcome unknown\n" +
				"configmap/c2 in default: not attempted\nconfigmap/c3 in default: not attempted\n1 migrated, 1 outcome unknown, 2 not attempted\n",
			"cadastre: migrate: stopped: configmap/c1: " + noResponse + "; run the command again to migrate the remaining objects\n",
		},
		{
			"migrate with -o name", "migrate -f KNOWN --from old --to new --parallel 1 -o name", 2, "PATCH", "", 1, "configmap/c0\n",
			"configmap/c1 in default: outcome unknown\nconfigmap/c2 in default: not attempted\nconfigmap/c3 in default: not attempted\n" +
				"cadastre: migrate: stopped: configmap/c1: " + noResponse + "; run the command again to migrate the remaining objects\n",
		},
		{
			"own release", "own release cm c0 data.a", 1, "PATCH", "", 1, "",
			"cadastre: configmap/c0: " + noResponse + "; managedFields may have been changed; run the command again\n",
		},
		{"own transfer", "own transfer cm c0 data.a --to x", 1, "GET", "/c0", 1, "", "cadastre: configmap/c0: " + noResponse + "\n"},
		{"blame", "blame cm c0", 1, "GET", "/openapi/v3/api/v1", 1, "", "cadastre: merge topology of configmap: " + noResponse + "\n"},
		{"extract", "extract cm c0 --manager old", 1, "GET", "/c0", 1, "", "cadastre: configmap/c0: " + noResponse + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := strings.NewReplacer("FRESH", writeFile(t, "fresh.yaml", newObjects), "KNOWN", writeFile(t, "known.yaml", existing)).Replace(test.args)
			var stdout, stderr bytes.Buffer
			code := Main(append(strings.Fields(args), "--kubeconfig", startFailingServer(t, test.n, test.method, test.part)), &stdout, &stderr)
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for _, output := range [][2]string{{stdout.String(), test.stdout}, {stderr.String(), test.stderr}} {
				if !regexp.MustCompile("^" + output[1] + "$").MatchString(output[0]) {
					t.Errorf("output\n%swant a match of\n%s", output[0], output[1])
				}
			}
		})
	}
}
