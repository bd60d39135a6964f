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

// inProcessHost is the host in the client configs of in-process clients, which never resolve it.
const inProcessHost = "http://cadastre.in-process"

// Server is a Kubernetes API server in this process. Its methods are safe for concurrent use.
type Server struct {
	config          app.Config
	shutdownDelay   time.Duration
	shutdownTimeout time.Duration

	// ready is closed when the server serves requests; running is set before ready is closed. done is closed when Run
	// returns; err, the result of Run, is set before done is closed. running and err do not change afterwards.
	ready, done chan struct{}
	running     *app.Server
	err         error

	mu    sync.Mutex
	isRun bool // reports whether Run has been called; guarded by mu
}

// New returns a server, which [Server.Run] starts, or an error if the options are invalid. It opens no files and no sockets, so
// a server that is never run needs no cleanup.
func New(options Options) (*Server, error) {
	config, err := options.config()
	if err != nil {
		return nil, err
	}
	return &Server{
		config: config, shutdownDelay: options.ShutdownDelay, shutdownTimeout: cmp.Or(options.ShutdownTimeout, defaultShutdownTimeout),
		ready: make(chan struct{}), done: make(chan struct{}),
	}, nil
}

// Run starts the server, serves requests until the context ends, and stops the server: it fails readiness
// checks for Options.ShutdownDelay, rejects new requests, ends watches,
// and waits at most Options.ShutdownTimeout for active requests. It returns nil if all requests finished, and an error if the
// server could not start, if its listener failed, or if requests were aborted. When Run returns, the server has closed its
// files and its listener, and has ended its goroutines. Run may be called only once.
func (s *Server) Run(ctx context.Context) error {
	s.mu.Lock()
	wasRun := s.isRun
	s.isRun = true
	s.mu.Unlock()
	if wasRun {
		return errors.New("apiserver: Run may be called only once; use a new Server")
	}
	defer close(s.done)
	s.err = s.run(ctx)
	return s.err
}

// run implements Run without the check that it is called only once.
func (s *Server) run(ctx context.Context) error {
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), s.closeListener())
	}
	running, err := app.Start(ctx, s.config)
	if err != nil {
		return errors.Join(context.Cause(ctx), err) // if ctx ended while the server started, err is the error of the interrupted step
	}
	s.running = running
	close(s.ready)
	select {
	case <-ctx.Done():
		running.FailReadiness()
		select {
		case <-time.After(s.shutdownDelay):
		case err = <-running.Failed():
		}
	case err = <-running.Failed():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.shutdownTimeout)
	defer cancel()
	return errors.Join(err, running.Stop(stop))
}

// closeListener closes Options.Listener, if it is set, when the server does not start to serve on it.
func (s *Server) closeListener() error {
	if s.config.Listener == nil {
		return nil
	}
	return s.config.Listener.Close()
}

// WaitReady waits until the server serves requests. It returns an error if the context ends, or Run returns, before the
// server is ready.
func (s *Server) WaitReady(ctx context.Context) error {
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.done:
	}
	select {
	case <-s.ready: // the server was ready before it stopped
		return nil
	default:
	}
	return cmp.Or(s.err, errors.New("apiserver: the server has stopped"))
}

// RESTConfig returns a client config for the administrator. Its clients connect over the listener with a client certificate
// or, with Options.InProcess, without a socket. Client-side rate limiting is disabled. RESTConfig returns nil before the
// server is ready.
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

// RESTConfigFor returns a client config whose clients call the server without a socket and without credentials, as the user
// u, or as the administrator if u is nil. A bearer token or impersonation in the config takes precedence over u. RESTConfigFor
// returns nil before the server is ready. Requests fail after the server has stopped.
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

// URL returns the URL of the listener. It returns "" before the server is ready, and with Options.InProcess.
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

// Reload loads the configuration files again, also those that have not changed: tokens, certificates, and the files of Authentication.
// The server also observes the files. Reload does not wait for the result, which is logged; it has no effect before the server is ready.
func (s *Server) Reload() {
	if running := s.readyServer(); running != nil {
		running.Reload()
	}
}

// readyServer returns the running server, nil before it is ready.
func (s *Server) readyServer() *app.Server {
	select {
	case <-s.ready:
		return s.running
	default:
		return nil
	}
}
