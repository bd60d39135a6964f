package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/server/audit"
)

var (
	auditServer = flag.String("audit-server", "", "URL of a kube-apiserver with the policy in testdata/audit, whose log TestDifferenceAuditLog records")
	auditToken  = flag.String("audit-token", "", "bearer token of the user admin at the server of -audit-server")
	auditFile   = flag.String("audit-file", "", "audit log `file` that the server of -audit-server writes")
)

// auditedRequest is a request whose audit events are compared with those of kube-apiserver. body is sent as JSON or, with the media
// type of a patch, in its format.
type auditedRequest struct{ method, path, body, header string }

const (
	quiet        = "/api/v1/namespaces/quiet/configmaps"
	accounts     = "/api/v1/namespaces/default/serviceaccounts"
	asAlice      = "Impersonate-User: alice"
	applied      = "Content-Type: application/apply-patch+yaml"
	merged       = "Content-Type: application/merge-patch+json"
	withBadToken = "Authorization: Bearer wrong"
)

var auditedRequests = []auditedRequest{
	{"POST", "/api/v1/namespaces", `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"quiet"}}`, ""},
	{"POST", configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`, ""},
	{"POST", configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"Not Valid"}}`, ""},
	{"POST", configMaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}`, ""},
	{"POST", configMaps, `{"not json`, ""},
	{"GET", configMaps + "/a", "", ""},
	{"GET", configMaps + "/missing", "", ""},
	{"PUT", configMaps + "/a", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"w"}}`, ""},
	{"PATCH", configMaps + "/a", `{"data":{"l":"x"}}`, merged},
	{"PATCH", configMaps + "/a?fieldManager=ci", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"m":"y"}}`, applied},
	{"PATCH", configMaps + "/a?fieldManager=other", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"m":"z"}}`, applied},
	{"GET", configMaps + "/a", "", "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"},
	{"POST", quiet, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b"},"data":{"k":"v"}}`, ""},
	{"GET", quiet, "", ""},
	{"GET", quiet + "/b", "", "Accept: application/vnd.kubernetes.protobuf"},
	{"DELETE", quiet + "/b", `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"}`, ""},
	{"DELETE", quiet, "", ""},
	{"GET", quiet + "?watch=true&timeoutSeconds=1&resourceVersion=0", "", ""},
	{"DELETE", configMaps + "/a", "", ""},
	{"POST", accounts, `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"robot"}}`, ""},
	{"PATCH", accounts + "/robot", `{"metadata":{"labels":{"a":"b"}}}`, merged},
	{"POST", "/api/v1/namespaces/default/services", `{"metadata":{"name":"web"},"spec":{"clusterIP":"None","ports":[{"port":80}]}}`, ""},
	{"GET", "/api/v1/namespaces/default/secrets", "", asAlice},
	{"GET", "/api/v1/namespaces/default/secrets/token", "", asAlice},
	{"POST", "/api/v1/namespaces/default/secrets", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{"k":"hidden"}}`, ""},
	{"GET", "/api/v1/nodes", "", withBadToken},
	{"GET", "/api/v1/nodes?limit=5", "", "User-Agent: " + strings.Repeat("u", 1100)},
	{"GET", "/version", "", ""},
	{"GET", "/healthz", "", ""},
	{"DELETE", "/api/v1/nodes/none", "", ""},
}

// send sends the request with the Audit-Id auditID(number), and reads the response.
func (q auditedRequest) send(t *testing.T, client *http.Client, server, token string, number int) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), q.method, server+q.path, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("User-Agent", "tester")
	r.Header.Set("Audit-Id", auditID(number))
	if q.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if name, value, ok := strings.Cut(q.header, ": "); ok {
		r.Header.Set(name, value)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	if got := response.Header.Get("Audit-Id"); got != auditID(number) {
		t.Errorf("%s %s: Audit-Id = %q, want %q", q.method, q.path, got, auditID(number))
	}
}

func auditID(number int) string { return fmt.Sprintf("request-%03d", number) }

// auditEvents reads the events of the audited requests, one line of JSON each with unpredictable values replaced.
func auditEvents(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var events []map[string]any
	for line := range bytes.Lines(text) {
		var event map[string]any
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if id, _ := event["auditID"].(string); strings.HasPrefix(id, "request-") {
			events = append(events, event)
		}
	}
	slices.SortStableFunc(events, func(a, b map[string]any) int { return cmp.Compare(a["auditID"].(string), b["auditID"].(string)) })
	var out strings.Builder
	for _, event := range events {
		normalize(event)
		line, err := json.Marshal(event)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s\n", unpredictable.ReplaceAll(line, []byte("X")))
	}
	return out.String()
}

// unpredictable matches UIDs and times.
var unpredictable = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// normalize replaces values that differ between runs.
func normalize(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			switch name {
			case "requestReceivedTimestamp", "stageTimestamp", "creationTimestamp", "time":
				v[name] = "TIME"
			case "resourceVersion":
				v[name] = "REVISION"
			default:
				normalize(member)
			}
		}
	case []any:
		for _, item := range v {
			normalize(item)
		}
	}
}

// TestDifferenceAuditLog compares the audit log of a list of requests with that of kube-apiserver, which is in testdata/audit/reference.txt.
// Lines that differ are in testdata/audit/cadastre.txt: errors that Cadastre words differently, and requestObjects, which
// kube-apiserver records after decoding and defaulting; see docs/differences.md.
//
// To record the log of kube-apiserver: go run ./cmd/run in test/peers with the arguments --audit-policy-file and --audit-log-path,
// then go test ./internal/app -run TestDifferenceAuditLog with the flags -audit-server, -audit-token and -audit-file.
func TestDifferenceAuditLog(t *testing.T) {
	const reference, differing = "testdata/audit/reference.txt", "testdata/audit/cadastre.txt"
	if *auditServer != "" {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		for i, q := range auditedRequests {
			q.send(t, client, *auditServer, *auditToken, i)
		}
		if err := os.WriteFile(reference, []byte(auditEvents(t, *auditFile)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := audit.Defaults()
	o.PolicyFile, o.Log.Path = "testdata/audit/policy.yaml", filepath.Join(t.TempDir(), "logs", "audit.log")
	c := start(t, Config{Audit: o}, `secret,admin,admin,"system:masters"`).withToken("secret")
	for i, q := range auditedRequests {
		q.send(t, c.http, c.url, "secret", i)
	}
	if info, err := os.Stat(o.Log.Path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the log = %v, %v, want 0600", info.Mode(), err)
	}
	got := auditEvents(t, o.Log.Path)
	expected, err := os.ReadFile(reference)
	if err != nil {
		t.Fatal(err)
	}
	// differences lists the lines of both logs that differ.
	var differences strings.Builder
	for i, pair := range pairs(string(expected), got) {
		if pair[0] != pair[1] {
			fmt.Fprintf(&differences, "# event %d\n- %s\n+ %s\n", i, pair[0], pair[1])
		}
	}
	if os.Getenv("CADASTRE_UPDATE") != "" {
		if err := os.WriteFile(differing, []byte(differences.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if known, err := os.ReadFile(differing); err != nil || string(known) != differences.String() {
		t.Errorf("the differences from kube-apiserver's log are\n%s, %v\nwant those in %s", differences.String(), err, differing)
	}
}

// pairs returns the lines of two texts side by side.
func pairs(a, b string) [][2]string {
	left, right := strings.Split(strings.TrimSpace(a), "\n"), strings.Split(strings.TrimSpace(b), "\n")
	all := make([][2]string, max(len(left), len(right)))
	for i := range all {
		if i < len(left) {
			all[i][0] = left[i]
		}
		if i < len(right) {
			all[i][1] = right[i]
		}
	}
	return all
}

// TestAuditWebhook: events are sent to the webhook, also those that are still buffered when the server stops.
func TestAuditWebhook(t *testing.T) {
	received := make(chan string, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		received <- string(text)
	}))
	defer hook.Close()
	kubeconfig := filepath.Join(t.TempDir(), "webhook.yaml")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, clusters: [{name: a, cluster: {server: %q}}], users: [{name: a}], contexts: [{name: a, context: {cluster: a, user: a}}], current-context: a}`, hook.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := audit.Defaults()
	o.PolicyFile, o.Webhook.ConfigFile = "testdata/audit/policy.yaml", kubeconfig
	s, err := Start(t.Context(), Config{Address: "127.0.0.1:0", Audit: o, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	clientOf(t, s).call("GET", configMaps+"/nothing", "", "Audit-Id: hooked").want(404)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}
	close(received)
	all := ""
	for text := range received {
		all += text
	}
	if n := strings.Count(all, `"auditID":"hooked"`); n != 2 || !strings.Contains(all, `"kind":"EventList"`) {
		t.Errorf("the webhook received %d events, want 2 in lists: %s", n, all)
	}
}

