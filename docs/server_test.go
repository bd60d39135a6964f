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

// The pages of the manual that contain generated tables.
const (
	configurationPage = "server/configuration.md"
	resourcesPage     = "server/resources.md"
	operationsPage    = "server/operations.md"
)

// TestFlags checks that the table of flags equals the output of cadastre serve --help.
func TestFlags(t *testing.T) {
	t.Setenv("HOME", "~")
	t.Setenv("XDG_DATA_HOME", "")
	var help, errors bytes.Buffer
	if code := cli.Main([]string{"serve", "--help"}, &help, &errors); code != 0 {
		t.Fatalf("cadastre serve --help: got exit code %d, want 0; stderr: %s", code, errors.String())
	}
	flag := regexp.MustCompile(`^ +(?:-[a-z], )?--([-a-z]+) (.*?) {2,}(.*)$`)
	text := "| Flag | Meaning |\n|---|---|\n"
	for line := range strings.Lines(help.String()) {
		line = strings.TrimRight(line, "\n")
		if found := flag.FindStringSubmatch(line); found != nil {
			text += fmt.Sprintf("| `%s` | %s |\n", escaped(strings.TrimSpace("--"+found[1]+" "+found[2])), escaped(found[3]))
		} else if rest := strings.TrimLeft(line, " "); len(line)-len(rest) > 20 {
			text = strings.TrimSuffix(text, " |\n") + " " + escaped(rest) + " |\n" // a continuation line
		}
	}
	checkGenerated(t, configurationPage, "flags", text)
}

// escaped returns cell, the text of a cell of a Markdown table, with its vertical bars escaped.
func escaped(cell string) string { return strings.ReplaceAll(cell, "|", `\|`) }

// TestKinds checks that the table of kinds lists the built-in kinds.
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
	checkGenerated(t, resourcesPage, "kinds", text)
}

// TestMetrics checks that the table of metrics lists all registered metrics, including metrics without samples, which the
// response of /metrics omits.
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
	checkGenerated(t, operationsPage, "metrics", "| Metric | Type | Meaning |\n|---|---|---|\n"+strings.Join(rows, ""))
}

