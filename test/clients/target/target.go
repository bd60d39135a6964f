package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cadastre/cadastre/cadastretest"
	"github.com/cadastre/cadastre/test/peers"
)

// Variable is the environment variable that selects the server.
const Variable = "CADASTRE_TARGET"

// The implementations.
const (
	KubeAPIServer = "kube-apiserver"
	Cadastre      = "cadastre"
)

// startTimeout is long because the servers of several packages start concurrently with compilers.
const startTimeout = 2 * time.Minute

// Suite runs the tests of a package and then stops the server.
type Suite struct{ M *testing.M }

// Run runs the tests and returns the exit code. An error when stopping the server is a failure.
func (s Suite) Run() int {
	code := s.M.Run()
	if running.stop == nil {
		return code
	}
	if err := running.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stop the server:", err)
		return cmp.Or(code, 1)
	}
	return code
}

// running is the server of this package. The first test that needs it starts it.
var running struct {
	once   sync.Once
	config *rest.Config
	stop   func() error
	err    error
}

// Config returns the server's address and an administrator's credentials. It skips the test if kube-apiserver is
// selected but not built.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	running.once.Do(func() { running.config, running.stop, running.err = start() })
	if errors.Is(running.err, peers.ErrNotBuilt) {
		t.Skip(running.err)
	}
	if running.err != nil {
		t.Fatal(running.err)
	}
	config := rest.CopyConfig(running.config)
	config.UserAgent = "clients"
	config.QPS = -1 // no client-side rate limit
	return config
}

// ConfigWith is Config with command line arguments for kube-apiserver: it starts a separate kube-apiserver. Other
// targets are used without them.
func ConfigWith(t *testing.T, args ...string) *rest.Config {
	t.Helper()
	if choice() != KubeAPIServer {
		return Config(t)
	}
	config, stop, err := startPeer(t.Context(), peers.Options{Args: args})
	if errors.Is(err, peers.ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	config.UserAgent, config.QPS = "clients", -1
	return config
}

// Implementation returns KubeAPIServer or Cadastre.
func Implementation() string {
	name, _, _ := strings.Cut(choice(), ":")
	return name
}

func choice() string {
	if choice := os.Getenv(Variable); choice != "" {
		return choice
	}
	return Cadastre
}

func start() (config *rest.Config, stop func() error, err error) {
	name, kubeconfig, exists := strings.Cut(choice(), ":")
	switch {
	case name != KubeAPIServer && name != Cadastre:
		return nil, nil, fmt.Errorf("%s: expected %s or %s, received %q", Variable, KubeAPIServer, Cadastre, name)
	case name == KubeAPIServer:
		return startKubeAPIServer(context.Background(), kubeconfig)
	case exists:
		return connectRunning(kubeconfig)
	}
	return cadastretest.Open()
}

// startKubeAPIServer starts kube-apiserver, or connects to the running one of a kubeconfig.
func startKubeAPIServer(ctx context.Context, kubeconfig string) (config *rest.Config, stop func() error, err error) {
	if kubeconfig != "" {
		return connectRunning(kubeconfig)
	}
	return startPeer(ctx, peers.Options{})
}

func startPeer(ctx context.Context, options peers.Options) (config *rest.Config, stop func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	server, err := peers.Start(ctx, options)
	if err != nil {
		return nil, nil, err
	}
	config = &rest.Config{
		Host:            server.Host,
		BearerToken:     server.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: server.CA},
	}
	stop = func() error {
		server.Stop()
		return nil
	}
	return config, stop, nil
}

// connectRunning returns the config of a running server; stop does nothing.
func connectRunning(kubeconfig string) (config *rest.Config, stop func() error, err error) {
	config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	return config, func() error { return nil }, err
}
