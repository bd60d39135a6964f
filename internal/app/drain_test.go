package app

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// withHTTP1 returns a client that uses HTTP/1.1.
func (c *client) withHTTP1() *client {
	transport := c.http.Transport.(*http.Transport).Clone()
	transport.ForceAttemptHTTP2, transport.TLSNextProto = false, map[string]func(string, *tls.Conn) http.RoundTripper{}
	transport.TLSClientConfig.NextProtos = []string{"http/1.1"}
	c.t.Cleanup(transport.CloseIdleConnections)
	other := *c
	other.http = &http.Client{Transport: transport}
	return &other
}

// do sends a request and reads the response. sent reports whether the request was sent on a connection.
func (c *client) do(method, path, body string) (code int, sent bool, err error) {
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{WroteHeaders: func() { sent = true }})
	r, err := http.NewRequestWithContext(ctx, method, c.url+path, strings.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	response, err := c.http.Do(r)
	if err != nil {
		return 0, sent, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, sent, err
}

// drainConfig returns the configuration of a server that stops gracefully and serves /counted, which counts its requests.
func drainConfig(handled *atomic.Int64) Config {
	return Config{
		Address: "127.0.0.1:0", GracefulStop: true, Log: slog.New(slog.DiscardHandler),
		Handlers: map[string]http.Handler{"/counted": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			handled.Add(1)
			_, _ = io.WriteString(w, "counted")
		})},
	}
}

// TestNoRequestIsLost: clients send requests without a pause while a server stops. Each request that the server has started to handle
// gets its response, and no connection is refused before the server was asked to stop.
func TestNoRequestIsLost(t *testing.T) {
	for name, protocol := range map[string]func(*client) *client{"HTTP/1": (*client).withHTTP1, "HTTP/2": func(c *client) *client { return c }} {
		t.Run(name, func(t *testing.T) {
			var handled, answered, unreachable atomic.Int64
			s, err := Start(t.Context(), drainConfig(&handled))
			if err != nil {
				t.Fatal(err)
			}
			c := protocol(clientOf(t, s))
			var clients sync.WaitGroup
			var stopping atomic.Bool
			for range 8 {
				clients.Go(func() {
					for {
						code, _, err := c.do("GET", "/counted", "")
						switch {
						case err == nil && code == 200:
							answered.Add(1)
						case !stopping.Load():
							t.Errorf("before the stop: %d, %v", code, err)
							return
						case err == nil:
							t.Errorf("during the stop: status code %d", code)
							return
						default: // the listener is closed
							unreachable.Add(1)
							return
						}
					}
				})
			}
			if !testwait.Within(testwait.Timeout, func() bool { return answered.Load() > 200 }) {
				t.Fatal("the clients send no requests")
			}
			s.FailReadiness()
			failing := answered.Load()
			if !testwait.Within(testwait.Timeout, func() bool { return answered.Load() > failing+200 }) {
				t.Fatal("no requests are served while the readiness check fails")
			}
			stopping.Store(true)
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			if err := s.Stop(ctx); err != nil {
				t.Error(err)
			}
			clients.Wait()
			if handled.Load() != answered.Load() || unreachable.Load() != 8 {
				t.Errorf("the server has handled %d requests, the clients have %d responses, and %d of 8 clients have ended", handled.Load(), answered.Load(), unreachable.Load())
			}
		})
	}
}

