package apiserver

import (
	"cmp"
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
	"github.com/cadastre/cadastre/internal/storage/backup"
)

// Options configures a [Server]. With the zero value, a server stores objects in memory, listens on a free loopback port, and
// runs controllers for garbage collection, namespace deletion and the expiry of Events.
type Options struct {
	// Directory is the data directory, which only one server may use at a time. If it is "", the server stores everything in
	// memory.
	Directory string

	// Storage limits the size of the embedded store, and schedules backups.
	Storage Storage
	// Etcd stores the objects in an etcd cluster. Directory then contains only certificates.
	Etcd Etcd

	// Address is the TCP address to listen on; "" means 127.0.0.1:0, a free loopback port.
	Address string
	// Listener is the listener to use instead of listening on Address. The server serves TLS on it, and closes it when it
	// stops.
	Listener net.Listener
	// InProcess makes the server listen on no socket: only clients with a config of [Server.RESTConfig] or
	// [Server.RESTConfigFor] can connect. Address, Listener and TLS must be unset.
	InProcess bool
	// TLS configures the certificates of the listener.
	TLS TLS
	// TokenFile is a CSV file of static bearer tokens: token,user,uid,"group1,group2".
	TokenFile string

	// Admission lists the admission plugins that run after the built-in plugins and before policies and webhooks.
	Admission []admission.Plugin
	// TokenAuthenticators authenticate bearer tokens that are not in TokenFile, for requests and for TokenReviews.
	// Authenticators authenticate requests that have no accepted client certificate or token. The server calls the
	// authenticators of each list in order, up to the first that accepts the token or request. If no authenticator
	// accepts it, the server responds with 401.
	TokenAuthenticators []authenticator.Token
	Authenticators      []authenticator.Request
	// Authorizers are called in order before those of Authorization, up to the first that allows or denies the request. Members of the group
	// system:masters are always allowed.
	Authorizers []authorizer.Authorizer
	// Handlers serve additional paths, by path prefix: the key "/info" serves /info and all paths below /info/. They run
	// after authentication and after authorization, in which the request is a non-resource request whose verb is the HTTP
	// method in lower case. They count towards Limits. k8s.io/apiserver/pkg/endpoints/request.UserFrom returns the user of
	// the request. When the server stops, it waits for running handlers, up to ShutdownTimeout.
	Handlers map[string]http.Handler

	// Authentication configures JSON web tokens of OpenID Connect issuers, a webhook for tokens, and anonymous requests. With the
	// zero value, requests without credentials have the user system:anonymous, as in Kubernetes.
	Authentication AuthenticationOptions
	// Signing configures the signing of approved CertificateSigningRequests for the signers kubernetes.io/kube-apiserver-client and
	// kubernetes.io/kube-apiserver-client-kubelet. With the zero value, the server's own certificate authority signs.
	Signing SigningOptions
	// Authorization configures the authorizers that are called after Authorizers; with the zero value it is RBAC alone.
	Authorization AuthorizationOptions

	// Audit configures the audit log; with the zero value there is none.
	Audit AuditOptions

	// FeatureGates enables or disables features by name. The names are [UnsettingFields] and [ManagedFieldsOptOut], which are
	// both enabled by default.
	FeatureGates map[string]bool
	// Limits bound the resources that clients can use.
	Limits Limits
	// DisableControllers disables garbage collection, namespace deletion and the expiry of Events. It is for programs that
	// run kube-controller-manager or their own controllers.
	DisableControllers bool
	// EventTTL is the time after which Events are deleted; 0 means an hour, as in Kubernetes, and a negative value means
	// never.
	EventTTL time.Duration
	// ShutdownDelay is the time for which a server that stops still serves all requests, while its readiness check fails: load
	// balancers need it to send requests to other servers. If it is not 0, connections are closed only when they are idle: HTTP/1
	// connections after a response with Connection: close, HTTP/2 connections a second after a GOAWAY.
	ShutdownDelay time.Duration
	// ShutdownTimeout is the maximum time that active requests have to finish when the server stops; 0 means 20 seconds.
	ShutdownTimeout time.Duration
	// Log receives the server's log; nil means slog.Default().
	Log *slog.Logger
	// TracingConfigFile is a file with a TracingConfiguration of apiserver.config.k8s.io/v1, the collector of OpenTelemetry traces;
	// "" means that requests are not traced.
	TracingConfigFile string
	// Profiling enables the profiles of the process at /debug/pprof, for users with the verb get on these paths: by default, the
	// group system:masters.
	Profiling bool
	// TuneGC lets the server set the garbage collector's target percentage (GOGC) for the whole process. It is for programs
	// whose only purpose is to run a server.
	TuneGC bool
}

