package authtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Webhook is a webhook that receives reviews.
type Webhook struct {
	t      testing.TB
	server *httptest.Server

	mu sync.Mutex
	// answer returns the response to a review; it writes the whole response if it returns nil.
	answer  func(w http.ResponseWriter, spec map[string]any) any
	reviews []map[string]any
}

// NewWebhook starts a webhook for the duration of the test. answer returns the status of a review with the given spec; if it returns
// nil, it has written the response itself.
func NewWebhook(t testing.TB, answer func(w http.ResponseWriter, spec map[string]any) any) *Webhook {
	t.Helper()
	h := &Webhook{t: t, answer: answer}
	h.server = httptest.NewTLSServer(h)
	t.Cleanup(h.server.Close)
	return h
}

// ServeHTTP implements http.Handler.
func (h *Webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		h.t.Errorf("review: %v", err)
		return
	}
	h.mu.Lock()
	h.reviews = append(h.reviews, review)
	h.mu.Unlock()
	spec, _ := review["spec"].(map[string]any)
	status := h.answer(w, spec)
	if status == nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(map[string]any{"apiVersion": review["apiVersion"], "kind": review["kind"], "status": status}); err != nil {
		h.t.Error(err)
	}
}

// URL returns the URL of the webhook.
func (h *Webhook) URL() string { return h.server.URL }

// Reviews returns the reviews that were received.
func (h *Webhook) Reviews() []map[string]any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]map[string]any(nil), h.reviews...)
}

// Kubeconfig returns the name of a file in kubeconfig format that refers to the webhook.
func (h *Webhook) Kubeconfig() string {
	ca := WriteFile(h.t, "webhook.crt", certificatePEM(h.server))
	return WriteFile(h.t, "webhook.kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: webhook, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: server, user: {}}]
contexts: [{name: webhook, context: {cluster: webhook, user: server}}]
current-context: webhook
`, h.server.URL+"/review", ca))
}
