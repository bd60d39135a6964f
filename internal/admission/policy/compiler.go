package policy

import (
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api/celexpr"
)

// compiler compiles the expressions of one policy, which can use the policy's variables.
type compiler struct {
	*cel.CompositedCompiler
	hasParams bool
}

// newCompiler returns the compiler for a policy with the given parameters and variables.
func newCompiler(params *registration.ParamKind, variables []registration.Variable) (*compiler, error) {
	composited, err := celexpr.WithVariables()
	if err != nil {
		return nil, err
	}
	c := &compiler{composited, params != nil}
	for _, v := range variables {
		variable := &celexpr.Expression{Name: v.Name, Text: v.Expression, Role: celexpr.Variable}
		c.CompileAndStoreVariable(variable, variable.Role.VariableDeclarations(c.hasParams), environment.StoredExpressions)
	}
	return c, nil
}

func (c *compiler) compile(role celexpr.Role, expressions []cel.ExpressionAccessor) cel.ConditionEvaluator {
	return c.CompileCondition(expressions, role.VariableDeclarations(c.hasParams), environment.StoredExpressions)
}

// conditions returns the matchConditions of the policy; nil if it has none.
func (c *compiler) conditions(all []registration.MatchCondition, failure *registration.FailurePolicyType) *admission.Conditions {
	if len(all) == 0 {
		return nil
	}
	conditions := c.compile(celexpr.Condition, admission.Expressions(all))
	return admission.ConditionsOf(func() cel.ConditionEvaluator { return conditions }, failure)
}
