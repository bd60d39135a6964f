package hooks

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

	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/webhook"
)

// What the kinds of configurations are called in keys.
const (
	MutatingConfigurations   = "admissionregistration.k8s.io/mutatingwebhookconfigurations"
	ValidatingConfigurations = "admissionregistration.k8s.io/validatingwebhookconfigurations"
)

// Kinds are those that say which webhooks there are.
var Kinds = []string{MutatingConfigurations, ValidatingConfigurations}

// Options are what webhooks are asked with. All are required.
type Options struct {
	Namespaces admit.Namespaces
	Authorizer authorizer.Authorizer
	Metrics    *metrics.Metrics
	Log        *slog.Logger
}

// Hooks are the webhooks that there are. They may be asked from many goroutines at once.
type Hooks struct {
	Options
	caller *webhook.Caller
	// mutating and validating are in the order in which they are asked; nil if there are none.
	mutating, validating atomic.Pointer[[]*hook]
}

// New returns hooks of which there are none yet.
func New(options Options) (*Hooks, error) {
	caller, err := webhook.NewCaller(webhook.Options{
		Register: []func(*runtime.Scheme) error{admissionv1.AddToScheme, admissionv1beta1.AddToScheme},
		Versions: []schema.GroupVersion{admissionv1beta1.SchemeGroupVersion, admissionv1.SchemeGroupVersion},
	})
	if err != nil {
		return nil, err
	}
	return &Hooks{Options: options, caller: caller}, nil
}

// Close ends connections that nobody uses.
func (h *Hooks) Close() { h.caller.Close() }

// Set replaces all configurations of a kind.
func (h *Hooks) Set(kind string, configurations map[string]*cache.Object) {
	switch kind {
	case MutatingConfigurations:
		h.mutating.Store(hooksOf(configurations, mutating, h.Log))
	case ValidatingConfigurations:
		h.validating.Store(hooksOf(configurations, validating, h.Log))
	}
}

// hooksOf returns the webhooks of configurations, in the order of their names. A configuration that does not have the form
// of its kind has none.
func hooksOf[T registration.MutatingWebhookConfiguration | registration.ValidatingWebhookConfiguration](from map[string]*cache.Object, read func(*T) []*hook, log *slog.Logger) *[]*hook {
	var all []*hook
	for _, name := range slices.Sorted(maps.Keys(from)) {
		var configuration T
		if err := json.Unmarshal(from[name].JSONWithoutManagedFields(), &configuration); err != nil {
			log.Error("cannot understand a configuration of webhooks: it is left out", "key", from[name].Key(), "error", err)
			continue
		}
		all = append(all, read(&configuration)...)
	}
	if all == nil {
		return nil
	}
	return &all
}

// Concern reports whether there may be somebody to ask about a write. It costs next to nothing if there is nobody.
func (h *Hooks) Concern(s admit.Subject, operation admit.Operation) (mutating, validating bool) {
	return concern(h.mutating.Load(), s, operation), concern(h.validating.Load(), s, operation)
}

func concern(hooks *[]*hook, s admit.Subject, operation admit.Operation) bool {
	return hooks != nil && slices.ContainsFunc(*hooks, func(h *hook) bool { return h.criteria.Concern(s, operation) })
}

// match reports whether a webhook is to be asked, and in which form.
func (h *Hooks) match(ctx context.Context, hook *hook, q *admit.Question) (form admit.Form, ok bool, err error) {
	form, ok, err = hook.criteria.Match(ctx, q, h.Namespaces)
	if !ok || err != nil || hook.conditions == nil {
		return form, ok, err
	}
	ok, err = h.meets(ctx, hook, q, form)
	return form, ok, err
}
