package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cadastre/cadastre/apiserver"
	"github.com/cadastre/cadastre/internal/auth/authn"
)

// shutdownTimeout is the maximum time that active requests have to finish during shutdown.
const shutdownTimeout = 20 * time.Second

type serveFlags struct {
	data, listen, kubeconfig               string
	tokens, clientCA, certificate, keyFile string
	gates, logFormat                       string
	verbosity                              int
	profiling                              bool
	tracing                                string
	controllers                            bool
	eventTTL                               time.Duration
	memoryLimit                            string
	storage                                storageFlags
	etcd                                   etcdFlags
	shutdownDelay                          time.Duration
	audit                                  apiserver.AuditOptions
	authentication                         authenticationFlags
	authorization                          apiserver.AuthorizationOptions
	signing                                apiserver.SigningOptions
	reads, writes                          int
	fairness                               bool
}

func serveCommand() *cobra.Command {
	var f serveFlags
	command := &cobra.Command{
		Use:   "serve",
		Short: "Run the API server",
		Long: `Run a Kubernetes-compatible API server that stores objects in a folder, or in etcd.

The server creates a certificate authority and certificates in the folder, writes a kubeconfig for its administrator, and
prints "ready https://HOST:PORT" when it accepts requests. SIGINT and SIGTERM stop it, SIGHUP loads its configuration files
again, which also happens when they change. Acknowledged writes are on disk at any time.`,
		Example: `  cadastre serve
  cadastre serve --data /tmp/demo --listen 127.0.0.1:0
  cadastre serve --data /var/lib/cadastre --tls-cert-file server.crt --tls-private-key-file server.key`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("serve: expected no arguments, received %q; see cadastre serve --help", args)}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return serve(c.Context(), f, c.Flags(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&f.data, "data", defaultData(), "The `folder` for objects and certificates.")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:6443", "The `address` to listen on. Port 0 selects a free port.")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "The `file` for the administrator's kubeconfig. The default is kubeconfig in the data folder.")
	flags.StringVar(&f.tokens, "token-auth-file", "", "A CSV `file` with bearer tokens: token,user,uid,\"group1,group2\".")
	flags.StringVar(&f.clientCA, "client-ca-file", "", "A `file` with CA certificates for client certificates, in addition to the server's own CA.")
	flags.StringVar(&f.certificate, "tls-cert-file", "", "A `file` with the serving certificate, instead of a generated one.")
	flags.StringVar(&f.keyFile, "tls-private-key-file", "", "The `file` with the private key of the serving certificate.")
	flags.StringVar(&f.gates, "feature-gates", "", "Feature gates to set, as `NAME=true|false,…`:\n"+gatesHelp())
	flags.BoolVar(&f.controllers, "controllers", true, "Run garbage collection, namespace deletion and event expiry. If false, another process must run them.")
	flags.DurationVar(&f.eventTTL, "event-ttl", time.Hour, "The time to keep events after their last update. 0 keeps events forever.")
	flags.StringVar(&f.memoryLimit, "memory-limit", "", "The `size` that the memory of the process should not exceed, such as 2Gi. The default is 75 % of the limit of the control group, if there is one. Half of it is for request bodies and the objects that are decoded from them; requests that exceed it receive 429.")
	f.storage.bind(flags)
	f.etcd.bind(flags)
	flags.DurationVar(&f.shutdownDelay, "shutdown-delay-duration", 0, "The time for which the server still serves requests after SIGTERM, while /readyz fails.")
	f.audit = apiserver.DefaultAuditOptions()
	bindAuditFlags(flags, &f.audit)
	f.authentication.bind(flags)
	f.authorization = apiserver.DefaultAuthorizationOptions()
	bindAuthorizationFlags(flags, &f.authorization)
	flags.StringVar(&f.signing.CertFile, "cluster-signing-cert-file", "", "A `file` with the CA certificate that signs CertificateSigningRequests of clients, instead of the server's own CA.")
	flags.StringVar(&f.signing.KeyFile, "cluster-signing-key-file", "", "The `file` with the private key of that CA certificate.")
	flags.DurationVar(&f.signing.Duration, "cluster-signing-duration", 365*24*time.Hour, "The maximum lifetime of certificates for CertificateSigningRequests. 0 disables signing, for clusters with kube-controller-manager.")
	flags.IntVar(&f.reads, "max-requests-inflight", 400, "The maximum `number` of concurrent read-only requests. With priority and fairness only the sum of this flag and --max-mutating-requests-inflight has an effect.")
	flags.IntVar(&f.writes, "max-mutating-requests-inflight", 200, "The maximum `number` of concurrent mutating requests.")
	flags.BoolVar(&f.fairness, "enable-priority-and-fairness", true, "Share the sum of the two limits among users by FlowSchemas and PriorityLevelConfigurations. If false, the two limits apply to all users together.")
	flags.StringVar(&f.tracing, "tracing-config-file", "", "A `file` with the collector of OpenTelemetry traces, a TracingConfiguration of apiserver.config.k8s.io/v1. The default is no traces.")
	flags.BoolVar(&f.profiling, "profiling", true, "Serve profiles of the process at /debug/pprof to users that may get these paths.")
	flags.StringVar(&f.logFormat, "logging-format", "text", "The log format: `text|json`.")
	flags.IntVarP(&f.verbosity, "v", "v", 0, "The log `level`, from 0 to 10: 3 logs every request, 4 also errors of connections.")
	return command
}

// defaultData returns the default data folder, according to the XDG base directory specification.
func defaultData() string {
	if folder := os.Getenv("XDG_DATA_HOME"); folder != "" {
		return filepath.Join(folder, "cadastre")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "cadastre-data"
	}
	return filepath.Join(home, ".local", "share", "cadastre")
}

// hint is printed to standard error when the server is ready.
const hint = `
Try:
  export KUBECONFIG=%s
  kubectl get namespaces
  kubectl create deployment web --image=nginx

`

// check validates the flags before anything is written, and sets defaults that depend on other flags.
func (f *serveFlags) check() error {
	if f.data == "" {
		return errors.New("--data must be set to a folder")
	}
	_, port, err := net.SplitHostPort(f.listen)
	if err != nil {
		return fmt.Errorf("--listen: expected HOST:PORT, received %q: %w", f.listen, err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("--listen: expected a port from 0 to 65535, received %q", port)
	}
	if (f.certificate == "") != (f.keyFile == "") {
		return errors.New("--tls-cert-file and --tls-private-key-file: expected both or none, received one")
	}
	if (f.signing.CertFile == "") != (f.signing.KeyFile == "") {
		return errors.New("--cluster-signing-cert-file and --cluster-signing-key-file: expected both or none, received one")
	}
	if f.signing.Duration < 0 || f.signing.Duration > 0 && f.signing.Duration < 10*time.Minute {
		return fmt.Errorf("--cluster-signing-duration: expected a duration of at least 10m, or 0, received %s", f.signing.Duration)
	}
	if f.eventTTL < 0 {
		return fmt.Errorf("--event-ttl: expected a duration such as 1h, or 0, received %s", f.eventTTL)
	}
	if f.shutdownDelay < 0 {
		return fmt.Errorf("--shutdown-delay-duration: expected a duration such as 10s, or 0, received %s", f.shutdownDelay)
	}
	if err := errors.Join(f.storage.check(), f.etcd.check(), f.audit.Check(), f.authentication.check(), f.authorization.Check()); err != nil {
		return err
	}
	if f.reads <= 0 {
		return fmt.Errorf("--max-requests-inflight: expected a positive number, received %d", f.reads)
	}
	if f.writes <= 0 {
		return fmt.Errorf("--max-mutating-requests-inflight: expected a positive number, received %d", f.writes)
	}
	if f.kubeconfig == "" {
		f.kubeconfig = filepath.Join(f.data, "kubeconfig")
	}
	// The path is printed, and must be valid in any working directory.
	absolute, err := filepath.Abs(f.kubeconfig)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	f.kubeconfig = absolute
	return nil
}

// serve runs the server until the context is cancelled or the server fails.
func serve(ctx context.Context, f serveFlags, flags *pflag.FlagSet, stdout, stderr io.Writer) error {
	hasKubeconfigFlag := f.kubeconfig != ""
	if err := f.check(); err != nil {
		return &usageError{err}
	}
	if hasKubeconfigFlag { // only the default kubeconfig, in the data folder, may be overwritten
		if err := authn.CheckKubeconfig(f.kubeconfig); err != nil {
			return err
		}
	}
	gates, err := parseGates(f.gates)
	if err != nil {
		return &usageError{err}
	}
	log, err := newLog(f.logFormat, f.verbosity, stderr)
	if err != nil {
		return &usageError{err}
	}
	memory, err := memoryLimit(f.memoryLimit)
	if err != nil {
		return &usageError{err}
	}
	logStart(log, flags)
	if memory > 0 {
		debug.SetMemoryLimit(memory)
		log.Info("memory limit", "bytes", memory)
	}
	if f.signing.Duration == 0 {
		f.signing.Duration = -1 // 0 would mean the default
	}
	if f.eventTTL == 0 {
		f.eventTTL = -1 // a negative TTL disables the expiry of events
	}
	err = runServer(ctx, apiserver.Options{
		Directory: f.data, Storage: f.storage.options, Etcd: f.etcd.options, Audit: f.audit, Address: f.listen, TokenFile: f.tokens,
		Authentication: f.authentication.options, Authorization: f.authorization, Signing: f.signing,
		TLS:          apiserver.TLS{CertFile: f.certificate, KeyFile: f.keyFile, ClientCAFile: f.clientCA},
		FeatureGates: gates, DisableControllers: !f.controllers, EventTTL: f.eventTTL,
		Limits:        apiserver.Limits{MaxReadsInFlight: f.reads, MaxWritesInFlight: f.writes, DisablePriorityAndFairness: !f.fairness, MemoryBudget: memory / 2},
		ShutdownDelay: f.shutdownDelay, ShutdownTimeout: shutdownTimeout, TuneGC: true, Profiling: f.profiling, TracingConfigFile: f.tracing, Log: log,
	}, func(s *apiserver.Server) error {
		if err := s.WriteKubeconfig(f.kubeconfig); err != nil {
			return err
		}
		reloadOnHangup(ctx, s, log)
		fmt.Fprintf(stdout, "ready %s\n", s.URL())
		fmt.Fprintf(stderr, hint, f.kubeconfig)
		return nil
	})
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; choose another address with --listen; port 0 selects a free port", err)
	}
	return err
}

// reloadOnHangup makes the server load its configuration files again on SIGHUP, until the context is cancelled.
func reloadOnHangup(ctx context.Context, s *apiserver.Server, log *slog.Logger) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangups)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				log.Info("SIGHUP: loading all configuration files")
				s.Reload()
			}
		}
	}()
}

// runServer runs a server until the context is cancelled. It calls ready when the server answers requests, and stops the
// server if ready fails. options.Log is required.
func runServer(ctx context.Context, options apiserver.Options, ready func(*apiserver.Server) error) error {
	s, err := apiserver.New(options)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	if s.WaitReady(ctx) != nil {
		return <-stopped
	}
	if err := ready(s); err != nil {
		cancel()
		return errors.Join(err, <-stopped)
	}
	select {
	case <-ctx.Done():
		options.Log.Info("stopping")
		return <-stopped
	case err := <-stopped:
		return err
	}
}
