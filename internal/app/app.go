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
	"github.com/cadastre/cadastre/internal/auth/authnconfig"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	"github.com/cadastre/cadastre/internal/auth/authzconfig"
	"github.com/cadastre/cadastre/internal/controllers/certificates"
	crdcontroller "github.com/cadastre/cadastre/internal/controllers/crd"
	"github.com/cadastre/cadastre/internal/controllers/managedfields"
	"github.com/cadastre/cadastre/internal/discovery"
	"github.com/cadastre/cadastre/internal/lib/reload"
	"github.com/cadastre/cadastre/internal/lib/tracing"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/registry/priorityclass"
	"github.com/cadastre/cadastre/internal/registry/service"
	"github.com/cadastre/cadastre/internal/server"
	"github.com/cadastre/cadastre/internal/server/audit"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/storage/backup"
	"github.com/cadastre/cadastre/internal/storage/encryption"
	"github.com/cadastre/cadastre/internal/storage/pebble"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/informer"
)

// release is the suffix of the version at /version, after the version of Kubernetes.
const release = "cadastre"

// Config configures a Server. The zero value is invalid: Address, Listener or InProcess is required.
type Config struct {
	// Folder is the data directory; "" stores everything in memory.
	Folder string
	// Store stores the objects; nil means etcd or the embedded store. The server closes it when it stops.
	Store Store
	// Etcd configures the store in etcd; if it has no endpoints, objects are in the embedded store in the data directory.
	Etcd Etcd
	// QuotaBytes and MinFreeBytes limit the embedded store; see pebble.Options.
	QuotaBytes, MinFreeBytes int64
	// EncryptionConfigFile is the file with the EncryptionConfiguration of the store; "" means that nothing is encrypted.
	// ReloadEncryptionConfig reloads it when it changes.
	EncryptionConfigFile   string
	ReloadEncryptionConfig bool
	// Backups configures scheduled backups; if its Folder is "", there are no scheduled backups. Start sets Log and Report.
	Backups backup.Schedule
	// Audit configures the audit log; the zero value disables it.
	Audit audit.Options
	// Address is the address to listen on, such as 127.0.0.1:6443; port 0 selects a free port.
	Address string
	// Listener is used instead of listening on Address, if it is not nil. The server closes it when it stops.
	Listener net.Listener
	// InProcess disables the listener: the server can be reached only through Server.Transport, in the same process.
	InProcess bool
	// TokenFile contains static tokens, ClientCAFile the CA of client certificates, CertFile and KeyFile the serving
	// certificate. If TokenFile is "", there are no static tokens. If the others are "", the server uses certificates of its own
	// certificate authority.
	TokenFile, ClientCAFile, CertFile, KeyFile string
	// Authentication configures JSON web tokens, the webhook for tokens, and anonymous requests.
	Authentication authnconfig.Options
	// Signing configures the signing of CertificateSigningRequests.
	Signing Signing
	// Authorization configures the authorizers that are called after Authorizers.
	Authorization authzconfig.Options
	// Unset enables unset markers (KEP-5051); Drop enables responses without managedFields (KEP-5958).
	Unset, Drop bool
	// WithoutControllers disables garbage collection, namespace deletion and the expiry of events.
	WithoutControllers bool
	// EventTTL is the time to live of events; 0 means that events do not expire.
	EventTTL time.Duration
	// PaceGC tunes Go's garbage collector for a process that runs only this server.
	PaceGC bool
	// GracefulStop makes Stop wait until all connections are idle; see server.Options.
	GracefulStop bool
	// TracingConfigFile is the file with the TracingConfiguration; "" means that requests are not traced.
	TracingConfigFile string
	// Profiling enables the profiles of the process at /debug/pprof.
	Profiling bool
	Limits    server.Limits
	// MaxReadsInFlight and MaxWritesInFlight are the maximum numbers of concurrent requests; 0 means the default. Their sum is the
	// number of seats of priority and fairness. WithoutFairness replaces priority and fairness by the two limits.
	MaxReadsInFlight, MaxWritesInFlight int
	WithoutFairness                     bool
	Log                                 *slog.Logger
	// Admission are additional admission plugins, which run after the built-in plugins and before policies and webhooks.
	Admission []admission.Plugin
	// Authenticators and TokenAuthenticators are called after client certificates and static tokens were checked.
	Authenticators      []authenticator.Request
	TokenAuthenticators []authenticator.Token
	// Authorizers are called before those of Authorization.
	Authorizers []authorizer.Authorizer
	// Handlers serve additional paths. The keys are path prefixes without a trailing slash.
	Handlers map[string]http.Handler

	// reconcileInterval is the interval at which deleted system objects are created again; 0 means the default. Only tests set
	// it.
	reconcileInterval time.Duration
	// reloadInterval is the interval at which the encryption configuration is read; 0 means the default. Only tests set it.
	reloadInterval time.Duration
}

