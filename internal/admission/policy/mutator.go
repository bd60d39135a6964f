package policy

import (
	"encoding/json"
	"fmt"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api/celexpr"
)

// mutator contains the compiled CEL expressions of a MutatingAdmissionPolicy. An expression that cannot be compiled returns its
// error when it is evaluated.
type mutator struct {
	err       error
	compiler  *compiler
	mutations []*mutation
	// conditions are the matchConditions; nil if the policy has none.
	conditions *admission.Conditions
	// reinvoke reports whether the policy is evaluated again if the object changes after its evaluation (reinvocationPolicy:
	// IfNeeded).
	reinvoke bool
}

// mutation is one of the mutations of a policy.
type mutation struct {
	evaluator cel.MutatingEvaluator
	// patch applies the value of the expression, an apply configuration or a JSON patch.
	patch patch
	// path is the path of the expression in the policy.
	path string
}

func decodeMutating(text []byte) (*policy[*mutator], error) {
	var d registration.MutatingAdmissionPolicy
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	return newPolicy(definition{d.Name, d.Spec.MatchConstraints, d.Spec.ParamKind, d.Spec.FailurePolicy},
		func() *mutator { return newMutator(&d.Spec) }), nil
}

func decodeMutatingBinding(text []byte) (*binding, error) {
	var b registration.MutatingAdmissionPolicyBinding
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, err
	}
	return newBinding(b.Name, b.Spec.PolicyName, b.Spec.ParamRef, b.Spec.MatchResources), nil
}

func newMutator(spec *registration.MutatingAdmissionPolicySpec) *mutator {
	c, err := newCompiler(spec.ParamKind, spec.Variables)
	if err != nil {
		return &mutator{err: err}
	}
	m := &mutator{
		compiler:   c,
		conditions: c.conditions(spec.MatchConditions, spec.FailurePolicy),
		reinvoke:   spec.ReinvocationPolicy == registration.IfNeededReinvocationPolicy,
	}
	for i, one := range spec.Mutations {
		switch {
		case one.PatchType == registration.PatchTypeApplyConfiguration && one.ApplyConfiguration != nil:
			m.mutations = append(m.mutations, c.mutation(celexpr.ApplyPatch, one.ApplyConfiguration.Expression, applyPatch,
				fmt.Sprintf("spec.mutations[%d].applyConfiguration.expression", i)))
		case one.PatchType == registration.PatchTypeJSONPatch && one.JSONPatch != nil:
			m.mutations = append(m.mutations, c.mutation(celexpr.JSONPatch, one.JSONPatch.Expression, jsonPatch,
				fmt.Sprintf("spec.mutations[%d].jsonPatch.expression", i)))
		}
	}
	return m
}

// mutation compiles the expression of a mutation. The patch type p applies the value of the expression.
func (c *compiler) mutation(role celexpr.Role, expression string, p patch, path string) *mutation {
	e := &celexpr.Expression{Text: expression, Role: role}
	return &mutation{
		evaluator: c.CompileMutatingEvaluator(e, role.VariableDeclarations(c.hasParams), environment.StoredExpressions),
		patch:     p, path: path,
	}
}
