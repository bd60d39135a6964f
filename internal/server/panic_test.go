package server

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/metrics"
)

// TestPanicHalfway: half an answer must not look whole, and is counted all the same.
func TestPanicHalfway(t *testing.T) {
	counted, log := metrics.New(), &strings.Builder{}
	h := NewHandler(Options{Authenticator: authn.NewAuthenticator(authn.AuthenticatorOptions{}), Metrics: counted, Log: slog.New(slog.NewTextHandler(log, nil))})
	q := &request{h: h, r: httptest.NewRequest("GET", "/readyz", nil), w: answer{ResponseWriter: httptest.NewRecorder()}}
	q.readTarget()
	var reason any
	func() {
		defer func() { reason = recover() }()
		defer q.finish()
		_, _ = q.w.Write([]byte("half"))
		panic("on purpose")
	}()
	if err, ok := reason.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		t.Errorf("the connection is not told to end: %v", reason)
	}
	w := httptest.NewRecorder()
	counted.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if !strings.Contains(w.Body.String(), `subresource="/readyz",verb="GET",version=""} 1`) || strings.Count(log.String(), "a request panicked") != 1 {
		t.Errorf("it is not counted, or logged not once: %s", log.String())
	}
}
