//lint:file-ignore U1000 Kubernetes' tests, which are compiled into this package, use these declarations

// Package mutating replaces Kubernetes' package mutating: a Cadastre server evaluates the policies.
package mutating

import (
	"context"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/client-go/informers"

	"github.com/cadastre/cadastre/test/upstream/patch"
	"github.com/cadastre/cadastre/test/upstream/policyserver"
)

// PolicyEvaluator evaluates the mutations of a policy one by one.
type PolicyEvaluator struct {
	Mutators           []patch.Patcher
	CompositedCompiler *cel.CompositedCompiler
}

// compilePolicy returns the evaluator of a policy.
func compilePolicy(policy *v1.MutatingAdmissionPolicy) (e PolicyEvaluator) {
	for _, m := range policy.Spec.Mutations {
		one := policy.DeepCopy()
		one.Spec.Mutations = []v1.Mutation{m}
		e.Mutators = append(e.Mutators, patcher{one})
	}
	return e
}

type patcher struct{ policy *v1.MutatingAdmissionPolicy }

// Patch implements patch.Patcher.
func (p patcher) Patch(_ context.Context, r patch.Request, _ int64) (runtime.Object, error) {
	return r.Evaluate(p.policy)
}

// PolicyHook is a policy with its bindings.
type PolicyHook struct {
	Policy        *v1.MutatingAdmissionPolicy
	Bindings      []*v1.MutatingAdmissionPolicyBinding
	ParamInformer informers.GenericInformer
	ParamScope    meta.RESTScope
	Evaluator     PolicyEvaluator
}

// Dispatcher evaluates policies.
type Dispatcher struct{}

// NewDispatcher returns a Dispatcher.
func NewDispatcher(_, _, _ any) Dispatcher { return Dispatcher{} }

// Start returns nil.
func (Dispatcher) Start(context.Context) error { return nil }

// Dispatch evaluates policies for the object of a request.
func (Dispatcher) Dispatch(_ context.Context, a *admission.VersionedAttributes, _ admission.ObjectInterfaces, hooks []PolicyHook) error {
	var c policyserver.Case
	var err error
	if c.Object, err = policyserver.Deployment(a.VersionedObject.Object()); err != nil {
		return err
	}
	for _, hook := range hooks {
		c.Policies, c.Bindings = append(c.Policies, hook.Policy), append(c.Bindings, hook.Bindings...)
		if len(c.Params) > 0 {
			continue
		}
		params, err := hook.ParamInformer.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		c.Params = policyserver.ConfigMaps(params...)
	}
	after, err := policyserver.Evaluate(c)
	if err == nil {
		a.UpdateObject(after)
	}
	return err
}
