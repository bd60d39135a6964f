package objects

import (
	"context"
	"log/slog"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/metrics"
)

// Options are what objects are kept in, and by which rules.
type Options struct {
	Cache *cache.Cache
	Kinds *kinds.Register
	// Unset has applies understand unset markers.
	Unset bool
	// Admit has the last word on a write; nil means yes. Old is absent for what is created.
	Admit func(ctx context.Context, user *identity.User, kind *kinds.Kind, obj, old document.Value) error
	// Admission are those who are asked about writes: webhooks and policies. nil means that there is nobody.
	Admission Admission
	// Extras are what some kinds get beside what all get, by what they are called in keys. They
	// are set before the first endpoint is asked for.
	Extras map[string]Extra
	// Metrics count commits and what becomes of managedFields; nil means that nobody does.
	Metrics *metrics.Metrics
	// Now is the time; nil means time.Now.
	Now func() time.Time
	Log *slog.Logger
}

// Objects are the objects of a server.
type Objects struct{ Options }

// New returns the objects of a cache.
func New(options Options) *Objects {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.Default()
	}
	if options.Metrics == nil {
		options.Metrics = metrics.New()
	}
	return &Objects{Options: options}
}
