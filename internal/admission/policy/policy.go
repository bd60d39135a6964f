package policy

import (
	"sync"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// policy is a decoded MutatingAdmissionPolicy or ValidatingAdmissionPolicy. E is the type of its compiled expressions.
type policy[E any] struct {
	name     string
	from     *watchcache.Object
	criteria admission.Criteria
	bindings []*binding
	// params is the kind that spec.paramKind names; nil if the policy has no parameters.
	params *schema.GroupVersionKind
	// ignores reports whether errors of the configuration and of the evaluation are ignored (failurePolicy: Ignore).
	ignores bool
	// compiled returns the compiled expressions; the first call compiles them.
	compiled func() E
}

// definition contains the fields that both kinds of policies share.
type definition struct {
	name          string
	constraints   *registration.MatchResources
	params        *registration.ParamKind
	failurePolicy *registration.FailurePolicyType
}

// newPolicy returns the policy of a definition, whose expressions are compiled by calling compile on first use.
func newPolicy[E any](d definition, compile func() E) *policy[E] {
	p := &policy[E]{
		name: d.name, criteria: criteriaOf(d.constraints), ignores: admission.Ignores(d.failurePolicy),
		compiled: sync.OnceValue(compile),
	}
	if d.params != nil {
		gvk := schema.FromAPIVersionAndKind(d.params.APIVersion, d.params.Kind)
		p.params = &gvk
	}
	return p
}

// with returns a copy of the policy with the given bindings.
func (p *policy[E]) with(bindings []*binding) *policy[E] {
	bound := *p
	bound.bindings = bindings
	return &bound
}

// binding is a MutatingAdmissionPolicyBinding or ValidatingAdmissionPolicyBinding.
type binding struct {
	name, policyName string
	// criteria are the binding's matchResources, which further restrict the policy's matchConstraints; nil if the binding has
	// none.
	criteria *admission.Criteria
	params   *registration.ParamRef
	// actions are the validationActions of a ValidatingAdmissionPolicyBinding.
	actions []registration.ValidationAction
}

func newBinding(name, policyName string, params *registration.ParamRef, match *registration.MatchResources) *binding {
	bound := &binding{name: name, policyName: policyName, params: params}
	if match != nil {
		criteria := criteriaOf(match)
		bound.criteria = &criteria
	}
	return bound
}

// criteriaOf returns the criteria of a policy's or binding's match constraints. Constraints that are nil or contain no rules
// match every resource.
func criteriaOf(m *registration.MatchResources) admission.Criteria {
	if m == nil {
		m = &registration.MatchResources{NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{}}
	}
	criteria := admission.NewCriteria(m.ResourceRules, m.MatchPolicy, m.NamespaceSelector, m.ObjectSelector)
	criteria.Exclude, criteria.MatchAllWithoutRules, criteria.MatchWebhookConfigurations = m.ExcludeResourceRules, true, true
	return criteria
}
