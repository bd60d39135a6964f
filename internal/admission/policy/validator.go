package policy

import (
	"encoding/json"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api/celexpr"
)

// validator contains the compiled CEL expressions of a ValidatingAdmissionPolicy. An expression that cannot be compiled returns
// its error when it is evaluated.
type validator struct {
	err         error
	validations cel.ConditionEvaluator
	messages    cel.ConditionEvaluator
	annotations cel.ConditionEvaluator
	// conditions are the matchConditions; nil if the policy has none.
	conditions *admission.Conditions
	spec       *registration.ValidatingAdmissionPolicySpec
}

func decodeValidating(text []byte) (*policy[*validator], error) {
	var d registration.ValidatingAdmissionPolicy
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	return newPolicy(definition{d.Name, d.Spec.MatchConstraints, d.Spec.ParamKind, d.Spec.FailurePolicy},
		func() *validator { return newValidator(&d.Spec) }), nil
}

func decodeValidatingBinding(text []byte) (*binding, error) {
	var b registration.ValidatingAdmissionPolicyBinding
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, err
	}
	bound := newBinding(b.Name, b.Spec.PolicyName, b.Spec.ParamRef, b.Spec.MatchResources)
	bound.actions = b.Spec.ValidationActions
	return bound, nil
}

func newValidator(spec *registration.ValidatingAdmissionPolicySpec) *validator {
	c, err := newCompiler(spec.ParamKind, spec.Variables)
	if err != nil {
		return &validator{err: err}
	}
	return &validator{
		spec:        spec,
		validations: c.compile(celexpr.Condition, validations(spec.Validations)),
		messages:    c.compile(celexpr.Message, messages(spec.Validations)),
		annotations: c.compile(celexpr.Annotation, annotations(spec.AuditAnnotations)),
		conditions:  c.conditions(spec.MatchConditions, spec.FailurePolicy),
	}
}

func validations(all []registration.Validation) []cel.ExpressionAccessor {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = v.Expression
	}
	return celexpr.Expressions(celexpr.Condition, texts)
}

func messages(all []registration.Validation) []cel.ExpressionAccessor {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = v.MessageExpression
	}
	return celexpr.Expressions(celexpr.Message, texts)
}

func annotations(all []registration.AuditAnnotation) []cel.ExpressionAccessor {
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = a.ValueExpression
	}
	return celexpr.Expressions(celexpr.Annotation, texts)
}
