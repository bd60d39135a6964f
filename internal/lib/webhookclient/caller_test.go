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

// newCaller returns a caller of reviews whose answers may have so many bytes.
func newCaller(t *testing.T, maxAnswer int64) *Caller {
	t.Helper()
	c, err := NewCaller(Options{
		Register: []func(*runtime.Scheme) error{admissionv1.AddToScheme}, Versions: []schema.GroupVersion{admissionv1.SchemeGroupVersion}, MaxAnswer: maxAnswer,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// serve returns the target of a webhook.
func serve(t *testing.T, handler http.HandlerFunc) *Target {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	server.Config.ErrorLog = nil
	return &Target{URL: server.URL + "/ask", CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})}
}

func allow(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u","allowed":true}}`)
}

func call(t *testing.T, c *Caller, target *Target) (*admissionv1.AdmissionReview, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	answer := &admissionv1.AdmissionReview{}
	return answer, c.Call(ctx, target, &admissionv1.AdmissionReview{Request: &admissionv1.AdmissionRequest{UID: "u"}}, answer)
}

// TestCall: a webhook is sent a review as JSON, told how long it may take and who asks, and answers.
func TestCall(t *testing.T) {
	var asked atomic.Pointer[http.Request]
	var kind atomic.Value
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r)
		var review struct{ Kind, APIVersion string }
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
		}
		kind.Store(review.APIVersion + " " + review.Kind)
		allow(w, r)
	})
	answer, err := call(t, newCaller(t, 0), target)
	if err != nil || !answer.Response.Allowed {
		t.Fatal(answer.Response, err)
	}
	r := asked.Load()
	if r.Method != "POST" || r.URL.RequestURI() != "/ask?timeout=10s" || r.UserAgent() != "kube-apiserver-admission" || r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("received %s %s from %s as %s", r.Method, r.URL, r.UserAgent(), r.Header.Get("Content-Type"))
	}
	if kind.Load() != "admission.k8s.io/v1 AdmissionReview" {
		t.Errorf("received %q", kind.Load())
	}
}

// TestConnectionsAreShared: calls to one target share a client, calls to another don't.
func TestConnectionsAreShared(t *testing.T) {
	remotes := map[string]bool{}
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		remotes[r.RemoteAddr] = true // one after the other
		allow(w, r)
	})
	c := newCaller(t, 0)
	for range 5 {
		if _, err := call(t, c, &Target{URL: target.URL, CABundle: target.CABundle}); err != nil {
			t.Fatal(err)
		}
	}
	if len(remotes) != 1 || c.clients.Len() != 1 {
		t.Errorf("5 calls used %d connections and %d clients", len(remotes), c.clients.Len())
	}
	if _, err := call(t, c, &Target{URL: target.URL}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a target without a bundle was called with that of another: %v", err)
	}
}

// TestDifferenceWebhooksAreNotFollowedElsewhere: what is meant for one server is not sent to another.
func TestDifferenceWebhooksAreNotFollowedElsewhere(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		var elsewhere atomic.Int32
		other := serve(t, func(w http.ResponseWriter, r *http.Request) { elsewhere.Add(1); allow(w, r) })
		target := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, code) })
		target.CABundle = append(target.CABundle, other.CABundle...)
		if _, err := call(t, newCaller(t, 0), target); err == nil || elsewhere.Load() != 0 {
			t.Errorf("%d: received %v, and the other was called %d times", code, err, elsewhere.Load())
		}
	}
}

// TestLargeAnswers: an answer is read up to its limit, which is an error, and not half an answer.
func TestLargeAnswers(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		allow(w, r)
		fmt.Fprint(w, strings.Repeat(" ", 2000))
	})
	if _, err := call(t, newCaller(t, 1000), target); err == nil || !strings.Contains(err.Error(), "the answer is too large: limit is 1000 bytes") {
		t.Errorf("received %v", err)
	}
	if _, err := call(t, newCaller(t, 5000), target); err != nil {
		t.Error(err)
	}
}

// TestTimeLimit: a call ends when its context does.
func TestTimeLimit(t *testing.T) {
	over := make(chan struct{})
	defer close(over)
	target := serve(t, func(http.ResponseWriter, *http.Request) { <-over })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	begun := time.Now()
	err := newCaller(t, 0).Call(ctx, target, &admissionv1.AdmissionReview{}, &admissionv1.AdmissionReview{})
	if err == nil || !strings.Contains(err.Error(), "context deadline exceeded") || time.Since(begun) > 5*time.Second {
		t.Errorf("received %v after %v", err, time.Since(begun))
	}
}

// TestPlaces: where targets are, and which can't be.
func TestPlaces(t *testing.T) {
	for _, test := range []struct {
		target Target
		want   string // the place, or the error
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
		place, err := test.target.place()
		got := fmt.Sprint(place)
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: received %s, want %s", test.target, got, test.want)
		}
	}
	if _, err := newCaller(t, 0).client(&Target{URL: "https://example.com", CABundle: []byte("none")}); err == nil {
		t.Error("a bundle without certificates was taken")
	}
}

// TestFailed: errors say which webhook, and have a code for metrics.
func TestFailed(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) })
	_, err := call(t, newCaller(t, 0), target)
	failed := Failed("h.example.com", err)
	if failed.Code() != http.StatusTeapot || !strings.HasPrefix(failed.Error(), `failed calling webhook "h.example.com": failed to call webhook: `) {
		t.Errorf("received %d %v", failed.Code(), failed)
	}
	if failed := Failed("h", context.Canceled); failed.Code() != http.StatusServiceUnavailable {
		t.Errorf("received %d", failed.Code())
	}
}
