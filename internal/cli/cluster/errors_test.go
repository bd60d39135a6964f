package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestErrors checks the error for an unreachable server and for a server that is not a Kubernetes API server: it consists
// of a single line.
func TestErrors(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api":
			fmt.Fprint(w, `{"kind":"Hello"}`)
		case "/api/v1/things/cut":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{`)
		case "/api/v1/things/listed":
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"kind":"Status","message":"failed to create: errors:\n  .a: expected b\n\n  .c: expected d\n"}`)
		case "/api/v1/things/stranger":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"kind":"Status","message":"Unauthorized"}`)
		case "/api/v1/things/text":
			fmt.Fprint(w, "hello")
		default:
			http.Error(w, "<html>\nnot here", http.StatusTeapot)
		}
	}))
	things := Kind{Version: "v1", Name: "Thing", Resource: "things"}
	c := open(t, &rest.Config{Host: server.URL})
	_, old := c.Kinds(t.Context())
	get := func(name string) error { _, err := c.Get(t.Context(), things, "", name); return err }
	cut, text, teapot, listed, unauthorized := get("cut"), get("text"), get("teapot"), get("listed"), get("stranger")
	server.Close()
	gone := get("x")
	for _, test := range []struct {
		err  error
		want string
	}{
		{old, `GET /api: expected an APIGroupDiscoveryList, APIVersions or APIGroupList, received "Hello": is this a Kubernetes API server?`},
		{cut, "GET /api/v1/things/cut: the response ended early: "},
		{text, "decode thing from the server: "},
		{teapot, "GET /api/v1/things/teapot: 418 I'm a teapot: received an HTML page: is this a Kubernetes API server?"},
		{listed, "failed to create: .a: expected b; .c: expected d"},
		{unauthorized, "the server rejected the credentials, or none were sent: Unauthorized"},
		{gone, "request to " + server.URL + ": dial tcp "},
	} {
		if test.err == nil || !strings.HasPrefix(test.err.Error(), test.want) || strings.Contains(test.err.Error(), "\n") {
			t.Errorf("error = %v, want %s", test.err, test.want)
		}
	}
}

// TestReadErrorWithLongBody checks that readError decodes a Status that exceeds the size limit of request bodies, and
// that it truncates a body that is not a Status.
func TestReadErrorWithLongBody(t *testing.T) {
	cause := `{"reason":"FieldManagerConflict","field":".data.a","message":"` + strings.Repeat("x", 1000) + `"}`
	body := `{"kind":"Status","message":"refused","details":{"causes":[` + strings.Repeat(cause+",", 5000) + cause + `]}}`
	var refused *Error
	if err := readError(request{}, http.StatusConflict, body); !errors.As(err, &refused) || refused.Message != "refused" || len(refused.Causes) != 5001 {
		t.Errorf("readError() = %.300s, want \"refused\" with 5001 causes", err)
	}
	const want = "GET /x: 500 Internal Server Error: "
	if err := readError(request{method: "GET", path: "/x"}, http.StatusInternalServerError, body[1:]); !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 300 {
		t.Errorf("readError() = %.300s, want at most 300 bytes that start with %q", err, want)
	}
}

// TestCancelledRequest checks that a cancelled request returns the cause of its context's cancellation.
func TestCancelledRequest(t *testing.T) {
	cause := errors.New("cancelled by the test")
	for name, answer := range map[string]http.HandlerFunc{
		"waiting for a response":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"reading the body":        func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); <-r.Context().Done() },
		"waiting for Retry-After": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "30"); w.WriteHeader(429) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			c, err := Open(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancelCause(t.Context())
			time.AfterFunc(50*time.Millisecond, func() { stop(cause) })
			var noResponse *NoResponseError
			if _, err = c.Get(ctx, Kind{Version: "v1", Resource: "things"}, "", "x"); !errors.As(err, &noResponse) || noResponse.Error() != cause.Error() {
				t.Errorf("Get() = %v, want the cause of the context", err)
			}
		})
	}
}
