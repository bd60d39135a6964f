package registry

import (
	"log/slog"
	"time"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// Options are the dependencies of a registry. Cache and Kinds are required.
type Options struct {
	Cache *watchcache.Cache
	Kinds *api.Register
	// Admission is the admission chain; nil admits everything.
	Admission *admission.Chain
	// Strategies are the strategies of resources that need more than their api.Kind describes, by the resource's name in
	// keys.
	Strategies map[string]Strategy
	// Unset enables unset markers in applied configurations (KEP-5051).
	Unset bool
	// Metrics count commits and repairs of managedFields; nil discards them.
	Metrics *metrics.Metrics
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Log receives warnings about stored objects; nil means slog.Default.
	Log *slog.Logger
}

// Registry reads and writes the objects of a server. It is safe for concurrent use.
type Registry struct {
	Options
	reader       admission.Reader
	subresources map[string]*Subresource
}

// New returns a registry.
func New(options Options) *Registry {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.Default()
	}
	if options.Metrics == nil {
		options.Metrics = metrics.New()
	}
	r := &Registry{Options: options, reader: admission.NewReader(options.Cache, options.Kinds), subresources: map[string]*Subresource{}}
	for _, s := range subresources() {
		r.subresources[s.Name] = s
	}
	return r
}
