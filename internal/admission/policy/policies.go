package policy

import (
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// The resources of policies and bindings, as they are named in keys.
const (
	Validating         = "admissionregistration.k8s.io/validatingadmissionpolicies"
	ValidatingBindings = "admissionregistration.k8s.io/validatingadmissionpolicybindings"
)

// Resources are the resources that configure policies, as they are named in keys.
var Resources = []string{Validating, ValidatingBindings}

// Options are the dependencies of policies. All are required.
type Options struct {
	Cache      *watchcache.Cache
	Kinds      *api.Register
	Authorizer authorizer.Authorizer
	Metrics    *metrics.Metrics
	Log        *slog.Logger
}

// Policies is the plugin ValidatingAdmissionPolicy: the configured policies and their bindings.
type Policies struct {
	admission.ValidatingOnly
	Options
	// bound are the policies that have bindings, in the order in which they are evaluated; nil if there are none.
	bound atomic.Pointer[[]*policy]
	// definitions and bindings are the arguments of the last calls of Set, made the policies of definitions.
	// Only Set uses them.
	definitions, bindings map[string]*watchcache.Object
	made                  map[string]*policy
}

// New returns the plugin without any policy.
func New(options Options) *Policies {
	return &Policies{Options: options, made: map[string]*policy{}}
}

// Set replaces all policies, or all bindings. Other resources than those of Resources are ignored. Calls must not be
// concurrent.
func (p *Policies) Set(resource string, objects map[string]*watchcache.Object) {
	switch resource {
	case Validating:
		p.definitions = maps.Clone(objects)
	case ValidatingBindings:
		p.bindings = maps.Clone(objects)
	default:
		return
	}
	bindings := p.bindingsByPolicy()
	var all []*policy
	for _, name := range slices.Sorted(maps.Keys(p.definitions)) {
		if of := bindings[name]; len(of) > 0 {
			if one := p.policy(p.definitions[name]); one != nil {
				all = append(all, one.with(of))
			}
		}
	}
	maps.DeleteFunc(p.made, func(name string, _ *policy) bool { return p.definitions[name] == nil })
	if all == nil {
		p.bound.Store(nil)
		return
	}
	p.bound.Store(&all)
}

// policy returns the policy of a definition. A definition that did not change keeps its policy, which may be compiled.
func (p *Policies) policy(definition *watchcache.Object) *policy {
	name := definition.Name()
	if made := p.made[name]; made != nil && made.from == definition {
		return made
	}
	var d registration.ValidatingAdmissionPolicy
	if err := json.Unmarshal(definition.JSONWithoutManagedFields(), &d); err != nil {
		p.Log.Error("ignoring ValidatingAdmissionPolicy that cannot be decoded", "key", definition.Key(), "error", err)
		return nil
	}
	p.made[name] = newPolicy(definition, &d)
	return p.made[name]
}

// bindingsByPolicy returns the bindings of each policy, in the order of their names.
func (p *Policies) bindingsByPolicy() map[string][]*binding {
	bound := map[string][]*binding{}
	for _, name := range slices.Sorted(maps.Keys(p.bindings)) {
		var b registration.ValidatingAdmissionPolicyBinding
		if err := json.Unmarshal(p.bindings[name].JSONWithoutManagedFields(), &b); err != nil {
			p.Log.Error("ignoring ValidatingAdmissionPolicyBinding that cannot be decoded", "key", p.bindings[name].Key(), "error", err)
			continue
		}
		bound[b.Spec.PolicyName] = append(bound[b.Spec.PolicyName], newBinding(&b))
	}
	return bound
}

// Name implements admission.Plugin.
func (*Policies) Name() string { return "ValidatingAdmissionPolicy" }

// Handles implements admission.Plugin. Policies see no-ops, too: their verdict may depend on the user. Reviews,
// which are answered and not stored, are not evaluated, as in kube-apiserver.
func (p *Policies) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	bound := p.bound.Load()
	if bound == nil || r.Review ||
		!slices.ContainsFunc(*bound, func(one *policy) bool { return one.criteria.MayMatch(r, operation) }) {
		return 0
	}
	return admission.Validating | admission.NoOps
}
