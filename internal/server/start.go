package server

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/addresses"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/catalog"
	"github.com/cadastre/cadastre/internal/custom"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/namespaces"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/rbac"
	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/internal/store/local"
)

// release is what comes after the version of Kubernetes whose API this is.
const release = "cadastre"

// Config says what a server keeps where, and how it is reached.
type Config struct {
	// Folder is where the server keeps what must last; "" keeps all in memory.
	Folder string
	// Store is where objects are kept; nil is a store of the server's own, in the folder. The server closes it.
	Store Store
	// Address is where it listens, such as 127.0.0.1:6443; port 0 takes a free one.
	Address string
	// TokenFile, ClientCAFile, CertFile and KeyFile are who may come, and what the server shows
	// of itself; "" for its own.
	TokenFile, ClientCAFile, CertFile, KeyFile string
	// Unset has applies understand unset markers. Drop has answers leave out managedFields for those who ask.
	Unset, Drop bool
	// WithoutControllers has nobody collect garbage, empty namespaces that are deleted, or remove old
	// events.
	WithoutControllers bool
	// EventLife is how long events live after they were written; 0 means that they stay.
	EventLife time.Duration
	// keepEvery is for tests: see keeper.
	keepEvery time.Duration
	// PaceGC is for programs that are a server and nothing else.
	PaceGC bool
	Limits Limits
	Log    *slog.Logger
}

// Store is a store that tells why it takes no commits, and whether it would after a restart.
type Store interface {
	store.Store
	Failure() error
	MayRecover() bool
}

// Server is all that runs.
type Server struct {
	config   Config
	store    Store
	cache    *cache.Cache
	rbac     *rbac.Authorizer
	socket   net.Listener
	listener *Listener
	running  sync.WaitGroup
	// admitters are those who have a say in writes.
	admitters *admitters
	// stopControllers ends what the server does by itself.
	stopControllers context.CancelFunc
	// stopCustom ends the serving of new custom kinds.
	stopCustom context.CancelFunc
	Authority  *identity.Authority
}

// Start starts a server. When it returns, it answers.
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

// start starts one thing after the other. What one needs comes before it.
func (s *Server) start(ctx context.Context) error {
	register, err := kinds.NewRegister(append(kinds.Builtin(), custom.Kind())...)
	if err != nil {
		return err
	}
	// 1 the folder, which nobody else may use
	if err := s.openStore(); err != nil {
		return err
	}
	// 2 who the server is, and who may come
	authenticator, err := s.openIdentity()
	if err != nil {
		return err
	}
	// 3 the door, which nobody answers yet
	socket, err := net.Listen("tcp", s.config.Address)
	if err != nil {
		return err
	}
	s.socket = socket
	// 4 the objects
	s.cache, err = cache.Open(ctx, s.store, cache.Options{Fields: selectableFields(register), PaceGC: s.config.PaceGC, Log: s.config.Log})
	if err != nil {
		return err
	}
	counted := metrics.New()
	all := objects.New(objects.Options{Cache: s.cache, Kinds: register, Unset: s.config.Unset, Metrics: counted, Log: s.config.Log})
	all.Extras = extras(all)
	// 5 the kinds that users have defined
	if err := s.startCustom(ctx, all); err != nil {
		return err
	}
	// 6 those that must be there, and who may do what
	if err := bootstrap(ctx, all, socket.Addr()); err != nil {
		return err
	}
	if s.rbac, err = rbac.New(ctx, s.cache, s.config.Log); err != nil {
		return err
	}
	all.Admit = checkEscalation(s.rbac)
	if s.admitters, err = followAdmitters(ctx, all, s.rbac); err != nil {
		return err
	}
	all.Admission = s.admitters
	s.running.Go(func() { s.rbac.Aggregate(context.WithoutCancel(ctx), aggregate(all)) })
	if err := s.startControllers(ctx, all); err != nil {
		return err
	}
	counted.CountObjects(func() iter.Seq[metrics.ObjectCount] { return countObjects(register, s.cache) })
	// 7 come in
	s.listener = Listen(NewHandler(Options{
		Kinds: register, Cache: s.cache, Objects: all,
		Catalog:       catalog.New(register, catalog.Options{Address: socket.Addr().String(), Version: catalog.Version(release), Drop: s.config.Drop, Unset: s.config.Unset}),
		Authenticator: authenticator, Authorizer: s.rbac,
		Admission: s.admitters.follower,
		Reviewer:  &rbac.Reviewer{Authorizer: s.rbac, Token: authenticator.Token},
		Metrics:   counted, Log: s.config.Log, Limits: s.config.Limits, Drop: s.config.Drop, Failure: s.failure,
	}), socket, s.Authority.TLS())
	return nil
}

