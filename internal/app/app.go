package app

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/admission/policy"
	"github.com/cadastre/cadastre/internal/admission/webhook"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	crdcontroller "github.com/cadastre/cadastre/internal/controllers/crd"
	"github.com/cadastre/cadastre/internal/controllers/managedfields"
	"github.com/cadastre/cadastre/internal/discovery"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/registry/priorityclass"
	"github.com/cadastre/cadastre/internal/registry/service"
	"github.com/cadastre/cadastre/internal/server"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/informer"
)

// release is the suffix of the version that /version reports, after that of Kubernetes.
const release = "cadastre"

// Config configures a server.
type Config struct {
	// Folder is the data directory; "" keeps everything in memory.
	Folder string
	// Store stores the objects; nil means the embedded store, in the data directory. The server closes it.
	Store Store
	// Address is the address to listen on, such as 127.0.0.1:6443; port 0 selects a free one.
	Address string
	// Listener replaces the listener for Address. The server closes it.
	Listener net.Listener
	// InProcess makes the server listen on no socket: only transports of the same process reach it.
	InProcess bool
	// TokenFile, ClientCAFile, CertFile and KeyFile configure authentication and the serving certificate; "" means the
	// server's own certificate authority.
	TokenFile, ClientCAFile, CertFile, KeyFile string
	// Unset enables unset markers (KEP-5051), Drop responses without managedFields (KEP-5958).
	Unset, Drop bool
	// WithoutControllers disables garbage collection, namespace deletion and the expiry of events.
	WithoutControllers bool
	// EventLife is the time to live of events; 0 keeps them.
	EventLife time.Duration
	// PaceGC tunes the garbage collector for a process that is nothing but a server.
	PaceGC bool
	Limits server.Limits
	Log    *slog.Logger
	// Admission are plugins that run after the built-in ones and before policies and webhooks.
	Admission []admission.Plugin
	// Authenticators and TokenAuthenticators follow client certificates and static tokens.
	Authenticators      []authenticator.Request
	TokenAuthenticators []authenticator.Token
	// Authorizers precede RBAC.
	Authorizers []authorizer.Authorizer
	// Handlers serve further paths, by path prefix without a trailing slash.
	Handlers map[string]http.Handler

	// reconcileEvery is the interval at which system objects are restored; 0 means the default. Tests set it.
	reconcileEvery time.Duration
}

// Store is a store that reports why it rejects commits.
type Store interface {
	storage.Store
	// Failure returns the error that makes the store reject commits; nil if it accepts them.
	Failure() error
	// MayRecover reports whether a restart would clear the failure.
	MayRecover() bool
}

// Server is a running server.
type Server struct {
	config Config
	store  Store
	cache  *watchcache.Cache
	rbac   *rbac.Authorizer
	// authorizer is RBAC and the configured authorizers.
	authorizer authorizer.Authorizer
	// socket and listener are nil if the server is reached in process only.
	socket    net.Listener
	handler   *server.Handler
	listener  *server.Listener
	inProcess *server.InProcess
	admission *dynamicAdmission
	// running are the goroutines of controllers; the cancel functions stop them.
	running         goroutines
	stopControllers context.CancelFunc
	stopDefinitions context.CancelFunc
	// Authority is the server's certificate authority; nil if the server has no listener.
	Authority *authn.Authority
}

// Start starts a server. When it returns, the server answers requests.
func Start(ctx context.Context, config Config) (*Server, error) {
	if config.Log == nil {
		config.Log = slog.Default()
	}
	s := &Server{config: config}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop(ctx))
	}
	return s, nil
}

