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
// [Open] is for a server that all tests of a package share. example_test.go runs both. Package apiserver starts servers with
// other options, and outside of tests.
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
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/apiserver"
)

// shutdownTimeout is the time that active requests have to finish when a test ends.
const shutdownTimeout = 5 * time.Second

// Option configures a server.
type Option struct{ change func(*apiserver.Options) }

// WithoutControllers disables the garbage collector, the namespace controller and the event TTL, for tests that do
// their work or inspect objects that wait for them.
func WithoutControllers() Option {
	return Option{func(o *apiserver.Options) { o.DisableControllers = true }}
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
	configured := apiserver.Options{ShutdownTimeout: shutdownTimeout, Log: slog.New(slog.DiscardHandler)}
	for _, o := range options {
		o.change(&configured)
	}
	s, err := apiserver.New(configured)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-stopped
	})
	if s.WaitReady(ctx) != nil {
		return nil, nil, stop()
	}
	return s.RESTConfig(), stop, nil
}
