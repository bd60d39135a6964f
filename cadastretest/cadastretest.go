// Package cadastretest starts Kubernetes API servers in tests. Each server is private, in memory, ready within
// milliseconds, and serves TLS on a loopback port, so that any client works with it and many can run in parallel.
//
//	func TestController(t *testing.T) {
//		t.Parallel()
//		config := cadastretest.Start(t)
//		client := kubernetes.NewForConfigOrDie(config)
//		…
//	}
//
// [Open] is for a server that all tests of a package share. example_test.go runs both.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/cadastretest.txt. The served API follows the
// Kubernetes version in docs/conformance.md and may change with every minor release.
//
// Concurrency: all functions are safe for concurrent use. Servers share nothing.
package cadastretest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/internal/app"
)

// stopTime is how long requests that are under way may take when a test ends.
const stopTime = 5 * time.Second

// Option configures a server.
type Option struct{ change func(*app.Config) }

// WithoutControllers disables the garbage collector, the namespace controller and the event TTL, for tests that do
// their work or inspect objects that wait for them.
func WithoutControllers() Option {
	return Option{func(c *app.Config) { c.WithoutControllers = true }}
}

// Start starts a server and returns a client config with all permissions. The server stops when the test ends.
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

// Open starts a server for all tests of a package, such as from TestMain, and returns a client config with all
// permissions. The caller must call stop.
func Open(options ...Option) (config *rest.Config, stop func() error, err error) {
	configured := app.Config{
		Address:   "127.0.0.1:0",
		Unset:     true,
		Drop:      true,
		EventLife: app.DefaultEventLife,
		Log:       slog.New(slog.DiscardHandler),
	}
	for _, o := range options {
		o.change(&configured)
	}
	s, err := app.Start(context.Background(), configured)
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