// start constructs the parts of the server, each after those that it depends on.
func (s *Server) start(ctx context.Context) error {
	resources, err := api.NewRegister(append(api.Builtin(), crd.Kind())...)
	if err != nil {
		return err
	}
	if err := s.openStore(); err != nil {
		return err
	}
	// Listening reserves the address; requests wait until the listener serves them.
	if err := s.listen(); err != nil {
		return err
	}
	identity, err := s.openIdentity()
	if err != nil {
		return err
	}
	s.cache, err = watchcache.Open(ctx, s.store, watchcache.Options{Fields: selectableFields(resources), PaceGC: s.config.PaceGC, Log: s.config.Log})
	if err != nil {
		return err
	}
	if s.rbac, err = rbac.New(ctx, s.cache, s.config.Log); err != nil {
		return err
	}
	s.authorizer = s.rbac.Union(s.config.Authorizers...)
	counted := metrics.New()
	if err := s.newAdmission(resources, counted); err != nil {
		return err
	}
	objects := registry.New(registry.Options{
		Cache: s.cache, Kinds: resources, Admission: s.admission.chain, Strategies: strategies(),
		Unset: s.config.Unset, Metrics: counted, Log: s.config.Log,
	})
	if err := s.startDefinitions(ctx, objects); err != nil {
		return err
	}
	if err := s.bootstrap(ctx, objects); err != nil {
		return err
	}
	// Webhooks and policies apply from here on: one that fails must not keep the server from starting.
	if err := s.admission.start(ctx, informer.Options{Cache: s.cache, Log: s.config.Log}); err != nil {
		return err
	}
	s.running.Go("aggregation of ClusterRoles", func() { s.rbac.Aggregate(context.WithoutCancel(ctx), aggregate(objects)) })
	if err := s.startControllers(ctx, objects); err != nil {
		return err
	}
	counted.CountObjects(func() iter.Seq[metrics.ObjectCount] { return countObjects(resources, s.cache) })
	s.handler = server.NewHandler(server.Options{
		Kinds: resources, Cache: s.cache, Objects: objects,
		Catalog:       discovery.New(resources, discovery.Options{Address: s.address(), Version: discovery.Version(release), Drop: s.config.Drop, Unset: s.config.Unset, Subresources: registry.Subresources()}),
		Authenticator: identity, Authorizer: s.authorizer, RBAC: s.rbac,
		Admission: s.admission.informer,
		Reviewer:  &rbac.Reviewer{Authorizer: s.authorizer, RBAC: s.rbac, Others: s.config.Authorizers, Tokens: identity},
		Metrics:   counted, Log: s.config.Log, Limits: s.config.Limits, Drop: s.config.Drop, Failure: s.failure,
		Handlers: s.config.Handlers,
	})
	s.inProcess = server.NewInProcess(s.handler)
	if s.socket != nil {
		s.listener = server.Listen(s.handler, s.socket, s.Authority.TLS())
	}
	return nil
}

// newAdmission builds the admission chain.
func (s *Server) newAdmission(resources *api.Register, counted *metrics.Metrics) error {
	webhooks, err := webhook.New(webhook.Options{Authorizer: s.authorizer, Metrics: counted, Log: s.config.Log})
	if err != nil {
		return err
	}
	policies := policy.New(policy.Options{Cache: s.cache, Kinds: resources, Authorizer: s.authorizer, Metrics: counted, Log: s.config.Log})
	s.admission = &dynamicAdmission{webhooks: webhooks, policies: policies}
	extensions := make([]admission.Plugin, len(s.config.Admission))
	for i, plugin := range s.config.Admission {
		extensions[i] = extension{admission.Extension{Plugin: plugin}, &s.admission.isStarted}
	}
	s.admission.chain = admission.NewChain(plugins(s.rbac, s.authorizer, extensions, policies, webhooks)...)
	return nil
}

// strategies are the registry strategies of resources that have one.
func strategies() map[string]registry.Strategy {
	return map[string]registry.Strategy{
		crd.Definitions:        crdcontroller.Strategy(time.Now),
		priorityclass.Resource: priorityclass.Strategy(),
		service.Resource:       service.Strategy(service.DefaultCIDR),
	}
}

// openStore opens the embedded store, unless the configuration has a store.
func (s *Server) openStore() error {
	if s.store = s.config.Store; s.store != nil {
		return nil
	}
	own, err := pebble.Open(pebble.Options{Folder: s.folder("store"), Log: s.config.Log})
	if err == nil {
		s.store = own
	}
	return err
}

// failure returns the error that makes the store reject commits, and whether a restart would clear it.
func (s *Server) failure() (mayRecover bool, err error) {
	if err = s.store.Failure(); err == nil {
		return false, nil
	}
	return s.store.MayRecover(), err
}

// startDefinitions serves the resources of CustomResourceDefinitions, and keeps up with changes of these.
func (s *Server) startDefinitions(ctx context.Context, objects *registry.Registry) error {
	webhooks, err := crd.NewWebhooks()
	if err != nil {
		return err
	}
	migrator := managedfields.New(managedfields.Options{Objects: objects, Log: s.config.Log})
	c := crdcontroller.New(crdcontroller.Options{Objects: objects, Webhooks: webhooks, Migrator: migrator, Manager: systemManager, Log: s.config.Log})
	if err := c.Load(ctx); err != nil {
		return err
	}
	ctx, s.stopDefinitions = context.WithCancel(context.WithoutCancel(ctx))
	s.running.Go("migration of managedFields", func() { migrator.Run(ctx) })
	s.running.Go("CustomResourceDefinition controller", func() { c.Run(ctx) })
	return nil
}

