// Package cadastretest starts API servers in tests. Each is private, in memory, ready within
// milliseconds, and speaks TLS on a loopback port, so that any client works with it and many can
// run side by side.
//
//	func TestController(t *testing.T) {
//		t.Parallel()
//		config := cadastretest.Start(t)
//		client := kubernetes.NewForConfigOrDie(config)
//		…
//	}
//
// [Open] is for a server that all tests of a package share.
package cadastretest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/internal/server"
)

// stopTime is how long requests that are under way may take when a test ends.
const stopTime = 5 * time.Second

// Option changes what a server does.
type Option struct{ change func(*server.Config) }

// WithoutControllers has nobody collect garbage, empty namespaces that are deleted, or remove old events, for
// tests that do that themselves, or look at objects that wait for it.
func WithoutControllers() Option {
	return Option{func(c *server.Config) { c.WithoutControllers = true }}
}

// Start starts a server and returns the configuration of a client that may do everything. The
// server stops when the test ends.
func Start(t testing.TB, options ...Option) *rest.Config {
	t.Helper()
	config, stop, err := Open(options...)
	if err != nil {
		t.Fatalf("cadastretest: start a server: %v", err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("cadastretest: stop the server: %v", err)
		}
	})
	return config
}

// Open starts a server for all tests of a package, from TestMain, and returns the configuration of
// a client that may do everything: whoever calls it also calls stop.
func Open(options ...Option) (config *rest.Config, stop func() error, err error) {
	configured := server.Config{
		Address:   "127.0.0.1:0",
		Unset:     true,
		Drop:      true,
		EventLife: server.DefaultEventLife,
		Log:       slog.New(slog.DiscardHandler),
	}
	for _, o := range options {
		o.change(&configured)
	}
	s, err := server.Start(context.Background(), configured)
	if err != nil {
		return nil, nil, err
	}
	certificate, key := s.Authority.Admin()
	config = &rest.Config{
		Host: s.URL(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData: s.Authority.CA(), CertData: certificate, KeyData: key,
		},
		// The server bounds what it does at once; a client of a test need not hold back.
		QPS: -1,
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		return s.Stop(ctx)
	}
	return config, stop, nil
}