// TLS configures the certificates of a server with a listener. With the zero value, the server uses its own certificate
// authority, which it stores in the data directory or, without one, in memory.
type TLS struct {
	// CertFile and KeyFile are the PEM files of the serving certificate and its key.
	CertFile, KeyFile string
	// ClientCAFile is a PEM file of certificate authorities for client certificates, in addition to the server's own.
	ClientCAFile string
}

// Storage limits the disk space of the data directory, and schedules backups of the store.
type Storage struct {
	// QuotaBytes is the size of the store above which the server rejects creations with status 507; 0 means no limit.
	QuotaBytes int64
	// MinFreeBytes is the free space of the file system below which the server rejects creations; 0 means 256 MiB, and a
	// negative number means no limit.
	MinFreeBytes int64
	// BackupDirectory is the directory of scheduled backups; "" means that there are none. BackupInterval is the time between two
	// backups, by default an hour, and BackupsToKeep the number of backups after which the oldest is deleted, by default 24.
	BackupDirectory string
	BackupInterval  time.Duration
	BackupsToKeep   int
	// EncryptionConfigFile is a file with an EncryptionConfiguration of apiserver.config.k8s.io/v1, whose keys encrypt the objects of
	// the resources that it names; "" means that nothing is encrypted. ReloadEncryptionConfig reads the file again every minute.
	EncryptionConfigFile   string
	ReloadEncryptionConfig bool
}

const (
	defaultBackupInterval = time.Hour
	defaultBackupsToKeep  = 24
)

// schedule returns the schedule of backups.
func (s Storage) schedule() backup.Schedule {
	return backup.Schedule{Folder: s.BackupDirectory, Interval: cmp.Or(s.BackupInterval, defaultBackupInterval), Keep: cmp.Or(s.BackupsToKeep, defaultBackupsToKeep)}
}

