package policy

import (
	"sync"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// policy is a decoded ValidatingAdmissionPolicy. Its expressions are compiled on the first call of compiled.
type policy struct {
	name     string
	from     *watchcache.Object
	criteria admission.Criteria
	bindings []*binding
	// params is the kind that spec.paramKind names; nil if the policy has no parameters.
	params *schema.GroupVersionKind
	// ignores reports whether expressions that fail to evaluate are ignored (failurePolicy: Ignore).
	ignores  bool
	compiled func() *program
}

// binding is a ValidatingAdmissionPolicyBinding.
type binding struct {
	name string
	// criteria are the binding's own matchResources, which restrict those of the policy; nil if it has none.
	criteria *admission.Criteria
	params   *registration.ParamRef
	actions  []registration.ValidationAction
}

func newPolicy(from *watchcache.Object, d *registration.ValidatingAdmissionPolicy) *policy {
	p := &policy{
		name: d.Name, from: from, criteria: criteriaOf(d.Spec.MatchConstraints), ignores: admission.Ignores(d.Spec.FailurePolicy),
		compiled: sync.OnceValue(func() *program { return compile(&d.Spec) }),
	}
	if kind := d.Spec.ParamKind; kind != nil {
		gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
		p.params = &gvk
	}
	return p
}

// withBindings returns a copy of the policy with these bindings.
func (pol *policy) withBindings(bindings []*binding) *policy {
	bound := *pol
	bound.bindings = bindings
	return &bound
}

func newBinding(b *registration.ValidatingAdmissionPolicyBinding) *binding {
	bound := &binding{name: b.Name, params: b.Spec.ParamRef, actions: b.Spec.ValidationActions}
	if b.Spec.MatchResources != nil {
		criteria := criteriaOf(b.Spec.MatchResources)
		bound.criteria = &criteria
	}
	return bound
}

// criteriaOf returns the criteria of a policy's or binding's match constraints. Constraints that are nil or contain no rules
// match every resource.
func criteriaOf(m *registration.MatchResources) admission.Criteria {
	if m == nil {
		return admission.NewCriteria(nil, nil, &metav1.LabelSelector{}, &metav1.LabelSelector{})
	}
	criteria := admission.NewCriteria(m.ResourceRules, m.MatchPolicy, m.NamespaceSelector, m.ObjectSelector)
	criteria.Exclude, criteria.MatchAllWithoutRules = m.ExcludeResourceRules, true
	return criteria
}
