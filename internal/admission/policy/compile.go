package policy

import (
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api/celexpr"
)

// program contains the compiled CEL expressions of a policy. An expression that cannot be compiled returns its error when it is
// evaluated.
type program struct {
	err         error
	validations cel.ConditionEvaluator
	messages    cel.ConditionEvaluator
	annotations cel.ConditionEvaluator
	// conditions are the matchConditions; nil if the policy has none.
	conditions *admission.Conditions
	spec       *registration.ValidatingAdmissionPolicySpec
}

func compile(spec *registration.ValidatingAdmissionPolicySpec) *program {
	compiler, err := celexpr.WithVariables()
	if err != nil {
		return &program{err: err}
	}
	hasParams := spec.ParamKind != nil
	compileAll := func(role celexpr.Role, expressions []cel.ExpressionAccessor) cel.ConditionEvaluator {
		return compiler.CompileCondition(expressions, role.VariableDeclarations(hasParams), environment.StoredExpressions)
	}
	for _, v := range spec.Variables {
		variable := &celexpr.Expression{Name: v.Name, Text: v.Expression, Role: celexpr.Variable}
		compiler.CompileAndStoreVariable(variable, variable.Role.VariableDeclarations(hasParams), environment.StoredExpressions)
	}
	c := &program{
		spec:        spec,
		validations: compileAll(celexpr.Condition, validations(spec.Validations)),
		messages:    compileAll(celexpr.Message, messages(spec.Validations)),
		annotations: compileAll(celexpr.Annotation, annotations(spec.AuditAnnotations)),
	}
	if len(spec.MatchConditions) > 0 {
		conditions := compileAll(celexpr.Condition, admission.Expressions(spec.MatchConditions))
		c.conditions = admission.ConditionsOf(func() cel.ConditionEvaluator { return conditions }, spec.FailurePolicy)
	}
	return c
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
