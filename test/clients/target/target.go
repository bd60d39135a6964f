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

// Variable is the environment variable that selects the server under test.
const Variable = "CADASTRE_TARGET"

// The implementations that Variable can select.
const (
	KubeAPIServer = "kube-apiserver"
	Cadastre      = "cadastre"
)

// startTimeout is the maximum time to start a server. It is long because the servers of several packages start while
// other packages are compiled.
const startTimeout = 2 * time.Minute

// Suite runs the tests of a package, and stops the server after them.
type Suite struct{ M *testing.M }

// Run runs the tests and returns the exit code, which is not 0 if stopping the server fails.
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

// running is the server that the tests of this package share. The first test that needs the server starts it.
var running struct {
	once   sync.Once
	config *rest.Config
	stop   func() error
	err    error
}

// Config returns a client config with the server's address and an administrator's credentials. It skips the test if
// kube-apiserver is selected but not built.
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
	config.QPS = -1 // -1 disables the client-side rate limit
	return config
}

// ConfigWith is Config with command-line arguments for kube-apiserver: if kube-apiserver is selected, ConfigWith starts
// a separate kube-apiserver with args for this test. If Cadastre or a running server is selected, args have no effect.
func ConfigWith(t *testing.T, args ...string) *rest.Config {
	t.Helper()
	if selection() != KubeAPIServer {
		return Config(t)
	}
	config, stop, err := startControlPlane(t.Context(), peers.Options{Args: args})
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

// Implementation returns the name of the selected implementation: KubeAPIServer or Cadastre.
func Implementation() string {
	name, _, _ := strings.Cut(selection(), ":")
	return name
}

func selection() string {
	if selected := os.Getenv(Variable); selected != "" {
		return selected
	}
	return Cadastre
}

func start() (config *rest.Config, stop func() error, err error) {
	name, kubeconfig, exists := strings.Cut(selection(), ":")
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

// startKubeAPIServer starts kube-apiserver or, if kubeconfig is not empty, connects to the running kube-apiserver of
// that file.
func startKubeAPIServer(ctx context.Context, kubeconfig string) (config *rest.Config, stop func() error, err error) {
	if kubeconfig != "" {
		return connectRunning(kubeconfig)
	}
	return startControlPlane(ctx, peers.Options{})
}

func startControlPlane(ctx context.Context, options peers.Options) (config *rest.Config, stop func() error, err error) {
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

// connectRunning returns the client config in the file kubeconfig, for a running server. stop does nothing.
func connectRunning(kubeconfig string) (config *rest.Config, stop func() error, err error) {
	config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
	return config, func() error { return nil }, err
}
