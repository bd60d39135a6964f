package app

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// lockedBuffer is a bytes.Buffer that is safe for concurrent use.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// accessEntry is a line of the access log.
type accessEntry struct {
	Msg, Verb, URI, UserAgent, ContentType, SrcIP string
	AuditID                                       string `json:"audit-ID"`
	Latency                                       int64
	Resp                                          int
}

// accessEntries returns the lines of the access log in a log.
func accessEntries(t *testing.T, text string) (entries []accessEntry) {
	t.Helper()
	for line := range strings.Lines(text) {
		var e accessEntry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if e.Msg == "HTTP" {
			entries = append(entries, e)
		}
	}
	return entries
}

// TestAccessLog: at the level of Kubernetes' -v=3, the log has a line for each request, also for those that are rejected; it contains
// no credentials.
func TestAccessLog(t *testing.T) {
	var log lockedBuffer
	c := start(t, Config{Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.Level(-3)}))}, "a-secret-token,reader,1")
	c.call("GET", configMaps+"?limit=5", "").want(200)
	c.call("POST", configMaps, configMap("c"), "Audit-Id: "+strings.Repeat("x", 100), "Content-Type: application/json").want(201)
	c.apply(configMaps+"/c", "m", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}`).want(200)
	c.call("GET", "/version", "").want(200)
	c.withToken("a-secret-token").call("GET", configMaps, "").want(403)
	c.withToken("unknown-token").call("DELETE", configMaps+"/c", "").want(401)
	c.call("GET", configMaps+"?watch=true&timeoutSeconds=1", "").want(200)
	want := []struct {
		verb, uri, mediaType string
		code                 int
	}{
		{"LIST", configMaps + "?limit=5", "", 200},
		{"POST", configMaps, "application/json", 201},
		{"APPLY", configMaps + "/c?fieldManager=m", applyType, 200},
		{"GET", "/version", "", 200},
		{"LIST", configMaps, "", 403},
		{"DELETE", configMaps + "/c", "", 401},
		{"WATCH", configMaps + "?watch=true&timeoutSeconds=1", "", 200},
	}
	text := log.String()
	got := accessEntries(t, text)
	if len(got) != len(want) {
		t.Fatalf("the log has %d lines, want %d: %s", len(got), len(want), text)
	}
	for i, w := range want {
		g := got[i]
		if g.Verb != w.verb || g.URI != w.uri || g.ContentType != w.mediaType || g.Resp != w.code || g.UserAgent != "tester/1.0" ||
			!strings.HasPrefix(g.SrcIP, "127.0.0.1:") || g.Latency <= 0 || len(g.AuditID) != map[bool]int{true: 64, false: 36}[i == 1] {
			t.Errorf("line %d = %+v, want %+v", i, g, w)
		}
	}
	if strings.Contains(text, "-token") {
		t.Errorf("the log contains a token: %s", text)
	}
}

// TestNoAccessLog: below that level, requests are not logged and have no Audit-Id.
func TestNoAccessLog(t *testing.T) {
	var log lockedBuffer
	c := start(t, Config{Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.Level(-2)}))})
	if id := c.call("GET", configMaps, "").want(http.StatusOK).header.Get("Audit-Id"); id != "" {
		t.Errorf("Audit-Id = %q, want none", id)
	}
	if got := accessEntries(t, log.String()); len(got) > 0 {
		t.Errorf("the log has %v", got)
	}
}