// Server is a running API server. Start creates it.
type Server struct {
	config Config
	store  Store
	// stored is the store with values as they are on the disk, which backups copy. It is store unless values can be encrypted.
	stored     storage.Store
	encryption *encryption.Encryption
	// space is the use of the disk by the embedded store; nil if Config.Store is set.
	space func() pebble.Space
	cache *watchcache.Cache
	rbac  *rbac.Authorizer
	// files are the configuration files that are loaded again when they change; stopFiles cancels lifecycle, which ends that
	// and the background work of authenticators and authorizers.
	files     *reload.Reloader
	lifecycle context.Context
	stopFiles context.CancelFunc
	// audit is nil if there is no audit log.
	audit *audit.Auditor
	// tracing is nil if requests are not traced.
	tracing *tracing.Provider
	// configured authorizes requests as Config.Authorization describes; authorizer first calls Config.Authorizers.
	configured, authorizer authorizer.Authorizer
	// socket and listener are nil if the server is reachable only in process.
	socket    net.Listener
	handler   *server.Handler
	listener  *server.Listener
	inProcess *server.InProcess
	admission *dynamicAdmission
	fairness  *fairness
	// running tracks the goroutines of controllers. stopControllers and stopDefinitions stop them.
	running         goroutines
	stopControllers context.CancelFunc
	stopDefinitions context.CancelFunc
	stopBackups     context.CancelFunc
	stopReloads     context.CancelFunc
	// signingCA returns the authority that signs CertificateSigningRequests; nil if there is none.
	signingCA func() *certificates.CA
	// Authority is the server's certificate authority; nil if the server has no listener.
	Authority *authn.Authority
}

// Start starts a server. When it returns without an error, the server answers requests. Canceling ctx afterwards does not
// stop the server; call Stop.
func Start(ctx context.Context, config Config) (*Server, error) {
	if config.Log == nil {
		config.Log = slog.Default()
	}
	s := &Server{config: config, files: reload.New(config.Log)}
	s.lifecycle, s.stopFiles = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop(ctx))
	}
	return s, nil
}

// start constructs the components of the server, each after its dependencies.
func (s *Server) start(ctx context.Context) error {
	resources, err := api.NewRegister(append(api.Builtin(), crd.Kind())...)
	if err != nil {
		return err
	}
	if err := s.protectFolders(); err != nil {
		return err
	}
	if err := s.openConfigurations(); err != nil { // before anything is changed
		return err
	}
	if err := s.openStore(ctx); err != nil {
		return err
	}
	// The address is reserved first; connections wait until the listener serves them.
	if err := s.listen(); err != nil {
		return err
	}
	counted := s.newMetrics()
	identity, err := s.openIdentity(ctx, counted)
	if err != nil {
		return err
	}
	s.cache, err = watchcache.Open(ctx, s.store, watchcache.Options{Fields: selectableFields(resources), PaceGC: s.config.PaceGC, Log: s.config.Log})
	if err != nil {
		return err
	}
	if err := s.openAuthorizer(ctx, counted); err != nil {
		return err
	}
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
	// Webhooks, policies and extensions are called only after this point, so that a faulty webhook, policy or extension cannot
	// prevent the start.
	if err := s.admission.start(ctx, informer.Options{Cache: s.cache, Log: s.config.Log}); err != nil {
		return err
	}
	s.running.Go("aggregation of ClusterRoles", func() { s.rbac.Aggregate(context.WithoutCancel(ctx), aggregate(objects)) })
	if s.fairness, err = s.newFairness(ctx, objects, counted); err != nil {
		return err
	}
	if err := s.startControllers(ctx, objects); err != nil {
		return err
	}
	s.startBackups(ctx, counted)
	s.startReloads(ctx, counted)
	if s.space != nil {
		counted.MeasureStore(s.measureSpace)
	}
	counted.CountObjects(func() iter.Seq[metrics.ObjectCount] { return countObjects(resources, s.cache) })
	s.handler = server.NewHandler(server.Options{
		Kinds: resources, Store: s.backedUp(), Cache: s.cache, Objects: objects,
		Catalog:       discovery.New(resources, discovery.Options{Address: s.address(), Version: discovery.Version(release), Drop: s.config.Drop, Unset: s.config.Unset, Subresources: registry.Subresources()}),
		Authenticator: identity, Authorizer: s.authorizer, RBAC: s.rbac,
		Admission: s.admission.informer, Audit: s.audit, Tracing: s.tracing,
		Reviewer: &rbac.Reviewer{Authorizer: s.authorizer, Rules: s.authorizers(), Tokens: identity, Audiences: identity.Audiences()},
		Flow:     s.fairness.controller,
		Metrics:  counted, Log: s.config.Log, Limits: s.config.Limits, Drop: s.config.Drop, Profiling: s.config.Profiling, GracefulStop: s.config.GracefulStop, Failure: s.failure,
		Handlers: s.config.Handlers,
	})
	s.inProcess = server.NewInProcess(s.handler)
	if s.socket != nil {
		s.listener = server.Listen(s.handler, s.socket, s.Authority.TLS())
	}
	s.running.Go("configuration files", func() { s.files.Run(s.lifecycle) })
	return nil
}

