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

// Validating and ValidatingBindings are the resources of policies and bindings, as they are named in storage keys.
const (
	Validating         = "admissionregistration.k8s.io/validatingadmissionpolicies"
	ValidatingBindings = "admissionregistration.k8s.io/validatingadmissionpolicybindings"
)

// Resources are the resources that configure policies, as they are named in storage keys.
var Resources = []string{Validating, ValidatingBindings}

// Options are the dependencies of the plugin. All are required.
type Options struct {
	Cache      *watchcache.Cache
	Kinds      *api.Register
	Authorizer authorizer.Authorizer
	Metrics    *metrics.Metrics
	Log        *slog.Logger
}

// Policies is the admission plugin ValidatingAdmissionPolicy: the configured policies and their bindings.
type Policies struct {
	admission.ValidatingOnly
	Options
	// bound are the policies that have bindings, in the order of evaluation; nil if there are none.
	bound atomic.Pointer[[]*policy]
	// definitions and bindings are the ValidatingAdmissionPolicies and their bindings, by name, as last passed to Set. decoded
	// are the policies that were decoded from definitions. Only Set uses these fields.
	definitions, bindings map[string]*watchcache.Object
	decoded               map[string]*policy
}

// New returns the plugin without any policies. Set configures it.
func New(options Options) *Policies {
	return &Policies{Options: options, decoded: map[string]*policy{}}
}

// Set replaces all policies or all bindings, depending on the resource. It ignores resources that are not in Resources.
// Calls must not be concurrent.
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
				all = append(all, one.withBindings(of))
			}
		}
	}
	maps.DeleteFunc(p.decoded, func(name string, _ *policy) bool { return p.definitions[name] == nil })
	if all == nil {
		p.bound.Store(nil)
		return
	}
	p.bound.Store(&all)
}

// policy returns the policy that is decoded from a definition; nil if it cannot be decoded. A definition that did not change
// keeps its policy, so the policy is not compiled again.
func (p *Policies) policy(definition *watchcache.Object) *policy {
	name := definition.Name()
	if made := p.decoded[name]; made != nil && made.from == definition {
		return made
	}
	var d registration.ValidatingAdmissionPolicy
	if err := json.Unmarshal(definition.JSONWithoutManagedFields(), &d); err != nil {
		p.Log.Error("ignoring ValidatingAdmissionPolicy that cannot be decoded", "key", definition.Key(), "error", err)
		return nil
	}
	p.decoded[name] = newPolicy(definition, &d)
	return p.decoded[name]
}

// bindingsByPolicy returns the bindings of each policy by the name of the policy, sorted by the name of the binding.
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

// Handles implements admission.Plugin. Policies validate no-op writes, too, because their verdict may depend on the user.
// Reviews such as SubjectAccessReviews, which are never stored, are exempt, as in kube-apiserver.
func (p *Policies) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	bound := p.bound.Load()
	if bound == nil || r.Review ||
		!slices.ContainsFunc(*bound, func(one *policy) bool { return one.criteria.MayMatch(r, operation) }) {
		return 0
	}
	return admission.Validating | admission.NoOps
}