// TestAuditRotation: the log file is rotated at its maximum size, and old files are deleted.
func TestAuditRotation(t *testing.T) {
	o := audit.Defaults()
	folder := t.TempDir()
	o.PolicyFile, o.Log.Path, o.Log.MaxSize, o.Log.MaxBackups = "testdata/audit/policy.yaml", filepath.Join(folder, "audit.log"), 1, 2
	c := start(t, Config{Audit: o})
	big := fmt.Sprintf(`{"metadata":{"generateName":"big-"},"data":{"a":"%0400000d"}}`, 7)
	for range 8 {
		c.call("POST", configMaps, big).want(201)
	}
	testwait.For(t, "two rotated files", func() bool {
		files, err := filepath.Glob(filepath.Join(folder, "audit-*.log"))
		return err == nil && len(files) == 2
	})
}

// TestAuditPanic: a request that panics has an event of the stage Panic.
func TestAuditPanic(t *testing.T) {
	o := audit.Defaults()
	o.PolicyFile, o.Log.Path = "testdata/audit/policy.yaml", filepath.Join(t.TempDir(), "audit.log")
	c := start(t, Config{Audit: o, Handlers: map[string]http.Handler{"/broken": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") })}})
	c.call("GET", "/broken", "", "Audit-Id: request-000").want(500)
	if got := auditEvents(t, o.Log.Path); !strings.Contains(got, `"stage":"Panic"`) || !strings.Contains(got, `"message":"APIServer panic'd: broken"`) {
		t.Errorf("audit log = %s, want an event of the stage Panic", got)
	}
}

// TestAuditStrict: with blocking-strict a request fails if its event cannot be written.
func TestAuditStrict(t *testing.T) {
	o := audit.Defaults()
	o.PolicyFile, o.Log.Path, o.Log.MaxSize, o.Log.Delivery.Mode = "testdata/audit/policy.yaml", "/dev/full", 0, audit.BlockingStrict
	if _, err := os.Stat(o.Log.Path); err != nil {
		t.Skip(err)
	}
	c := start(t, Config{Audit: o})
	c.call("GET", configMaps+"/a", "").want(500, "failed to store audit event")
	o.Log.Delivery.Mode = audit.Blocking
	start(t, Config{Audit: o}).call("GET", configMaps+"/a", "").want(404)
}

// TestDifferenceAuditID: without an audit log the response has an Audit-Id only if the request has one.
func TestDifferenceAuditID(t *testing.T) {
	c := start(t, Config{})
	if got := c.call("GET", "/version", "").want(200).header.Get("Audit-Id"); got != "" {
		t.Errorf("Audit-Id = %q, want none", got)
	}
	if got := c.call("GET", "/version", "", "Audit-Id: mine").want(200).header.Get("Audit-Id"); got != "mine" {
		t.Errorf("Audit-Id = %q, want mine", got)
	}
}