// openConfigurations reads the files that configure the audit log, encryption and traces.
func (s *Server) openConfigurations() (err error) {
	if s.audit, err = audit.Open(s.config.Audit); err != nil {
		return err
	}
	if s.encryption, err = encryption.Open(s.config.EncryptionConfigFile); err != nil {
		return err
	}
	s.tracing, err = tracing.Open(s.config.TracingConfigFile, s.config.Log)
	return err
}

// newMetrics returns the metrics of the server, with its feature gates.
func (s *Server) newMetrics() *metrics.Metrics {
	counted := metrics.New()
	counted.Feature("ServerSideApplyUnsettingFields", "BETA", s.config.Unset)
	counted.Feature("ManagedFieldsOptOut", "BETA", s.config.Drop)
	return counted
}

// newAdmission creates the admission chain. It does not load webhook configurations and policies.
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

// strategies returns the registry strategies by resource, for the resources that need one.
func strategies() map[string]registry.Strategy {
	return map[string]registry.Strategy{
		crd.Definitions:        crdcontroller.Strategy(time.Now),
		priorityclass.Resource: priorityclass.Strategy(),
		service.Resource:       service.Strategy(service.DefaultCIDR),
	}
}

// startDefinitions loads all CustomResourceDefinitions, so that their resources are served, and starts the controllers that
// follow later changes.
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

// dir returns the path of the named subdirectory of the data directory; "" if everything is stored in memory.
func (s *Server) dir(name string) string {
	if s.config.Folder == "" {
		return ""
	}
	return filepath.Join(s.config.Folder, name)
}

// listen sets s.socket to Config.Listener or, if that is nil, to a new listener on Config.Address. If Config.InProcess is set,
// it leaves s.socket nil.
func (s *Server) listen() (err error) {
	if s.config.InProcess {
		return nil
	}
	if s.socket = s.config.Listener; s.socket != nil {
		return nil
	}
	if _, _, err := net.SplitHostPort(s.config.Address); err != nil {
		return fmt.Errorf("listen address: expected HOST:PORT, received %q: %w", s.config.Address, err)
	}
	socket, err := net.Listen("tcp", s.config.Address)
	if err == nil {
		s.socket = socket
	}
	return err
}

// address returns the address that the server listens on; "" if it does not listen.
func (s *Server) address() string {
	if s.socket == nil {
		return ""
	}
	return s.socket.Addr().String()
}

// selectableFields returns a function that returns the fields of a resource that field selectors support, for the watch
// cache.
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

// countObjects iterates over the number of stored objects of each resource.
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

// URL returns the URL of the server; "" if it does not listen. If the server listens on all addresses, the URL contains the
// loopback address, for which the serving certificate is valid.
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

// Transport returns an HTTP transport that calls the server in the same process, without a socket, authenticated as the user
// u.
func (s *Server) Transport(u user.Info) http.RoundTripper { return s.inProcess.Transport(u) }

// Failed returns a channel that receives the error of the listener if it stops unexpectedly; nil if the server does not
// listen.
func (s *Server) Failed() <-chan error {
	if s.listener == nil {
		return nil
	}
	return s.listener.Failed()
}
