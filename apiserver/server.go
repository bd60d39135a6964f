package apiserver

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"github.com/cadastre/cadastre/internal/app"
	"github.com/cadastre/cadastre/internal/auth/authn"
)

// inProcessHost is the host of in-process client configs. It is never resolved.
const inProcessHost = "http://cadastre.in-process"

// Server is a Kubernetes API server in this process. Its methods are safe for concurrent use.
type Server struct {
	config          app.Config
	shutdownTimeout time.Duration

	// ready is closed when the server answers requests, done when Run has returned. running and err are set before these
	// are closed, and not changed afterwards.
	ready, done chan struct{}
	running     *app.Server
	err         error

	mu    sync.Mutex
	isRun bool
}

// New checks the options and returns a server that [Server.Run] starts. It opens nothing: a server that is not run needs no
// cleanup.
func New(options Options) (*Server, error) {
	config, err := options.config()
	if err != nil {
		return nil, err
	}
	return &Server{
		config: config, shutdownTimeout: cmp.Or(options.ShutdownTimeout, defaultShutdownTimeout),
		ready: make(chan struct{}), done: make(chan struct{}),
	}, nil
}

// Run starts the server, serves until the context ends, and stops it: new requests are rejected, watches end, and active
// requests have Options.ShutdownTimeout to finish. It returns nil after a clean stop, and an error if the server cannot
// start, its listener fails, or requests had to be aborted. When it returns, the server has released its files, its listener
// and its goroutines. A server runs once.
func (s *Server) Run(ctx context.Context) error {
	s.mu.Lock()
	wasRun := s.isRun
	s.isRun = true
	s.mu.Unlock()
	if wasRun {
		return errors.New("apiserver: Run: expected one call, received a second one; use a new Server")
	}
	defer close(s.done)
	s.err = s.run(ctx)
	return s.err
}

func (s *Server) run(ctx context.Context) error {
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), s.closeListener())
	}
	running, err := app.Start(ctx, s.config)
	if err != nil {
		return errors.Join(context.Cause(ctx), err) // a start that ctx interrupts fails with the error of the interrupted step
	}
	s.running = running
	close(s.ready)
	select {
	case <-ctx.Done():
	case err = <-running.Failed():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.shutdownTimeout)
	defer cancel()
	return errors.Join(err, running.Stop(stop))
}

// closeListener closes a listener of the caller that the server has not started to serve.
func (s *Server) closeListener() error {
	if s.config.Listener == nil {
		return nil
	}
	return s.config.Listener.Close()
}

// WaitReady waits until the server answers requests. It returns an error if the context ends or Run returns before.
func (s *Server) WaitReady(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
	}
	select {
	case <-s.ready: // it was ready, and has stopped
		return nil
	default:
	}
	return cmp.Or(s.err, errors.New("apiserver: the server has stopped"))
}

// RESTConfig returns a client config for the administrator: over the listener with a client certificate, or in process with
// Options.InProcess. It returns nil before the server is ready. Clients are not rate limited: the server's limits apply.
func (s *Server) RESTConfig() *rest.Config {
	running := s.readyServer()
	switch {
	case running == nil:
		return nil
	case running.Authority == nil:
		return s.RESTConfigFor(nil)
	}
	certificate, key := running.Authority.Admin()
	return &rest.Config{
		Host:            running.URL(),
		TLSClientConfig: rest.TLSClientConfig{CAData: running.Authority.ServingCA(), ServerName: running.Authority.ServerName(running.URL()), CertData: certificate, KeyData: key},
		QPS:             -1,
	}
}

// RESTConfigFor returns a client config that reaches the server in process, without a socket, as a user; nil means the
// administrator. Requests need no credentials; a bearer token or impersonation in the config takes precedence. It returns nil
// before the server is ready. Requests fail after the server has stopped.
func (s *Server) RESTConfigFor(u user.Info) *rest.Config {
	running := s.readyServer()
	if running == nil {
		return nil
	}
	if u == nil {
		u = authn.Admin
	}
	return &rest.Config{Host: inProcessHost, Transport: running.Transport(u), QPS: -1}
}

// URL returns the URL of the listener; "" before the server is ready, and with Options.InProcess.
func (s *Server) URL() string {
	if running := s.readyServer(); running != nil {
		return running.URL()
	}
	return ""
}

// WriteKubeconfig writes the administrator's kubeconfig to a file that only the current user can read. The server must be ready
// and have a listener.
func (s *Server) WriteKubeconfig(file string) error {
	running := s.readyServer()
	if running == nil || running.Authority == nil {
		return errors.New("apiserver: WriteKubeconfig: expected a server that is ready and has a listener; call WaitReady before, and do not set Options.InProcess")
	}
	return running.Authority.WriteKubeconfig(file, running.URL())
}

func (s *Server) readyServer() *app.Server {
	select {
	case <-s.ready:
		return s.running
	default:
		return nil
	}
}
