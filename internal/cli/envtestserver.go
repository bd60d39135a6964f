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

// The verbs that stand for other programs.
const (
	serverVerb = "kube-apiserver"
	storeVerb  = "etcd"
)

// envtestServerCommand stands for kube-apiserver. It takes any flag of that, and goes by a few.
func envtestServerCommand() *cobra.Command {
	return foreignCommand(serverVerb, "Serve, with the flags that envtest gives to kube-apiserver",
		func(c *cobra.Command, flags foreignFlags) error {
			return serveForTest(c.Context(), flags, c.ErrOrStderr())
		})
}

// envtestStoreCommand stands for etcd, which is not needed: envtest waits until it says that it is well.
func envtestStoreCommand() *cobra.Command {
	return foreignCommand(storeVerb, "Say that the store is well, with the flags that envtest gives to etcd",
		func(c *cobra.Command, flags foreignFlags) error { return pretendStore(c.Context(), flags) })
}

// foreignCommand is a verb with another program's flags.
func foreignCommand(name, about string, run func(*cobra.Command, foreignFlags) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " [--FLAG=VALUE…]", Short: about, Hidden: true, DisableFlagParsing: true,
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") {
				return c.Help() // envtest looks there for flags that it should give
			}
			flags, err := readForeign(args)
			if err != nil {
				return &usageError{fmt.Errorf("envtest %s: %w", name, err)}
			}
			return run(c, flags)
		},
	}
}

// foreignFlags are another program's flags, by name without dashes. The last of a name wins.
type foreignFlags map[string]string

func readForeign(args []string) (foreignFlags, error) {
	flags := foreignFlags{}
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

// options returns the options of a server in memory.
func (f foreignFlags) options() (apiserver.Options, error) {
	port := f["secure-port"]
	if port == "" {
		return apiserver.Options{}, errors.New("--secure-port: expected a port, received none")
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

// testShutdownTimeout is the time that active requests have to finish: a test that ends does not wait for them.
const testShutdownTimeout = time.Second

func serveForTest(ctx context.Context, f foreignFlags, stderr io.Writer) error {
	options, err := f.options()
	if err != nil {
		return &usageError{fmt.Errorf("envtest %s: %w", serverVerb, err)}
	}
	if options.Log, err = newLog("text", stderr); err != nil {
		return err
	}
	return runServer(ctx, options, func(*apiserver.Server) error { return nil })
}

// pretendStore answers questions about the health of etcd.
func pretendStore(ctx context.Context, f foreignFlags) error {
	address, err := url.Parse(f["listen-client-urls"])
	if err != nil || address.Host == "" {
		return &usageError{fmt.Errorf("envtest %s: --listen-client-urls: expected http://HOST:PORT, received %q", storeVerb, f["listen-client-urls"])}
	}
	listener, err := net.Listen("tcp", address.Host)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"health":"true","reason":""}`) // who is gone needs no answer
	})
	s := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = s.Close() }) // it answers nothing that must be finished
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