// TestRollingRestart: clients use the first of two servers as long as its readiness check succeeds. While it stops, no request of them
// fails: neither one in flight nor one on a connection that was idle.
func TestRollingRestart(t *testing.T) {
	for name, protocol := range map[string]func(*client) *client{"HTTP/1": (*client).withHTTP1, "HTTP/2": func(c *client) *client { return c }} {
		t.Run(name, func(t *testing.T) {
			var handled atomic.Int64
			release := make(chan struct{})
			config := drainConfig(&handled)
			config.Handlers["/slow"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				handled.Add(1)
				<-release
				_, _ = io.WriteString(w, "slow")
			})
			first, err := Start(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			one, two := protocol(clientOf(t, first)), protocol(start(t, Config{}))
			var useSecond, ended atomic.Bool
			var served [2]atomic.Int64
			var clients sync.WaitGroup
			send := func(method, path, body string, want int) bool {
				to, i := one, 0
				if useSecond.Load() {
					to, i = two, 1
				}
				code, _, err := to.do(method, path, body)
				if err != nil || code != want {
					t.Errorf("%s to server %d: %d, %v", method, i+1, code, err)
					return false
				}
				served[i].Add(1)
				return true
			}
			for range 4 {
				clients.Go(func() {
					for !ended.Load() && send("POST", configMaps, `{"metadata":{"generateName":"c-"}}`, 201) && send("GET", configMaps+"?limit=3", "", 200) {
					}
				})
			}
			clients.Go(func() { // the load balancer
				balancer := protocol(clientOf(t, first))
				for !ended.Load() {
					if code, _, err := balancer.do("GET", "/readyz", ""); err != nil || code != 200 {
						useSecond.Store(true)
						return
					}
				}
			})
			slow := make(chan error, 1)
			go func() {
				code, _, err := protocol(clientOf(t, first)).do("GET", "/slow", "")
				if err == nil && code != 200 {
					err = errors.New(http.StatusText(code))
				}
				slow <- err
			}()
			watching := protocol(clientOf(t, first)).open("GET", configMaps+"?watch=true", "")
			defer watching.Body.Close()
			watched := make(chan error, 1)
			go func() {
				_, err := io.Copy(io.Discard, watching.Body)
				watched <- err
			}()
			if !testwait.Within(testwait.Timeout, func() bool { return served[0].Load() > 100 && handled.Load() == 1 }) {
				t.Fatal("the clients send no requests to the first server")
			}
			first.FailReadiness()
			if !testwait.Within(testwait.Timeout, func() bool { return served[1].Load() > 100 }) {
				t.Fatal("the clients do not switch to the second server")
			}
			stopped := make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				defer cancel()
				stopped <- first.Stop(ctx)
			}()
			if err := <-watched; err != nil {
				t.Errorf("the watch ended with %v, want a clean end", err)
			}
			after := served[1].Load()
			if !testwait.Within(testwait.Timeout, func() bool { return served[1].Load() > after+50 }) {
				t.Error("the clients stopped")
			}
			close(release)
			if err := <-slow; err != nil {
				t.Errorf("the request in flight failed: %v", err)
			}
			if err := <-stopped; err != nil {
				t.Error(err)
			}
			ended.Store(true)
			clients.Wait()
		})
	}
}

// minLeaving is the minimum time between a GOAWAY and the end of the connection.
const minLeaving = 500 * time.Millisecond

// TestIdleConnections: while the readiness check fails, responses on HTTP/1 connections have Connection: close. When the server stops,
// idle HTTP/2 connections receive a GOAWAY before they are closed.
func TestIdleConnections(t *testing.T) {
	var handled atomic.Int64
	s, err := Start(t.Context(), drainConfig(&handled))
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, s)
	old := c.withHTTP1()
	if close := old.call("GET", "/counted", "").want(200).header.Get("Connection"); close != "" {
		t.Errorf("Connection = %q before the stop", close)
	}
	config := c.http.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{"h2"}
	socket, err := tls.Dial("tcp", strings.TrimPrefix(c.url, "https://"), config)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if _, err := io.WriteString(socket, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(socket, socket)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	for { // the server has received the settings
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if settings, ok := frame.(*http2.SettingsFrame); ok && settings.IsAck() {
			break
		}
	}
	s.FailReadiness()
	answer := old.open("GET", "/counted", "")
	answer.Body.Close()
	if !answer.Close {
		t.Error("the response has no Connection: close while the readiness check fails")
	}
	stopped := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		stopped <- s.Stop(ctx)
	}()
	leaving := false
	var left time.Time
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			break
		}
		if goAway, ok := frame.(*http2.GoAwayFrame); ok {
			leaving, left = goAway.ErrCode == http2.ErrCodeNo, time.Now()
		}
	}
	if !leaving {
		t.Error("the idle HTTP/2 connection was closed without a GOAWAY")
	} else if open := time.Since(left); open < minLeaving {
		t.Errorf("the HTTP/2 connection was closed %v after the GOAWAY, want at least %v, so that requests on their way are received", open, minLeaving)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
