package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/metrics"
)

// metricsOf returns the response to GET /metrics.
func metricsOf(m *metrics.Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// TestPanicAfterPartOfResponse checks that a panic after a part of the response was sent aborts the response, is logged and
// counted.
func TestPanicAfterPartOfResponse(t *testing.T) {
	counted, log := metrics.New(), &strings.Builder{}
	h := NewHandler(Options{Authenticator: authn.NewAuthenticator(authn.AuthenticatorOptions{}), Metrics: counted, Log: slog.New(slog.NewTextHandler(log, nil))})
	q := &request{h: h, r: httptest.NewRequest(http.MethodGet, "/readyz", nil), w: responseWriter{ResponseWriter: httptest.NewRecorder()}}
	q.readTarget()
	var reason any
	func() {
		defer func() { reason = recover() }()
		defer q.finish()
		_, _ = q.w.Write([]byte("half"))
		panic("on purpose")
	}()
	if err, ok := reason.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		t.Errorf("finish() panicked with %v, want %v", reason, http.ErrAbortHandler)
	}
	if got := metricsOf(counted); !strings.Contains(got, `subresource="/readyz",verb="GET",version=""} 1`) {
		t.Errorf("the request is not counted: %s", got)
	}
	if got := strings.Count(log.String(), "request panicked"); got != 1 {
		t.Errorf("logged %d times, want once: %s", got, log)
	}
}

// panickingPlugin panics when the ConfigMap "b" is deleted.
type panickingPlugin struct{ admission.MutatingOnly }

func (panickingPlugin) Name() string { return "Panicking" }

func (panickingPlugin) Handles(operation admission.Operation, _ admission.Resource) admission.Phase {
	if operation == admission.Delete {
		return admission.Mutating
	}
	return 0
}

func (panickingPlugin) Admit(_ context.Context, a *admission.Attributes) error {
	if a.OldObject.Lookup("metadata", "name").Text() == "b" {
		panic("on purpose")
	}
	return nil
}

// TestPanicInDeleteCollection checks that a panic in a goroutine of a deletecollection request results in a 500, and that it
// is counted and logged with the stack of the goroutine.
func TestPanicInDeleteCollection(t *testing.T) {
	log := &strings.Builder{}
	h := newTestHandler(t, panickingPlugin{})
	h.Log = slog.New(slog.NewTextHandler(log, nil))
	const configMaps = "/api/v1/namespaces/default/configmaps"
	send := func(method, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, configMaps, strings.NewReader(body))
		r.Header = http.Header{"Authorization": {"Bearer secret"}, "Content-Type": {"application/json"}}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, name := range []string{"a", "b", "c"} {
		if w := send(http.MethodPost, `{"metadata":{"name":"`+name+`"}}`); w.Code != http.StatusCreated {
			t.Fatalf("create: %d %s", w.Code, w.Body)
		}
	}
	if w := send(http.MethodDelete, ""); w.Code != http.StatusInternalServerError ||
		!strings.Contains(w.Body.String(), `"reason":"InternalError"`) || !strings.Contains(w.Body.String(), "made the server panic") {
		t.Errorf("deletecollection: %d %s, want a 500 with the reason InternalError", w.Code, w.Body)
	}
	for _, part := range []string{"request panicked", `panic="on purpose"`, "panickingPlugin.Admit"} {
		if !strings.Contains(log.String(), part) {
			t.Errorf("the log does not have %q: %s", part, log)
		}
	}
	if got := metricsOf(h.Metrics); !strings.Contains(got, `apiserver_request_total{code="500",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="DELETE",version="v1"} 1`) {
		t.Errorf("the request is not counted: %s", got)
	}
	if w := send(http.MethodGet, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"name":"b"`) {
		t.Errorf("list after the panic: %d %s, want b", w.Code, w.Body)
	}
}