// openStore opens a store of the server's own in the folder, unless it was given one.
func (s *Server) openStore() error {
	if s.store = s.config.Store; s.store != nil {
		return nil
	}
	own, err := local.Open(local.Options{Folder: s.folder("store"), Log: s.config.Log})
	if err == nil {
		s.store = own
	}
	return err
}

// failure tells why the store takes no commits, and whether it would after a restart.
func (s *Server) failure() (isCured bool, err error) {
	if err = s.store.Failure(); err == nil {
		return false, nil
	}
	return s.store.MayRecover(), err
}

// startCustom has kinds served that are defined by objects, and follows these.
func (s *Server) startCustom(ctx context.Context, all *objects.Objects) error {
	webhooks, err := custom.NewWebhooks()
	if err != nil {
		return err
	}
	c := &custom.Controller{Objects: all, Webhooks: webhooks, Manager: systemManager, Log: s.config.Log}
	if err := c.Load(ctx); err != nil {
		return err
	}
	ctx, s.stopCustom = context.WithCancel(context.WithoutCancel(ctx))
	s.running.Go(func() { c.Run(ctx) })
	return nil
}

// extras are what some kinds get beside what all get.
func extras(all *objects.Objects) map[string]objects.Extra {
	return map[string]objects.Extra{
		custom.Definitions:        custom.Extra(all.Now),
		addresses.Services:        addresses.Extra(all, addresses.Network),
		admission.Claims:          admission.ForClaims(all.Cache),
		admission.Nodes:           admission.ForNodes(),
		admission.Pods:            admission.ForPods(all.Cache),
		admission.PriorityClasses: admission.ForPriorityClasses(all.Cache),
		namespaces.Kind:           namespaces.Extra(),
	}
}

// folder returns a folder in the folder; "" if there is none.
func (s *Server) folder(name string) string {
	if s.config.Folder == "" {
		return ""
	}
	return filepath.Join(s.config.Folder, name)
}

func (s *Server) openIdentity() (*identity.Authenticator, error) {
	host, _, err := net.SplitHostPort(s.config.Address)
	if err != nil {
		return nil, fmt.Errorf("the address to listen at: expected HOST:PORT, received %q: %w", s.config.Address, err)
	}
	s.Authority, err = identity.Open(identity.Options{
		Folder: s.folder("pki"), Hosts: []string{host},
		CertFile: s.config.CertFile, KeyFile: s.config.KeyFile, ClientCAFile: s.config.ClientCAFile,
	})
	if err != nil {
		return nil, err
	}
	a := &identity.Authenticator{Certificates: s.Authority.Certificates()}
	if s.config.TokenFile != "" {
		a.Tokens, err = identity.ReadTokens(s.config.TokenFile)
	}
	return a, err
}

// selectableFields tells the cache what objects can be selected by.
func selectableFields(register *kinds.Register) func(kind string) []cache.Field {
	return func(name string) []cache.Field {
		k := register.Stored(name)
		if k == nil {
			return nil
		}
		fields := make([]cache.Field, len(k.Fields))
		for i, f := range k.Fields {
			fields[i] = cache.Field(f)
		}
		return fields
	}
}

// countObjects returns how many objects of each kind there are.
func countObjects(register *kinds.Register, c *cache.Cache) iter.Seq[metrics.ObjectCount] {
	return func(yield func(metrics.ObjectCount) bool) {
		for _, k := range register.All() {
			if k.OnlyCreate {
				continue
			}
			if !yield(metrics.ObjectCount{Group: k.Group, Resource: k.Resource, Objects: c.Count(k.StoreName())}) {
				return
			}
		}
	}
}

// URL is where the server is reached. One that listens at all addresses is reached at this machine's
// own, for which there is a certificate.
func (s *Server) URL() string {
	address := s.listener.Address()
	if host, port, err := net.SplitHostPort(address); err == nil && net.ParseIP(host).IsUnspecified() {
		address = net.JoinHostPort("127.0.0.1", port)
		if configured, _, err := net.SplitHostPort(s.config.Address); err == nil && configured == "::" {
			address = net.JoinHostPort("::1", port)
		}
	}
	return "https://" + address
}

// Failed tells if the server can't go on.
func (s *Server) Failed() <-chan error { return s.listener.Failed() }

// Stop has watches end, waits for what is under way as long as the context lasts, and stops.
func (s *Server) Stop(ctx context.Context) error {
	var errs []error
	if s.listener != nil {
		errs = append(errs, s.listener.Stop(ctx))
	} else if s.socket != nil {
		errs = append(errs, s.socket.Close())
	}
	if s.stopControllers != nil {
		s.stopControllers()
	}
	if s.stopCustom != nil {
		s.stopCustom()
	}
	if s.rbac != nil {
		s.rbac.Close()
	}
	if s.admitters != nil {
		s.admitters.close()
	}
	s.running.Wait()
	if s.cache != nil {
		s.cache.Close()
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	return errors.Join(errs...)
}
