package webhook

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// MutatingConfigurations and ValidatingConfigurations are the resources of webhook configurations, as GROUP/RESOURCE in
// storage keys.
const (
	MutatingConfigurations   = "admissionregistration.k8s.io/mutatingwebhookconfigurations"
	ValidatingConfigurations = "admissionregistration.k8s.io/validatingwebhookconfigurations"
)

// Resources are the resources that configure webhooks, as GROUP/RESOURCE in storage keys.
var Resources = []string{MutatingConfigurations, ValidatingConfigurations}

// Options are the dependencies of Webhooks. All are required.
type Options struct {
	Authorizer authorizer.Authorizer
	Metrics    *metrics.Metrics
	Log        *slog.Logger
}

// Webhooks are the configured admission webhooks. They are safe for concurrent use.
type Webhooks struct {
	Options
	client *webhookclient.Caller
	// mutating and validating are the webhooks in the order in which they are called; nil if there are none.
	mutating, validating atomic.Pointer[[]*webhook]
}

// New returns Webhooks without any configuration. Set configures them.
func New(options Options) (*Webhooks, error) {
	client, err := webhookclient.NewCaller(webhookclient.Options{
		Register: []func(*runtime.Scheme) error{admissionv1.AddToScheme, admissionv1beta1.AddToScheme},
		Versions: []schema.GroupVersion{admissionv1beta1.SchemeGroupVersion, admissionv1.SchemeGroupVersion},
	})
	if err != nil {
		return nil, err
	}
	return &Webhooks{Options: options, client: client}, nil
}

// Close closes idle connections to webhooks.
func (w *Webhooks) Close() { w.client.Close() }

// Set replaces all webhook configurations of a resource. It ignores resources that are not in Resources.
func (w *Webhooks) Set(resource string, configurations map[string]*watchcache.Object) {
	switch resource {
	case MutatingConfigurations:
		w.mutating.Store(webhooksOf(configurations, mutating, w.Log))
	case ValidatingConfigurations:
		w.validating.Store(webhooksOf(configurations, validating, w.Log))
	}
}

// webhooksOf returns the webhooks of all configurations, in the order of the names of the configurations; nil if there are
// none. A configuration that cannot be decoded is logged and ignored.
func webhooksOf[T registration.MutatingWebhookConfiguration | registration.ValidatingWebhookConfiguration](from map[string]*watchcache.Object, read func(*T) []*webhook, log *slog.Logger) *[]*webhook {
	var all []*webhook
	for _, name := range slices.Sorted(maps.Keys(from)) {
		var configuration T
		if err := json.Unmarshal(from[name].JSONWithoutManagedFields(), &configuration); err != nil {
			log.Error("ignoring webhook configuration that cannot be decoded", "key", from[name].Key(), "error", err)
			continue
		}
		all = append(all, read(&configuration)...)
	}
	if all == nil {
		return nil
	}
	return &all
}

// anyMayMatch reports whether one of the webhooks can match an operation on a resource.
func anyMayMatch(webhooks *[]*webhook, operation admission.Operation, r admission.Resource) bool {
	return webhooks != nil && slices.ContainsFunc(*webhooks, func(w *webhook) bool { return w.criteria.MayMatch(r, operation) })
}

// match reports whether a webhook is called for a request, and returns the version of the objects that it receives.
func (h *Webhooks) match(ctx context.Context, w *webhook, a *admission.Record) (v admission.VersionedResource, ok bool, err error) {
	v, ok, err = w.criteria.Match(ctx, a)
	if !ok || err != nil || w.conditions == nil {
		return v, ok, err
	}
	ok, err = h.matchConditions(ctx, w, a, v)
	return v, ok, err
}
