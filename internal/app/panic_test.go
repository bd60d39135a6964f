package app

import (
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"testing"
)

// lines is a log writer that is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestPanic checks that a panic in the handler of a request is answered with 500, counted and logged once, and does not
// affect other requests on the same connection.
func TestPanic(t *testing.T) {
	log := &lines{}
	s, err := Start(t.Context(), Config{Address: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(t.Context()) })
	s.handler.Failure = func() (bool, error) { panic("on purpose") }
	c := clientOf(t, s)
	watch := c.watch(configMaps + "?watch=true")
	before := log.String()

	reused := false
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { reused = info.Reused }}
	for range 2 {
		reused = false
		r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), "GET", c.url+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		a := c.withT(t).send(r)
		a.want(500)
		for field, want := range map[string]string{"kind": "Status", "status": "Failure", "reason": "InternalError", "code": "500"} {
			if got := a.get(field); got != want {
				t.Errorf("%s is %q, want %q: %s", field, got, want, a.text)
			}
		}
		if !strings.Contains(a.get("message"), "the request made the server panic; the server's log has the stack trace") || strings.Contains(a.text, "on purpose") {
			t.Errorf("response after a panic = %s, want a message that refers to the log and does not contain the panic value", a.text)
		}
		if !reused {
			t.Error("the request used a new connection, want the connection of the watch")
		}
	}
	c.call("POST", configMaps, configMap("after")).want(201)
	watch.want("ADDED", "after")
	c.call("GET", "/metrics", "").want(200, `apiserver_request_total{code="500",component="",dry_run="",group="",resource="",scope="",subresource="/readyz",verb="GET",version=""} 2`)
	if n := s.handler.ActiveRequests(); n != 1 {
		t.Errorf("%d requests are active, want 1, the watch", n)
	}
	logged := strings.TrimPrefix(log.String(), before)
	if n := strings.Count(logged, "\n"); n != 2 || strings.Count(logged, "request panicked") != 2 {
		t.Errorf("number of log lines = %d, want 2, one for each panic: %s", n, logged)
	}
	for _, part := range []string{"level=ERROR", "method=GET", "path=/readyz", `panic="on purpose"`, "stack=", "panic_test.go"} {
		if strings.Count(logged, part) < 2 {
			t.Errorf("the log contains %s less than twice: %s", part, logged)
		}
	}
}