// Limits bounds the resources that clients can use. A field with the value 0 means the default.
type Limits struct {
	// MaxReadsInFlight (default 400) and MaxWritesInFlight (default 200) are the maximum numbers of concurrent requests that
	// read and write. Priority and fairness distributes their sum among priority levels. Requests of the group system:masters
	// are not limited. The server responds to excess requests with 429.
	MaxReadsInFlight, MaxWritesInFlight int
	// DisablePriorityAndFairness replaces priority and fairness by the two limits, without queues. Watches are not limited then.
	DisablePriorityAndFairness bool
	// RequestTimeout (default 1m) is the maximum duration of a request that is not a watch. It is also the maximum
	// duration of receiving a request body.
	RequestTimeout time.Duration
	// MaxBodyBytes (default 3 MiB) is the maximum size of a request body.
	MaxBodyBytes int64
	// MemoryBudget (default 1 GiB) is the maximum memory in bytes of all request bodies together, and of the documents that
	// are decoded from them, as estimated by the server. It responds to requests beyond it with 429.
	MemoryBudget int64
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

// config returns the configuration of the server, or an error if the options are invalid.
func (o Options) config() (app.Config, error) {
	for _, check := range []func() error{o.checkListener, o.checkEtcd, o.checkDurations, o.checkGates, o.checkExtensions, o.checkAudit, o.checkAuthentication} {
		if err := check(); err != nil {
			return app.Config{}, err
		}
	}
	handlers, err := o.handlers()
	if err != nil {
		return app.Config{}, err
	}
	c := app.Config{
		Folder: o.Directory, QuotaBytes: o.Storage.QuotaBytes, MinFreeBytes: o.Storage.MinFreeBytes, Backups: o.Storage.schedule(), Audit: o.Audit.config(),
		Etcd:                 o.Etcd.config(),
		EncryptionConfigFile: o.Storage.EncryptionConfigFile, ReloadEncryptionConfig: o.Storage.ReloadEncryptionConfig,
		Address: o.Address, Listener: o.Listener, InProcess: o.InProcess,
		TokenFile: o.TokenFile, ClientCAFile: o.TLS.ClientCAFile, CertFile: o.TLS.CertFile, KeyFile: o.TLS.KeyFile,
		Authentication: o.Authentication.config(), Authorization: o.Authorization.config(), Signing: o.Signing.config(),
		Unset: o.isEnabled(UnsettingFields), Drop: o.isEnabled(ManagedFieldsOptOut),
		WithoutControllers: o.DisableControllers, EventTTL: max(0, o.EventTTL), PaceGC: o.TuneGC, Profiling: o.Profiling, TracingConfigFile: o.TracingConfigFile, GracefulStop: o.ShutdownDelay > 0,
		Limits:           server.Limits{RequestTimeout: o.Limits.RequestTimeout, MaxBodyBytes: o.Limits.MaxBodyBytes, MemoryBudget: o.Limits.MemoryBudget},
		MaxReadsInFlight: o.Limits.MaxReadsInFlight, MaxWritesInFlight: o.Limits.MaxWritesInFlight, WithoutFairness: o.Limits.DisablePriorityAndFairness,
		Log:       o.Log,
		Admission: slices.Clone(o.Admission), Authenticators: slices.Clone(o.Authenticators),
		TokenAuthenticators: slices.Clone(o.TokenAuthenticators), Authorizers: slices.Clone(o.Authorizers), Handlers: handlers,
	}
	if c.Address == "" {
		c.Address = defaultAddress
	}
	if o.EventTTL == 0 {
		c.EventTTL = app.DefaultEventTTL
	}
	return c, nil
}

// checkListener returns an error if Address, Listener, InProcess or TLS is invalid, or if two of them can't be
// combined.
func (o Options) checkListener() error {
	isTLS := o.TLS != TLS{}
	switch {
	case o.InProcess && o.Address != "":
		return fmt.Errorf("apiserver: Options.Address: must be empty if InProcess is set, received %q; unset one of them", o.Address)
	case o.InProcess && o.Listener != nil:
		return errors.New("apiserver: Options.Listener: must be nil if InProcess is set; unset one of them")
	case o.InProcess && isTLS:
		return errors.New("apiserver: Options.TLS: must be empty if InProcess is set, because there is no listener; unset one of them")
	case o.Listener != nil && o.Address != "":
		return fmt.Errorf("apiserver: Options.Address: must be empty if Listener is set, received %q; unset one of them", o.Address)
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

// checkDurations returns an error if ShutdownTimeout or a limit is negative.
func (o Options) checkDurations() error {
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"ShutdownDelay", int64(o.ShutdownDelay)}, {"ShutdownTimeout", int64(o.ShutdownTimeout)}, {"Limits.RequestTimeout", int64(o.Limits.RequestTimeout)},
		{"Limits.MaxReadsInFlight", int64(o.Limits.MaxReadsInFlight)}, {"Limits.MaxWritesInFlight", int64(o.Limits.MaxWritesInFlight)},
		{"Limits.MaxBodyBytes", o.Limits.MaxBodyBytes}, {"Limits.MemoryBudget", o.Limits.MemoryBudget}, {"Storage.QuotaBytes", o.Storage.QuotaBytes},
		{"Storage.BackupInterval", int64(o.Storage.BackupInterval)}, {"Storage.BackupsToKeep", int64(o.Storage.BackupsToKeep)},
	} {
		if limit.value < 0 {
			return fmt.Errorf("apiserver: Options.%s: expected a positive value, or 0 for the default, received %d; correct it", limit.name, limit.value)
		}
	}
	return nil
}

// checkAudit returns an error if Audit is invalid.
func (o Options) checkAudit() error {
	if err := o.Audit.Check(); err != nil {
		return fmt.Errorf("apiserver: Options.Audit: %w", err)
	}
	return nil
}

// checkAuthentication returns an error if Authentication or Authorization is invalid, or Signing incomplete.
func (o Options) checkAuthentication() error {
	if err := o.Authentication.config().Check(); err != nil {
		return fmt.Errorf("apiserver: Options.Authentication: %w", err)
	}
	if (o.Signing.CertFile == "") != (o.Signing.KeyFile == "") {
		return fmt.Errorf("apiserver: Options.Signing: expected CertFile and KeyFile, received CertFile %q and KeyFile %q; set both or none", o.Signing.CertFile, o.Signing.KeyFile)
	}
	if err := o.Authorization.config().Check(); err != nil {
		return fmt.Errorf("apiserver: Options.Authorization: %w", err)
	}
	return nil
}

// checkGates returns an error if FeatureGates contains an unknown name.
func (o Options) checkGates() error {
	for _, name := range slices.Sorted(maps.Keys(o.FeatureGates)) {
		if name != UnsettingFields && name != ManagedFieldsOptOut {
			return fmt.Errorf("apiserver: Options.FeatureGates: expected %s or %s, received %q; remove it", UnsettingFields, ManagedFieldsOptOut, name)
		}
	}
	return nil
}

// isEnabled reports whether a feature is enabled. Features that are not in FeatureGates are enabled.
func (o Options) isEnabled(name string) bool {
	on, ok := o.FeatureGates[name]
	return on || !ok
}

// checkExtensions returns an error if an extension is nil, or if the name of an admission plugin is empty or equals the
// name of another plugin. Other plugins include the built-in plugins.
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

// nilError returns the error for a nil value at index i of an option.
func nilError(name string, i int) error {
	return fmt.Errorf("apiserver: Options.%s[%d]: must not be nil; remove it", name, i)
}

// handlers returns the handlers by path prefix, from which it removes the trailing slash. It returns an error if a prefix is
// invalid, reserved or used twice, or if a handler is nil.
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
			return nil, fmt.Errorf("apiserver: Options.Handlers[%q]: must not be nil; remove it", path)
		case handlers[prefix] != nil:
			return nil, fmt.Errorf("apiserver: Options.Handlers: expected one handler for %s, received two, with and without a trailing slash; remove one", prefix)
		}
		handlers[prefix] = h
	}
	return handlers, nil
}
