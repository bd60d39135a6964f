package apiserver

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/apiserver/admission"
	"github.com/cadastre/cadastre/internal/app"
	"github.com/cadastre/cadastre/internal/server"
)

// Options configures a [Server]. The zero value is a server in memory that listens on a free loopback port and has
// Kubernetes' controllers for garbage collection, namespaces and events.
type Options struct {
	// Directory is the data directory, which one server uses at a time; "" keeps everything in memory.
	Directory string

	// Address is the TCP address to listen on; "" means 127.0.0.1:0, a free loopback port.
	Address string
	// Listener replaces the listener for Address. The server serves TLS on it, and closes it.
	Listener net.Listener
	// InProcess makes the server listen on no socket: only [Server.RESTConfig] and [Server.RESTConfigFor] reach it. Address
	// and Listener must be unset.
	InProcess bool
	// TLS configures certificates of the listener.
	TLS TLS
	// TokenFile is a CSV file of static bearer tokens: token,user,uid,"group1,group2".
	TokenFile string

	// Admission are plugins that run after the built-in ones and before policies and webhooks.
	Admission []admission.Plugin
	// TokenAuthenticators authenticate bearer tokens that are not in TokenFile, also for TokenReviews. Authenticators
	// authenticate requests without an accepted client certificate or token. They are called in order; the first that
	// accepts decides. A request that none accepts is answered with 401.
	TokenAuthenticators []authenticator.Token
	Authenticators      []authenticator.Request
	// Authorizers are called in order before RBAC; the first that allows or denies decides. Members of the group
	// system:masters are always allowed.
	Authorizers []authorizer.Authorizer
	// Handlers serve further paths, by path prefix: "/info" serves /info and all paths below /info/. They run after
	// authentication and authorization (non-resource URL, verb = HTTP method in lower case), count towards Limits, and
	// find the user with k8s.io/apiserver/pkg/endpoints/request.UserFrom. The server waits for them when it stops.
	Handlers map[string]http.Handler

	// FeatureGates enables or disables features by name; both [UnsettingFields] and [ManagedFieldsOptOut] are enabled by
	// default.
	FeatureGates map[string]bool
	// Limits bound the resources that clients can use.
	Limits Limits
	// DisableControllers disables garbage collection, namespace deletion and the expiry of events, for programs that run
	// kube-controller-manager or controllers of their own.
	DisableControllers bool
	// EventTTL is the time to live of events; 0 means an hour, as in Kubernetes, a negative value keeps them.
	EventTTL time.Duration
	// ShutdownTimeout is the time that active requests have to finish when the server stops; 0 means 20 seconds.
	ShutdownTimeout time.Duration
	// Log receives the server's log; nil means slog.Default().
	Log *slog.Logger
	// TuneGC lets the server set the garbage collector's target of the whole process. It is for programs that are nothing
	// but a server.
	TuneGC bool
}

// TLS configures the certificates of a server with a listener. The zero value uses the server's own certificate authority,
// which is in the data directory, or in memory.
type TLS struct {
	// CertFile and KeyFile are the serving certificate and its key, as PEM.
	CertFile, KeyFile string
	// ClientCAFile has certificates, as PEM, that client certificates may be signed by beside the server's authority.
	ClientCAFile string
}

// Limits bound the resources that clients can use. A zero field means its default.
type Limits struct {
	// MaxReadsInFlight and MaxWritesInFlight are the maximum numbers of concurrent requests that read (400) and write
	// (200), watches and requests of system:masters excepted. Requests beyond them are answered with 429.
	MaxReadsInFlight, MaxWritesInFlight int
	// RequestTimeout is the maximum duration of a request, watches excepted, and of sending or receiving its body (1m).
	RequestTimeout time.Duration
	// MaxBodyBytes is the maximum size of a request body (3 MiB).
	MaxBodyBytes int64
}

// The feature gates.
const (
	// UnsettingFields lets an applied configuration unset fields with {k8s_io__value: unset} (KEP-5051).
	UnsettingFields = "ServerSideApplyUnsettingFields"
	// ManagedFieldsOptOut lets clients omit managedFields with drop=metadata.managedFields in Accept (KEP-5958).
	ManagedFieldsOptOut = "ManagedFieldsOptOut"
)

const (
	defaultAddress         = "127.0.0.1:0"
	defaultShutdownTimeout = 20 * time.Second
)

// config checks the options and returns the configuration of the server.
func (o Options) config() (app.Config, error) {
	for _, check := range []func() error{o.checkListener, o.checkDurations, o.checkGates, o.checkExtensions} {
		if err := check(); err != nil {
			return app.Config{}, err
		}
	}
	handlers, err := o.handlers()
	if err != nil {
		return app.Config{}, err
	}
	c := app.Config{
		Folder: o.Directory, Address: o.Address, Listener: o.Listener, InProcess: o.InProcess,
		TokenFile: o.TokenFile, ClientCAFile: o.TLS.ClientCAFile, CertFile: o.TLS.CertFile, KeyFile: o.TLS.KeyFile,
		Unset: o.isEnabled(UnsettingFields), Drop: o.isEnabled(ManagedFieldsOptOut),
		WithoutControllers: o.DisableControllers, EventLife: max(0, o.EventTTL), PaceGC: o.TuneGC,
		Limits: server.Limits{
			MaxReadOnlyInFlight: o.Limits.MaxReadsInFlight, MaxMutatingInFlight: o.Limits.MaxWritesInFlight,
			RequestTimeout: o.Limits.RequestTimeout, MaxBodyBytes: o.Limits.MaxBodyBytes,
		},
		Log:       o.Log,
		Admission: slices.Clone(o.Admission), Authenticators: slices.Clone(o.Authenticators),
		TokenAuthenticators: slices.Clone(o.TokenAuthenticators), Authorizers: slices.Clone(o.Authorizers), Handlers: handlers,
	}
	if c.Address == "" {
		c.Address = defaultAddress
	}
	if o.EventTTL == 0 {
		c.EventLife = app.DefaultEventLife
	}
	return c, nil
}

