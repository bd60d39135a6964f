package metrics

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestInFlight checks that Peak returns the maximum of the last full second, also after seconds without requests and after the
// clock was set back.
func TestInFlight(t *testing.T) {
	now := time.Unix(100, 0)
	f := newInFlight(func() time.Time { return now })
	expect := func(what string, want int) {
		t.Helper()
		if got := f.Peak(); got != want {
			t.Errorf("%s: Peak() = %d, want %d", what, got, want)
		}
	}
	for range 3 {
		f.Add(+1)
	}
	f.Add(-1)
	f.Add(-1)
	expect("in the second of the requests", 0)
	now = now.Add(time.Second)
	expect("in the next second", 3)
	expect("second call in the same second", 3)
	now = now.Add(time.Second)
	expect("while one request remains in flight", 1)
	f.Add(+1)
	f.Add(-1)
	now = now.Add(10 * time.Second)
	expect("after ten seconds without changes", 1)
	now = now.Add(-time.Minute)
	f.Add(-1)
	expect("after the clock was set back", 1)
}

// TestInFlightScraped checks that a scrape contains the peaks of mutating and read-only requests.
func TestInFlightScraped(t *testing.T) {
	now := time.Unix(100, 0)
	m := New()
	m.Mutating.now = func() time.Time { return now }
	m.Mutating.Add(+1)
	now = now.Add(time.Second)
	p := scrape(t, m)
	p.expect(t, "apiserver_current_inflight_requests", `request_kind="mutating"`, 1)
	p.expect(t, "apiserver_current_inflight_requests", `request_kind="readOnly"`, 0)
}

// TestErrorLog checks that a failed TLS handshake, which net/http reports only in its log, is counted.
func TestErrorLog(t *testing.T) {
	m := New()
	read, write := io.Pipe()
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(m.ErrorLog(write), "", 0)
	server.StartTLS()
	defer server.Close()
	go func() {
		// The client does not trust the certificate and sends an alert.
		_, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{})
		if err == nil {
			t.Error("tls.Dial() to a server with a self-signed certificate: error = nil, want a certificate error")
		}
	}()
	message := make([]byte, 1000)
	n, err := read.Read(message)
	if err != nil || !strings.Contains(string(message[:n]), "bad certificate") {
		t.Errorf("log message = %q, error = %v; want it to contain \"bad certificate\"", message[:n], err)
	}
	scrape(t, m).expect(t, "apiserver_tls_handshake_errors_total", "", 1)
}

func TestErrorLogForwardsOtherMessages(t *testing.T) {
	m := New()
	var out bytes.Buffer
	if n, err := m.ErrorLog(&out).Write([]byte("http: panic serving\n")); n != 20 || err != nil || out.String() != "http: panic serving\n" {
		t.Errorf("Write() = %d, %v, forwarded %q; want the whole message forwarded", n, err, out.String())
	}
	scrape(t, m).expect(t, "apiserver_tls_handshake_errors_total", "", 0)
}
