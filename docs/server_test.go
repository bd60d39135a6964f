package docs_test

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/cli"
	"github.com/cadastre/cadastre/internal/metrics"
)

const manual = "server.md"

// TestFlags holds the table of flags against the help.
func TestFlags(t *testing.T) {
	t.Setenv("HOME", "~")
	t.Setenv("XDG_DATA_HOME", "")
	var help, errors bytes.Buffer
	if code := cli.Main([]string{"serve", "--help"}, &help, &errors); code != 0 {
		t.Fatalf("exit code %d: %s", code, errors.String())
	}
	flag := regexp.MustCompile(`^ +(?:-h, )?--([-a-z]+) (.*?) {2,}(.*)$`)
	text := "| Flag | Meaning |\n|---|---|\n"
	for line := range strings.Lines(help.String()) {
		line = strings.TrimRight(line, "\n")
		if found := flag.FindStringSubmatch(line); found != nil {
			text += fmt.Sprintf("| `%s` | %s |\n", escaped(strings.TrimSpace("--"+found[1]+" "+found[2])), escaped(found[3]))
		} else if rest := strings.TrimLeft(line, " "); len(line)-len(rest) > 20 {
			text = strings.TrimSuffix(text, " |\n") + " " + escaped(rest) + " |\n" // the text of a flag goes on
		}
	}
	generated(t, "flags", text)
}

func escaped(cell string) string { return strings.ReplaceAll(cell, "|", `\|`) }

// TestKinds holds the table of kinds against those that are served.
func TestKinds(t *testing.T) {
	all := api.Builtin()
	slices.SortStableFunc(all, func(a, b *api.Kind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name))
	})
	text := "| Kind | Resource | Short | At | Namespaced | Subresources |\n|---|---|---|---|---|---|\n"
	for _, k := range all {
		var at []string
		for _, version := range k.Versions {
			at = append(at, k.APIVersion(version))
		}
		namespaced, note := "yes", ""
		if !k.Namespaced {
			namespaced = "no"
		}
		if k.CreateOnly {
			note = " (create only)"
		}
		text += fmt.Sprintf("| %s%s | %s | %s | %s | %s | %s |\n",
			k.Name, note, k.Resource, strings.Join(k.ShortNames, ", "), strings.Join(at, ", "), namespaced, strings.Join(k.Subresources, ", "))
	}
	generated(t, "kinds", text)
}

// TestMetrics holds the table of metrics against those that there are: those that count something, which a server does not tell
// before they have, and those that it reads when it is asked.
func TestMetrics(t *testing.T) {
	c := newClient(t)
	c.apply("settings", "m", `"data":{"a":"1"}`).want(200, 201)
	c.call("GET", configMaps+"?watch=true&timeoutSeconds=1", "").want(200)
	c.call("DELETE", configMaps+"/settings", "").want(200)
	text := c.call("GET", "/metrics", "").want(200).text
	about, kind := map[string]string{}, map[string]string{}
	for _, family := range metrics.New().Families() {
		about[family.Name], kind[family.Name] = family.Help, family.Type
	}
	for line := range strings.Lines(text) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 4)
		switch {
		case len(words) < 4 || strings.HasPrefix(words[2], "go_") || strings.HasPrefix(words[2], "process_"):
		case words[1] == "HELP":
			about[words[2]] = words[3]
		case words[1] == "TYPE":
			kind[words[2]] = words[3]
		}
	}
	var rows []string
	for name := range about {
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", name, kind[name], about[name]))
	}
	slices.Sort(rows)
	generated(t, "metrics", "| Metric | Type | Meaning |\n|---|---|---|\n"+strings.Join(rows, ""))
}

