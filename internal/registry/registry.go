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
	// Strategies maps resources, in the form GROUP/RESOURCE of watch cache keys, to their strategy. A resource without one
	// behaves as its api.Kind describes.
	Strategies map[string]Strategy
	// Unset enables unset markers, by which an apply configuration removes a field (KEP-5051).
	Unset bool
	// Metrics counts commits, and managed fields entries that were repaired or dropped; nil discards the counts.
	Metrics *metrics.Metrics
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
	// Log receives warnings about stored objects, such as managedFields that cannot be decoded; nil means slog.Default.
	Log *slog.Logger
}

// Registry reads and writes the objects of a server. It is safe for concurrent use.
type Registry struct {
	Options
	// reader reads objects for admission plugins.
	reader       admission.Reader
	subresources map[string]*Subresource // the keys are subresource names
	queues       keyQueues
}

// New returns a registry with all subresources that this package implements.
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
