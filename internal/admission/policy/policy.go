package policies

import (
	"sync"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/cache"
)

// A policy is one that is ready to be asked.
type policy struct {
	name     string
	from     *cache.Object
	criteria admit.Criteria
	bindings []*binding
	// params is the kind of the parameters; nil if there are none.
	params *schema.GroupVersionKind
	// ignores says that what can't be told counts as if it held.
	ignores  bool
	compiled func() *compiled
}

// A binding says what a policy is for, with which parameters, and what becomes of what does not hold.
type binding struct {
	name string
	// criteria is nil for all that the policy is for.
	criteria *admit.Criteria
	params   *registration.ParamRef
	actions  []registration.ValidationAction
}

func newPolicy(from *cache.Object, d *registration.ValidatingAdmissionPolicy) *policy {
	p := &policy{
		name: d.Name, from: from, criteria: criteriaOf(d.Spec.MatchConstraints), ignores: admit.Ignores(d.Spec.FailurePolicy),
		compiled: sync.OnceValue(func() *compiled { return compile(&d.Spec) }),
	}
	if kind := d.Spec.ParamKind; kind != nil {
		gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
		p.params = &gvk
	}
	return p
}

// with returns a policy with its bindings.
func (p *policy) with(bindings []*binding) *policy {
	bound := *p
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

// criteriaOf returns what is matched. No rules at all match everything.
func criteriaOf(m *registration.MatchResources) admit.Criteria {
	if m == nil {
		return admit.NewCriteria(nil, nil, &metav1.LabelSelector{}, &metav1.LabelSelector{})
	}
	criteria := admit.NewCriteria(m.ResourceRules, m.MatchPolicy, m.NamespaceSelector, m.ObjectSelector)
	criteria.Except, criteria.AllIfNone = m.ExcludeResourceRules, true
	return criteria
}
