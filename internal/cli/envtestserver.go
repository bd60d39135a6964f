package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cadastre/cadastre/apiserver"
)

// serverVerb and etcdVerb are the hidden subcommands of envtest that replace the programs kube-apiserver and etcd.
const (
	serverVerb = "kube-apiserver"
	etcdVerb   = "etcd"
)

// envtestServerCommand returns the command that replaces kube-apiserver. It accepts every flag, and evaluates those that
// envtest requires.
func envtestServerCommand() *cobra.Command {
	return upstreamCommand(serverVerb, "Run an in-memory API server with the flags of kube-apiserver",
		func(c *cobra.Command, flags upstreamFlags) error {
			return serveForTest(c.Context(), flags, c.ErrOrStderr())
		})
}

// envtestStoreCommand returns the command that replaces etcd. It only serves /health, for which envtest waits; the API
// server stores objects in memory.
func envtestStoreCommand() *cobra.Command {
	return upstreamCommand(etcdVerb, "Serve etcd's health endpoint with the flags of etcd",
		func(c *cobra.Command, flags upstreamFlags) error { return serveEtcdHealth(c.Context(), flags) })
}

// upstreamCommand returns a hidden command that replaces the named program. It accepts all flags of that program and
// passes them to run.
func upstreamCommand(name, about string, run func(*cobra.Command, upstreamFlags) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " [--FLAG=VALUE…]", Short: about, Hidden: true, DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") {
				return c.Help() // envtest parses the help of the program to determine which flags it supports
			}
			flags, err := parseUpstreamFlags(args)
			if err != nil {
				return &usageError{fmt.Errorf("envtest %s: %w", name, err)}
			}
			return run(c, flags)
		},
	}
}

// upstreamFlags maps the flags of the replaced program, without dashes, to their values. If a flag is repeated, its last
// value is used.
type upstreamFlags map[string]string

func parseUpstreamFlags(args []string) (upstreamFlags, error) {
	flags := upstreamFlags{}
	for _, arg := range args {
		name, isFlag := strings.CutPrefix(arg, "--")
		if !isFlag || name == "" {
			return nil, fmt.Errorf("expected flags such as --secure-port=6443, received %q", arg)
		}
		name, value, _ := strings.Cut(name, "=")
		flags[name] = value
	}
	return flags, nil
}

// options returns the options of an in-memory server for kube-apiserver's flags.
func (f upstreamFlags) options() (apiserver.Options, error) {
	port := f["secure-port"]
	if port == "" {
		return apiserver.Options{}, errors.New("--secure-port must be set to a port")
	}
	host := f["bind-address"]
	if host == "" {
		host = "127.0.0.1"
	}
	_, withControllers := f["controllers"]
	o := apiserver.Options{
		Address: net.JoinHostPort(host, port), DisableControllers: !withControllers, TokenFile: f["token-auth-file"],
		TLS: apiserver.TLS{
			ClientCAFile: f["client-ca-file"], CertFile: f["tls-cert-file"], KeyFile: f["tls-private-key-file"],
		},
		EventTTL: -1, ShutdownTimeout: testShutdownTimeout,
	}
	certificate := filepath.Join(f["cert-dir"], "apiserver.crt")
	if _, err := os.Stat(certificate); o.TLS.CertFile == "" && err == nil {
		o.TLS.CertFile, o.TLS.KeyFile = certificate, filepath.Join(f["cert-dir"], "apiserver.key")
	}
	return o, nil
}

// testShutdownTimeout is the maximum time to wait for active requests when the server stops. It is short, because a test
// stops its clients before its server.
const testShutdownTimeout = time.Second

func serveForTest(ctx context.Context, f upstreamFlags, stderr io.Writer) error {
	options, err := f.options()
	if err != nil {
		return &usageError{fmt.Errorf("envtest %s: %w", serverVerb, err)}
	}
	if options.Log, err = newLog("text", 0, stderr); err != nil {
		return err
	}
	return runServer(ctx, options, func(*apiserver.Server) error { return nil })
}

// serveEtcdHealth serves etcd's health endpoint until the context is cancelled.
func serveEtcdHealth(ctx context.Context, f upstreamFlags) error {
	address, err := url.Parse(f["listen-client-urls"])
	if err != nil || address.Host == "" {
		return &usageError{fmt.Errorf("envtest %s: --listen-client-urls: expected http://HOST:PORT, received %q", etcdVerb, f["listen-client-urls"])}
	}
	listener, err := net.Listen("tcp", address.Host)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"health":"true","reason":""}`) // the client may have closed the connection
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = s.Close() }) // Close aborts active requests, which are only health checks
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