// folder returns a folder in the data directory; "" if everything is in memory.
func (s *Server) folder(name string) string {
	if s.config.Folder == "" {
		return ""
	}
	return filepath.Join(s.config.Folder, name)
}

// listen opens the listener, unless the configuration has one or none is needed.
func (s *Server) listen() (err error) {
	if s.config.InProcess {
		return nil
	}
	if s.socket = s.config.Listener; s.socket != nil {
		return nil
	}
	if _, _, err := net.SplitHostPort(s.config.Address); err != nil {
		return fmt.Errorf("the address to listen on: expected HOST:PORT, received %q: %w", s.config.Address, err)
	}
	socket, err := net.Listen("tcp", s.config.Address)
	if err == nil {
		s.socket = socket
	}
	return err
}

// address returns the address that the server listens on; "" if it has no listener.
func (s *Server) address() string {
	if s.socket == nil {
		return ""
	}
	return s.socket.Addr().String()
}

// openIdentity opens the certificate authority, if the server has a listener, and returns the authenticators.
func (s *Server) openIdentity() (*authn.Authenticator, error) {
	o := authn.AuthenticatorOptions{
		TokenAuthenticators:   s.config.TokenAuthenticators,
		RequestAuthenticators: append([]authenticator.Request{server.InProcessAuthenticator}, s.config.Authenticators...),
	}
	if s.socket != nil {
		if err := s.openAuthority(); err != nil {
			return nil, err
		}
		o.Certificates = s.Authority.Certificates()
	}
	var err error
	if s.config.TokenFile != "" {
		if o.Tokens, err = authn.ReadTokens(s.config.TokenFile); err != nil {
			return nil, err
		}
	}
	return authn.NewAuthenticator(o), nil
}

// openAuthority opens the certificate authority. The serving certificate is for the configured host, which may be a name, or
// else for the address of the listener.
func (s *Server) openAuthority() (err error) {
	address := s.config.Address
	if s.config.Listener != nil {
		address = s.address()
	}
	var hosts []string
	if host, _, err := net.SplitHostPort(address); err == nil { // a listener of another network has no host
		hosts = []string{host}
	}
	s.Authority, err = authn.Open(authn.Options{
		Folder: s.folder("pki"), Hosts: hosts,
		CertFile: s.config.CertFile, KeyFile: s.config.KeyFile, ClientCAFile: s.config.ClientCAFile,
	})
	return err
}

// selectableFields returns the fields of field selectors for the watch cache.
func selectableFields(register *api.Register) func(kind string) []watchcache.Field {
	return func(name string) []watchcache.Field {
		k := register.ByStoreName(name)
		if k == nil {
			return nil
		}
		fields := make([]watchcache.Field, len(k.Fields))
		for i, f := range k.Fields {
			fields[i] = watchcache.Field(f)
		}
		return fields
	}
}

// countObjects returns the number of objects of each resource.
func countObjects(register *api.Register, c *watchcache.Cache) iter.Seq[metrics.ObjectCount] {
	return func(yield func(metrics.ObjectCount) bool) {
		for _, k := range register.All() {
			if k.CreateOnly {
				continue
			}
			if !yield(metrics.ObjectCount{Group: k.Group, Resource: k.Resource, Objects: c.Count(k.StoreName())}) {
				return
			}
		}
	}
}

// URL returns the URL of the server; "" if it has no listener. If it listens on all addresses, the URL has the loopback
// address, which the serving certificate includes.
func (s *Server) URL() string {
	if s.listener == nil {
		return ""
	}
	address := s.listener.Address()
	if host, port, err := net.SplitHostPort(address); err == nil && net.ParseIP(host).IsUnspecified() {
		address = net.JoinHostPort("127.0.0.1", port)
		if configured, _, err := net.SplitHostPort(s.config.Address); err == nil && configured == "::" {
			address = net.JoinHostPort("::1", port)
		}
	}
	return "https://" + address
}

// Transport returns a transport that serves the requests of this process as a user, without a socket.
func (s *Server) Transport(u user.Info) http.RoundTripper { return s.inProcess.Transport(u) }

// Failed returns a channel that receives the error of a listener that stopped.
func (s *Server) Failed() <-chan error {
	if s.listener == nil {
		return nil
	}
	return s.listener.Failed()
}