// checkGenerated fails the test if the named generated section of page differs from text. If updating is set, it writes text
// into the page instead.
func checkGenerated(t *testing.T, page, name, text string) {
	t.Helper()
	content := readPage(t, page)
	_, rest, found := strings.Cut(content, "<!-- "+name+": written by CADASTRE_UPDATE=1 go test ./docs -->\n")
	was, tail, ended := strings.Cut(rest, "<!-- end -->")
	switch {
	case !found || !ended:
		t.Fatalf("%s: section %q is missing: expected <!-- %s: written by … --> and <!-- end -->", page, name, name)
	case was == text:
	case updating:
		head := content[:len(content)-len(rest)]
		if err := os.WriteFile(page, []byte(head+text+"<!-- end -->"+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s: the table of %s is out of date: run CADASTRE_UPDATE=1 go test ./docs; the page contains\n%s\nwant\n%s", page, name, was, text)
	}
}

// serverManual returns the text of all pages about the server, with single spaces between words.
func serverManual(t *testing.T) string {
	t.Helper()
	pages, err := filepath.Glob("server/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, name := range pages {
		words = append(words, strings.Fields(readPage(t, name))...)
	}
	return strings.Join(words, " ")
}

// TestNumbers checks that the limits and defaults in docs/server equal those in the code.
func TestNumbers(t *testing.T) {
	manual := serverManual(t)
	for _, n := range []struct{ says, file, code string }{
		{"Request body | 3 MiB", "internal/server/limits.go", "l.MaxBodyBytes = 3 << 20"},
		{"Seats of concurrent requests | 400 + 200", "internal/app/fairness.go", "defaultReadsInFlight = 400"},
		{"Time until the first part of a body arrives | 10 seconds", "internal/server/limits.go", "l.ProgressTimeout = 10 * time.Second"},
		{"Memory of responses that wait for their clients | 64 MiB", "internal/server/limits.go", "l.MaxStalledBytes = 64 << 20"},
		{"Time of a request | 1 minute", "internal/server/limits.go", "DefaultRequestTimeout = time.Minute"},
		{"Request headers | 1 MiB", "internal/server/listener.go", "maxHeaderBytes = 1 << 20"},
		{"Time to send the headers | 10 seconds", "internal/server/listener.go", "readHeaderTimeout = 10 * time.Second"},
		{"Idle connection | 3 minutes", "internal/server/listener.go", "idleTimeout = 3 * time.Minute"},
		{"Concurrent streams of an HTTP/2 connection | 250", "internal/server/listener.go", "maxStreams = 250"},
		{"between 30 and 60 minutes", "internal/server/watch.go", "minWatchTimeout = 30 * time.Minute"},
		{"a bookmark every minute", "internal/server/watch.go", "bookmarkInterval = time.Minute"},
		{"up to 20 seconds for the requests", "internal/cli/serve.go", "shutdownTimeout = 20 * time.Second"},
		{"retained for ten minutes", "internal/storage/pebble/open.go", "o.HistoryAge = 10 * time.Minute"},
		{"up to 1 GiB", "internal/storage/pebble/open.go", "o.HistoryBytes = 1 << 30"},
		{"waits up to 3 seconds", "internal/watchcache/open.go", "defaultFutureWait = 3 * time.Second"},
		{"valid for ten years", "internal/auth/authn/authority.go", "caLifetime = 10 * 365 * 24 * time.Hour"},
		{"valid for a year", "internal/auth/authn/authority.go", "leafLifetime = 365 * 24 * time.Hour"},
		{"addresses from 10.96.0.0/12", "internal/registry/service/strategy.go", `netip.MustParsePrefix("10.96.0.0/12")`},
		{"TLS 1.2 or later", "internal/auth/authn/serving.go", "MinVersion: tls.VersionTLS12"},
	} {
		code, err := os.ReadFile(filepath.Join("..", n.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(manual, n.says) {
			t.Errorf("docs/server: the text %q is missing", n.says)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(code)), " "), n.code) {
			t.Errorf("docs/server says %q, but %s does not contain %q: correct the manual and this test", n.says, n.file, n.code)
		}
	}
}

// TestNotServed checks that the server returns a 404 for the subresources that docs/server/resources.md lists as not served.
func TestNotServed(t *testing.T) {
	c := newClient(t)
	const pod = "/api/v1/namespaces/default/pods/web/"
	for _, path := range []string{
		pod + "exec", pod + "attach", pod + "portforward", pod + "proxy",
		"/api/v1/namespaces/default/serviceaccounts/default/token",
	} {
		c.call("POST", path, "{}").want(http.StatusNotFound).wantText("the server could not find the requested resource: ")
	}
	c.call("GET", pod+"log", "").want(http.StatusNotFound)
	c.call("GET", "/api/v1/namespaces/default/services/web/proxy", "").want(http.StatusNotFound)
}

// TestPatchTypes checks that the table of patch types lists the media types that the server accepts.
func TestPatchTypes(t *testing.T) {
	c := newClient(t)
	c.apply("c", "m", `"data":{"a":"1"}`).want(201)
	_, section, _ := strings.Cut(readPage(t, resourcesPage), "\n| Patch type |")
	section, _, _ = strings.Cut(section, "\n\n")
	named := regexp.MustCompile("`(application/[a-z-]+[+](json|yaml|cbor))`").FindAllStringSubmatch(section, -1)
	if len(named) == 0 {
		t.Errorf("%s: the table of patch types is missing", resourcesPage)
	}
	refused := c.call("PATCH", configMaps+"/c", "{}", "Content-Type: application/foo").want(http.StatusUnsupportedMediaType)
	for _, name := range named {
		refused.wantText(name[1])
	}
	if accepted := strings.Count(refused.text, "application/") - 1; accepted != len(named) {
		t.Errorf("%s lists %d patch types, want the %d that the server accepts: %s", resourcesPage, len(named), accepted, refused.text)
	}
}

// TestBodyLimit checks that a body of more than 3 MiB is rejected with a 413.
func TestBodyLimit(t *testing.T) {
	c := newClient(t)
	c.call("POST", configMaps, strings.Repeat(" ", 3<<20+1)).want(http.StatusRequestEntityTooLarge)
	c.call("POST", configMaps, strings.Repeat(" ", 3<<20)).want(http.StatusBadRequest)
}
