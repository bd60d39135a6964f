// Package cadastretest starts Kubernetes API servers in tests. Each server keeps its objects in memory, shares nothing with
// other servers, and is ready within milliseconds. It serves TLS on a free loopback port, so that any client can connect to
// it and many servers can run in parallel.
//
//	func TestController(t *testing.T) {
//		t.Parallel()
//		config := cadastretest.Start(t)
//		client := kubernetes.NewForConfigOrDie(config)
//		…
//	}
//
// [Open] is for a server that all tests of a package share. example_test.go contains examples of both. Package apiserver
// starts servers with other options, and outside of tests.
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

// shutdownTimeout is the maximum time that stopping a server waits for active requests.
const shutdownTimeout = 5 * time.Second

// Option changes the configuration of a server; see [WithoutControllers].
type Option struct{ change func(*apiserver.Options) }

// WithoutControllers disables the garbage collector, the namespace controller and the expiry of Events. It is for tests that
// replace these controllers, or that inspect objects before a controller processes them.
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

// Open starts a server that several tests share, usually in TestMain, and returns a client config with all permissions. The
// caller must call stop, which waits until the server has stopped.
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