// generated holds a part of the manual that is written by tests against what it should be.
func generated(t *testing.T, name, text string) {
	t.Helper()
	content, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), "<!-- "+name+": written by CADASTRE_UPDATE=1 go test ./docs -->\n")
	was, tail, ended := strings.Cut(rest, "<!-- end -->")
	switch {
	case !found || !ended:
		t.Fatalf("%s has no part %q: expected <!-- %s: written by … --> and <!-- end -->", manual, name, name)
	case was == text:
	case updating:
		head := string(content[:len(content)-len(rest)])
		if err := os.WriteFile(manual, []byte(head+text+"<!-- end -->"+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s: the table of %s is not what it should be: run CADASTRE_UPDATE=1 go test ./docs; expected\n%s\nreceived\n%s", manual, name, text, was)
	}
}

// TestNumbers holds the numbers in the manual against the code.
func TestNumbers(t *testing.T) {
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(strings.Fields(string(page)), " ")
	for _, n := range []struct{ says, file, code string }{
		{"A body may have 3 MiB", "internal/server/limits.go", "l.MaxBodyBytes = 3 << 20"},
		{"400 requests that read", "internal/server/limits.go", "l.MaxReadOnlyInFlight = 400"},
		{"200 that change", "internal/server/limits.go", "l.MaxMutatingInFlight = 200"},
		{"A request may take a minute", "internal/server/limits.go", "l.RequestTimeout = time.Minute"},
		{"Headers may have 1 MiB", "internal/server/listener.go", "maxHeaderBytes = 1 << 20"},
		{"10 seconds to send a request's headers", "internal/server/listener.go", "readHeaderTimeout = 10 * time.Second"},
		{"idle for 3 minutes", "internal/server/listener.go", "idleTimeout = 3 * time.Minute"},
		{"250 requests at once", "internal/server/listener.go", "maxStreams = 250"},
		{"between 30 and 60 minutes", "internal/server/watch.go", "minWatchTimeout = 30 * time.Minute"},
		{"a bookmark a minute", "internal/server/watch.go", "bookmarkInterval = time.Minute"},
		{"up to 20 seconds for the requests", "internal/cli/serve.go", "shutdownTimeout = 20 * time.Second"},
		{"kept for ten minutes", "internal/storage/pebble/open.go", "o.HistoryAge = 10 * time.Minute"},
		{"up to 1 GiB", "internal/storage/pebble/open.go", "o.HistoryBytes = 1 << 30"},
		{"waited for up to 3 seconds", "internal/watchcache/open.go", "defaultFutureWait = 3 * time.Second"},
		{"lives for ten years", "internal/auth/authn/authority.go", "caLifetime = 10 * 365 * 24 * time.Hour"},
		{"lives for a year", "internal/auth/authn/authority.go", "leafLifetime = 365 * 24 * time.Hour"},
		{"addresses from 10.96.0.0/12", "internal/registry/service/strategy.go", `netip.MustParsePrefix("10.96.0.0/12")`},
		{"TLS 1.2 or later", "internal/auth/authn/serving.go", "MinVersion: tls.VersionTLS12"},
	} {
		code, err := os.ReadFile(filepath.Join("..", n.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(said, n.says) {
			t.Errorf("%s does not say %q", manual, n.says)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(code)), " "), n.code) {
			t.Errorf("%s says %q, which was true when %s had %q: correct the manual, and this test", manual, n.says, n.file, n.code)
		}
	}
}

// TestNotServed has what the manual says is not served.
func TestNotServed(t *testing.T) {
	c := newClient(t)
	const pod = "/api/v1/namespaces/default/pods/web/"
	for _, path := range []string{
		pod + "exec", pod + "attach", pod + "portforward", pod + "proxy",
		"/api/v1/namespaces/default/serviceaccounts/default/token",
		"/apis/certificates.k8s.io/v1/certificatesigningrequests/mine/approval",
	} {
		c.call("POST", path, "{}").want(http.StatusNotFound).wantText("the server could not find the requested resource: ")
	}
	c.call("GET", pod+"log", "").want(http.StatusNotFound)
	c.call("GET", "/api/v1/namespaces/default/services/web/proxy", "").want(http.StatusNotFound)
}

// TestPatchTypes are those of the manual.
func TestPatchTypes(t *testing.T) {
	c := newClient(t)
	c.apply("c", "m", `"data":{"a":"1"}`).want(201)
	page, err := os.ReadFile(manual)
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(application/[a-z-]+[+](json|yaml|cbor))`").FindAllSubmatch(page, -1)
	if len(named) == 0 {
		t.Error("the manual names no patches")
	}
	refused := c.call("PATCH", configMaps+"/c", "{}", "Content-Type: application/foo").want(http.StatusUnsupportedMediaType)
	for _, name := range named {
		refused.wantText(string(name[1]))
	}
	if accepted := strings.Count(refused.text, "application/") - 1; accepted != len(named) {
		t.Errorf("%s names %d types of patches; the server says %s", manual, len(named), refused.text)
	}
}

// TestBodyLimit is that of the manual.
func TestBodyLimit(t *testing.T) {
	c := newClient(t)
	c.call("POST", configMaps, strings.Repeat(" ", 3<<20+1)).want(http.StatusRequestEntityTooLarge)
	c.call("POST", configMaps, strings.Repeat(" ", 3<<20)).want(http.StatusBadRequest)
}