func (o Options) checkListener() error {
	isTLS := o.TLS != TLS{}
	switch {
	case o.InProcess && o.Address != "":
		return fmt.Errorf("apiserver: Options.Address: expected none with InProcess, received %q; unset one of them", o.Address)
	case o.InProcess && o.Listener != nil:
		return errors.New("apiserver: Options.Listener: expected none with InProcess, received one; unset one of them")
	case o.InProcess && isTLS:
		return errors.New("apiserver: Options.TLS: expected none with InProcess, which has no listener, received some; unset one of them")
	case o.Listener != nil && o.Address != "":
		return fmt.Errorf("apiserver: Options.Address: expected none with Listener, received %q; unset one of them", o.Address)
	case (o.TLS.CertFile == "") != (o.TLS.KeyFile == ""):
		return fmt.Errorf("apiserver: Options.TLS: expected CertFile and KeyFile, received CertFile %q and KeyFile %q; set both or none", o.TLS.CertFile, o.TLS.KeyFile)
	case o.Address == "":
		return nil
	}
	_, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return fmt.Errorf("apiserver: Options.Address: expected HOST:PORT, received %q; use 127.0.0.1:0 for a free port: %w", o.Address, err)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("apiserver: Options.Address: expected a port from 0 to 65535, received %q; use 0 for a free port", port)
	}
	return nil
}

func (o Options) checkDurations() error {
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"ShutdownTimeout", int64(o.ShutdownTimeout)}, {"Limits.RequestTimeout", int64(o.Limits.RequestTimeout)},
		{"Limits.MaxReadsInFlight", int64(o.Limits.MaxReadsInFlight)}, {"Limits.MaxWritesInFlight", int64(o.Limits.MaxWritesInFlight)},
		{"Limits.MaxBodyBytes", o.Limits.MaxBodyBytes},
	} {
		if limit.value < 0 {
			return fmt.Errorf("apiserver: Options.%s: expected a positive value, or 0 for the default, received %d; correct it", limit.name, limit.value)
		}
	}
	return nil
}

func (o Options) checkGates() error {
	for _, name := range slices.Sorted(maps.Keys(o.FeatureGates)) {
		if name != UnsettingFields && name != ManagedFieldsOptOut {
			return fmt.Errorf("apiserver: Options.FeatureGates: expected %s or %s, received %q; remove it", UnsettingFields, ManagedFieldsOptOut, name)
		}
	}
	return nil
}

// isEnabled reports whether a feature is enabled, which is the default.
func (o Options) isEnabled(name string) bool {
	on, ok := o.FeatureGates[name]
	return on || !ok
}

// checkExtensions rejects nil extensions and admission plugins whose name is empty or that of another plugin, built-in or not.
func (o Options) checkExtensions() error {
	names := map[string]bool{}
	for _, name := range app.PluginNames() {
		names[name] = true
	}
	for i, plugin := range o.Admission {
		switch {
		case plugin == nil:
			return nilError("Admission", i)
		case plugin.Name() == "" || names[plugin.Name()]:
			return fmt.Errorf("apiserver: Options.Admission[%d]: expected a plugin with a unique name, received %q; change what Name returns", i, plugin.Name())
		}
		names[plugin.Name()] = true
	}
	for name, i := range map[string]int{
		"Authenticators":      slices.Index(o.Authenticators, nil),
		"TokenAuthenticators": slices.Index(o.TokenAuthenticators, nil),
		"Authorizers":         slices.IndexFunc(o.Authorizers, func(a authorizer.Authorizer) bool { return a == nil }),
	} {
		if i >= 0 {
			return nilError(name, i)
		}
	}
	return nil
}

func nilError(name string, i int) error {
	return fmt.Errorf("apiserver: Options.%s[%d]: expected a value, received nil; remove it", name, i)
}

// handlers returns the handlers by path prefix without a trailing slash.
func (o Options) handlers() (map[string]http.Handler, error) {
	handlers := make(map[string]http.Handler, len(o.Handlers))
	for path, h := range o.Handlers {
		prefix := strings.TrimSuffix(path, "/")
		first, _, _ := strings.Cut(strings.TrimPrefix(prefix, "/"), "/")
		switch {
		case !strings.HasPrefix(path, "/") || prefix == "" || strings.Contains(prefix, "//"):
			return nil, fmt.Errorf("apiserver: Options.Handlers: expected a path prefix such as /info, received %q; correct it", path)
		case slices.Contains(server.ReservedPaths, first):
			return nil, fmt.Errorf("apiserver: Options.Handlers: expected a path that the server does not serve itself, received %q; choose a prefix other than /%s", path, strings.Join(server.ReservedPaths, ", /"))
		case h == nil:
			return nil, fmt.Errorf("apiserver: Options.Handlers[%q]: expected a handler, received nil; remove it", path)
		case handlers[prefix] != nil:
			return nil, fmt.Errorf("apiserver: Options.Handlers: expected one handler for %s, received two, with and without a trailing slash; remove one", prefix)
		}
		handlers[prefix] = h
	}
	return handlers, nil
}
