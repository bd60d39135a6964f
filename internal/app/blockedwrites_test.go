package app

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/server"
)

// startBlocked starts a server in which writes of widgets wait for the migration of managedFields until release is called,
// because the conversion webhook that the migration calls does not respond before.
func startBlocked(t *testing.T, config Config) (c *client, release func()) {
	t.Helper()
	c = start(t, config)
	converter := startConverter(t)
	c.defineConverted(converter.config())
	c.makeWidget("a", `,"managedFields":[{"manager":"m","operation":"Update","apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:size":{}}}]`)
	asked, released := make(chan struct{}), make(chan struct{})
	answer, tell := converter.Config.Handler, sync.OnceFunc(func() { close(asked) })
	converter.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tell()
		<-released
		answer.ServeHTTP(w, r)
	})
	const add = `{"op":"add","path":"/spec/versions/%s/schema/openAPIV3Schema/properties/more","value":{"type":"string"}}`
	c.call("PATCH", definitions+"/widgets.example.com", "["+strings.Replace(add, "%s", "0", 1)+","+strings.Replace(add, "%s", "1", 1)+"]",
		"Content-Type: application/json-patch+json").want(200)
	select {
	case <-asked:
	case <-time.After(30 * time.Second):
		t.Fatal("the migration of managedFields did not start within 30 s")
	}
	release = sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	return c, release
}

// TestBlockedWriteTimesOut checks that a write that waits for the migration longer than the request timeout fails with a 504
// that states the reason, and that writes succeed after the migration.
func TestBlockedWriteTimesOut(t *testing.T) {
	c, release := startBlocked(t, Config{Limits: server.Limits{RequestTimeout: 300 * time.Millisecond}})
	patch := func() *testResponse {
		return c.call("PATCH", atV1+"/a", `{"size":"large"}`, "Content-Type: "+mergeType)
	}
	patch().want(504, "writes to widgets.example.com wait until the managedFields", `"retryAfterSeconds":1`)
	c.call("GET", atV1+"/a", "").want(200, `"size":"small"`)
	release()
	for deadline := time.Now().Add(30 * time.Second); patch().code != 200; {
		if time.Now().After(deadline) {
			t.Fatal("writes are still blocked 30 s after the migration was released")
		}
	}
	c.call("GET", atV1+"/a", "").want(200, `"size":"large"`)
}

// waitIdle waits until the server has no active requests, including requests of disconnected clients.
func (c *client) waitIdle() {
	c.t.Helper()
	testwait.For(c.t, "the server to end all requests", func() bool { return c.server.handler.ActiveRequests() == 0 })
}

// TestBlockedWriteOfDisconnectedClient checks that a write that waits for the migration is not executed if its client has
// disconnected.
func TestBlockedWriteOfDisconnectedClient(t *testing.T) {
	c, release := startBlocked(t, Config{})
	ctx, goAway := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer goAway()
	r, err := http.NewRequestWithContext(ctx, "POST", c.url+atV1, strings.NewReader(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"late"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if response, err := c.http.Do(r); err == nil {
		_ = response.Body.Close()
		t.Fatalf("write during the migration: received %s, want it to be blocked until the client's timeout", response.Status)
	}
	c.waitIdle()
	release()
	c.makeWidget("b", "") // waits until the migration has finished
	c.waitIdle()
	c.call("GET", atV1+"/late", "").want(404)
}
