package policies

import (
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/metrics"
)

// What the kinds are called in keys.
const (
	Validating         = "admissionregistration.k8s.io/validatingadmissionpolicies"
	ValidatingBindings = "admissionregistration.k8s.io/validatingadmissionpolicybindings"
)

// Kinds are those that say which policies there are.
var Kinds = []string{Validating, ValidatingBindings}

// Options are what policies are asked with. All are required.
type Options struct {
	Cache      *cache.Cache
	Kinds      *kinds.Register
	Namespaces admit.Namespaces
	Authorizer authorizer.Authorizer
	Metrics    *metrics.Metrics
	Log        *slog.Logger
}

// Policies are those that there are. They may be asked from many goroutines at once.
type Policies struct {
	Options
	// now are the policies that are bound, in the order in which they are asked; nil if there are none.
	now atomic.Pointer[[]*policy]
	// definitions and bindings are what Set was told last. made are the policies that were made of
	// definitions.
	definitions, bindings map[string]*cache.Object
	made                  map[string]*policy
}

// New returns policies of which there are none yet.
func New(options Options) *Policies {
	return &Policies{Options: options, made: map[string]*policy{}}
}

// Set replaces all policies, or all bindings. It is not called twice at once.
func (p *Policies) Set(kind string, objects map[string]*cache.Object) {
	switch kind {
	case Validating:
		p.definitions = maps.Clone(objects)
	case ValidatingBindings:
		p.bindings = maps.Clone(objects)
	default:
		return
	}
	bound := p.bound()
	var all []*policy
	for _, name := range slices.Sorted(maps.Keys(p.definitions)) {
		if bindings := bound[name]; len(bindings) > 0 {
			if one := p.policy(p.definitions[name]); one != nil {
				all = append(all, one.with(bindings))
			}
		}
	}
	maps.DeleteFunc(p.made, func(name string, _ *policy) bool { return p.definitions[name] == nil })
	if all == nil {
		p.now.Store(nil)
		return
	}
	p.now.Store(&all)
}

// policy returns the policy of a definition: the same as before if that did not change, since it may be compiled.
func (p *Policies) policy(definition *cache.Object) *policy {
	name := definition.Name()
	if made := p.made[name]; made != nil && made.from == definition {
		return made
	}
	var d registration.ValidatingAdmissionPolicy
	if err := json.Unmarshal(definition.JSONWithoutManagedFields(), &d); err != nil {
		p.Log.Error("cannot understand a policy: it is left out", "key", definition.Key(), "error", err)
		return nil
	}
	p.made[name] = newPolicy(definition, &d)
	return p.made[name]
}

// bound returns the bindings of each policy, in the order of their names.
func (p *Policies) bound() map[string][]*binding {
	bound := map[string][]*binding{}
	for _, name := range slices.Sorted(maps.Keys(p.bindings)) {
		var b registration.ValidatingAdmissionPolicyBinding
		if err := json.Unmarshal(p.bindings[name].JSONWithoutManagedFields(), &b); err != nil {
			p.Log.Error("cannot understand the binding of a policy: it is left out", "key", p.bindings[name].Key(), "error", err)
			continue
		}
		bound[b.Spec.PolicyName] = append(bound[b.Spec.PolicyName], newBinding(&b))
	}
	return bound
}

// Concern reports whether there may be a policy to ask about a write. It costs next to nothing if there is none.
// None is asked about a question about users: who could not ask what policies allow could not find out why.
func (p *Policies) Concern(s admit.Subject, operation admit.Operation) bool {
	if s.Kind.OnlyCreate {
		return false
	}
	now := p.now.Load()
	return now != nil && slices.ContainsFunc(*now, func(one *policy) bool { return one.criteria.Concern(s, operation) })
}
