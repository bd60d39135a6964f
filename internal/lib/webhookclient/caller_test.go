package webhookclient

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// newCaller returns a caller that sends AdmissionReviews and accepts responses of at most maxResponse bytes; 0 means the default.
func newCaller(t *testing.T, maxResponse int64) *Caller {
	t.Helper()
	c, err := NewCaller(Options{
		Register: []func(*runtime.Scheme) error{admissionv1.AddToScheme}, Versions: []schema.GroupVersion{admissionv1.SchemeGroupVersion}, MaxResponse: maxResponse,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// serve starts an HTTPS server with the given handler, which is the webhook, and returns its target. The server is closed at the
// end of the test.
func serve(t *testing.T, handler http.HandlerFunc) *Target {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	server.Config.ErrorLog = nil
	return &Target{URL: server.URL + "/validate", CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}
}

// allow is the handler of a webhook that allows every request.
func allow(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u","allowed":true}}`)
}

// call sends an AdmissionReview to the target with a timeout of 10 seconds.
func call(t *testing.T, c *Caller, target *Target) (*admissionv1.AdmissionReview, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	answer := &admissionv1.AdmissionReview{}
	return answer, c.Call(ctx, target, &admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{UID: "u"}}, answer)
}

// TestCall: a webhook receives the review as JSON, with the timeout and the User-Agent of kube-apiserver.
func TestCall(t *testing.T) {
	var received atomic.Pointer[http.Request]
	var kind atomic.Value
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		received.Store(r)
		var review struct{ Kind, APIVersion string }
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		kind.Store(review.APIVersion + " " + review.Kind)
		allow(w, r)
	})
	answer, err := call(t, newCaller(t, 0), target)
	if err != nil || !answer.Response.Allowed {
		t.Fatalf("Call() = %v, %v, want an allowed response", answer.Response, err)
	}
	r := received.Load()
	if r.Method != "POST" || r.URL.RequestURI() != "/validate?timeout=10s" || r.UserAgent() != "kube-apiserver-admission" || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the webhook received %s %s, User-Agent %s, Content-Type %s, want POST /validate?timeout=10s, kube-apiserver-admission, application/json", r.Method, r.URL, r.UserAgent(), r.Header.Get("Content-Type"))
	}
	if kind.Load() != "admission.k8s.io/v1 AdmissionReview" {
		t.Errorf("the webhook received a %q, want admission.k8s.io/v1 AdmissionReview", kind.Load())
	}
}

// TestConnectionsAreShared: calls to the same target share a connection; a target with another CA bundle does not use it.
func TestConnectionsAreShared(t *testing.T) {
	remotes := map[string]bool{}
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		remotes[r.RemoteAddr] = true // needs no lock, because the calls are sequential
		allow(w, r)
	})
	c := newCaller(t, 0)
	for range 5 {
		if _, err := call(t, c, &Target{URL: target.URL, CABundle: target.CABundle}); err != nil {
			t.Fatal(err)
		}
	}
	if len(remotes) != 1 || c.clients.Len() != 1 {
		t.Errorf("5 calls used %d connections and %d clients, want 1 and 1", len(remotes), c.clients.Len())
	}
	if _, err := call(t, c, &Target{URL: target.URL}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("Call() without a CA bundle = %v, want a certificate error", err)
	}
}

// TestDifferenceWebhookRedirectsAreNotFollowed: a redirect is an error; the review is sent only to the configured server.
func TestDifferenceWebhookRedirectsAreNotFollowed(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		var redirected atomic.Int32
		other := serve(t, func(w http.ResponseWriter, r *http.Request) { redirected.Add(1); allow(w, r) })
		target := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) })
		target.CABundle = append(target.CABundle, other.CABundle...)
		if _, err := call(t, newCaller(t, 0), target); err == nil || redirected.Load() != 0 {
			t.Errorf("status code %d: Call() = %v, followed the redirect %d times, want an error and 0 times", code, err, redirected.Load())
		}
	}
}

// TestMaxResponse: a response that exceeds the limit is an error.
func TestMaxResponse(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		allow(w, r)
		fmt.Fprint(w, strings.Repeat(" ", 2000))
	})
	if _, err := call(t, newCaller(t, 1000), target); err == nil || !strings.Contains(err.Error(), "the response is too large: limit is 1000 bytes") {
		t.Errorf("Call() error = %v, want \"the response is too large: limit is 1000 bytes\"", err)
	}
	if _, err := call(t, newCaller(t, 5000), target); err != nil {
		t.Error(err)
	}
}

// TestCallTimeout: a call ends with an error when the deadline of its context passes.
func TestCallTimeout(t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	target := serve(t, func(http.ResponseWriter, *http.Request) { <-done })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	err := newCaller(t, 0).Call(ctx, target, &admissionv1.AdmissionReview{}, &admissionv1.AdmissionReview{})
	if err == nil || !strings.Contains(err.Error(), "context deadline exceeded") || time.Since(start) > 5*time.Second {
		t.Errorf("Call() error = %v after %v, want context deadline exceeded after 50ms", err, time.Since(start))
	}
}

// TestAddress checks the addresses of targets, and the errors for invalid targets.
func TestAddress(t *testing.T) {
	for _, test := range []struct {
		target Target
		want   string // the address as fmt prints it, or the error
	}{
		{Target{URL: "https://example.com/a/b"}, "{example.com /a/b  false}"},
		{Target{URL: "https://127.0.0.1:8443"}, "{127.0.0.1:8443   true}"},
		{Target{URL: "https://[::1]:8443/x"}, "{[::1]:8443 /x  true}"},
		{Target{URL: "https://LOCALHOST/x"}, "{LOCALHOST /x  true}"},
		{Target{Service: &Service{Namespace: "n", Name: "s", Path: "/p"}}, "{s.n.svc:443 /p s.n.svc false}"},
		{Target{Service: &Service{Namespace: "n", Name: "s", Port: 8443}}, "{s.n.svc:8443  s.n.svc false}"},
		{Target{}, "webhook configuration must have either service or URL"},
		{Target{URL: "http://example.com"}, `expected a URL that begins with https://, received "http://example.com"`},
		{Target{URL: "https://%zz"}, `Unparsable URL: parse "https://%zz": invalid URL escape "%zz"`},
	} {
		to, err := test.target.address()
		got := fmt.Sprint(to)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: address() = %s, want %s", test.target, got, test.want)
		}
	}
	if _, err := newCaller(t, 0).client(&Target{URL: "https://example.com", CABundle: []byte("none")}); err == nil {
		t.Error("client() with an invalid CA bundle succeeded, want an error")
	}
}

// TestFailed: the error of a failed call names the webhook and has an HTTP status code for metrics.
func TestFailed(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) })
	_, err := call(t, newCaller(t, 0), target)
	failed := Failed("h.example.com", err)
	if failed.Code() != http.StatusTeapot || !strings.HasPrefix(failed.Error(), `failed calling webhook "h.example.com": failed to call webhook: `) {
		t.Errorf("Failed() = %v with code %d, want the name of the webhook and code 418", failed, failed.Code())
	}
	if failed := Failed("h", context.Canceled); failed.Code() != http.StatusServiceUnavailable {
		t.Errorf("Code() = %d, want 503", failed.Code())
	}
}
