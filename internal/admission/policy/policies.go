package policy

import (
	"log/slog"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// The resources of policies and bindings, as GROUP/RESOURCE in storage keys.
const (
	Mutating           = "admissionregistration.k8s.io/mutatingadmissionpolicies"
	MutatingBindings   = "admissionregistration.k8s.io/mutatingadmissionpolicybindings"
	Validating         = "admissionregistration.k8s.io/validatingadmissionpolicies"
	ValidatingBindings = "admissionregistration.k8s.io/validatingadmissionpolicybindings"
)

// Resources are the resources that configure policies, as GROUP/RESOURCE in storage keys.
var Resources = []string{Mutating, MutatingBindings, Validating, ValidatingBindings}

// Options are the dependencies of Policies. All are required.
type Options struct {
	Cache      *watchcache.Cache
	Kinds      *api.Register
	Authorizer authorizer.Authorizer
	Metrics    *metrics.Metrics
	Log        *slog.Logger
}

// Policies are the configured admission policies. They are safe for concurrent use.
type Policies struct {
	Options
	mutating   *source[*mutator]
	validating *source[*validator]
}

// New returns Policies without any configuration. Set configures them.
func New(options Options) *Policies {
	return &Policies{
		Options:    options,
		mutating:   newSource("MutatingAdmissionPolicy", options.Log, decodeMutating, decodeMutatingBinding),
		validating: newSource("ValidatingAdmissionPolicy", options.Log, decodeValidating, decodeValidatingBinding),
	}
}

// Set replaces all policies or all bindings of a kind, depending on the resource. It ignores resources that are not in
// Resources. Calls must not be concurrent.
func (p *Policies) Set(resource string, objects map[string]*watchcache.Object) {
	switch resource {
	case Mutating:
		p.mutating.setPolicies(objects)
	case MutatingBindings:
		p.mutating.setBindings(objects)
	case Validating:
		p.validating.setPolicies(objects)
	case ValidatingBindings:
		p.validating.setBindings(objects)
	}
}
