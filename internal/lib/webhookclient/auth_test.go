package webhookclient

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRejectRedirects checks that a redirect is an error, and that its target receives no request.
func TestRejectRedirects(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the target of a redirect received a request") }))
	defer target.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ok" {
			return
		}
		http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	client := &http.Client{Transport: noRedirects{http.DefaultTransport}}
	for path, want := range map[string]string{"/ok": "", "/moved": "expected a review, received a redirect (307"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, strings.NewReader("token"))
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err == nil {
			_ = response.Body.Close()
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error = %v, want %q", path, err, want)
		}
	}
}
