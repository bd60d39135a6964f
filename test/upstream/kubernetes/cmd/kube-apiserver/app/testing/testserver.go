// Package testing starts a Cadastre server for integration tests.
package testing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/apiserver"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/rest"
)

// Storage is the folder of a server that is restarted on the same data.
type Storage struct{ Folder string }

// TestServerInstanceOptions is always nil in the tests.
type TestServerInstanceOptions struct{}

// TearDownFunc stops a server.
type TearDownFunc func()

// TestServer is a running server.
type TestServer struct {
	ClientConfig *rest.Config
	TearDownFn   TearDownFunc
}

// ignoredFlags are accepted without effect: in Cadastre, RBAC and both kinds of admission policies are always enabled.
var ignoredFlags = []string{"--enable-admission-plugins", "--authorization-mode=RBAC", "--anonymous-auth", "--disable-admission-plugins"}

// StartTestServer starts a server with the flags of kube-apiserver. A flag that Cadastre does not have skips the test,
// because the test requires a feature that Cadastre does not implement.
func StartTestServer(t *testing.T, _ *TestServerInstanceOptions, flags []string, storage *Storage) (TestServer, error) {
	t.Helper()
	for i := 0; i < len(flags); i++ {
		flag := flags[i]
		if i+1 < len(flags) && !strings.HasPrefix(flags[i+1], "--") {
			i++
		}
		if !isIgnored(flag) {
			t.Skipf("Cadastre has no flag %s", flag)
		}
	}
	return Start(t, storage)
}

func isIgnored(flag string) bool {
	for _, ignored := range ignoredFlags {
		if strings.HasPrefix(flag, ignored) {
			return true
		}
	}
	return false
}

// StartTestServerOrDie is like StartTestServer and fails the test if the server cannot be started.
func StartTestServerOrDie(t *testing.T, options *TestServerInstanceOptions, flags []string, storage *Storage) *TestServer {
	t.Helper()
	server, err := StartTestServer(t, options, flags, storage)
	if err != nil {
		t.Fatal(err)
	}
	return &server
}

// The token and UID of the user of TestServer.ClientConfig, which has all permissions.
const token, uid = "upstream", "8d3b4a0e-0000-4000-8000-000000000000"

// Start starts a server with additional authorizers.
func Start(t *testing.T, storage *Storage, authorizers ...authorizer.Authorizer) (TestServer, error) {
	t.Helper()
	if storage.Folder == "" {
		folder, err := os.MkdirTemp("", "upstream")
		if err != nil {
			return TestServer{}, err
		}
		t.Cleanup(func() { _ = os.RemoveAll(folder) })
		storage.Folder = folder
	}
	tokens := filepath.Join(storage.Folder, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(token+",admin,"+uid+",system:masters\n"), 0o600); err != nil {
		return TestServer{}, err
	}
	s, err := apiserver.New(apiserver.Options{
		Directory: filepath.Join(storage.Folder, "data"), TokenFile: tokens, Authorizers: authorizers, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return TestServer{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	stop := func() {
		cancel()
		if err := <-stopped; err != nil {
			t.Errorf("stopping the server: %v", err)
		}
	}
	if err := s.WaitReady(ctx); err != nil {
		stop()
		return TestServer{}, fmt.Errorf("starting the server: %w", err)
	}
	config := s.RESTConfig()
	config.CertFile, config.KeyFile, config.CertData, config.KeyData, config.BearerToken = "", "", nil, nil, token
	config.QPS, config.Burst = 10000, 10000
	return TestServer{ClientConfig: config, TearDownFn: stop}, nil
}
