package policies

import (
	celgo "github.com/google/cel-go/cel"
	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/cadastre/cadastre/internal/admit"
)

// compiled are the expressions of a policy. Those that can't be compiled say so when they are evaluated.
type compiled struct {
	err         error
	validations cel.ConditionEvaluator
	messages    cel.ConditionEvaluator
	annotations cel.ConditionEvaluator
	// conditions is nil if there are none.
	conditions *admit.Conditions
	spec       *registration.ValidatingAdmissionPolicySpec
}

func compile(spec *registration.ValidatingAdmissionPolicySpec) *compiled {
	compiler, err := cel.NewCompositedCompiler(admit.Environment())
	if err != nil {
		return &compiled{err: err}
	}
	all := cel.OptionalVariableDeclarations{HasParams: spec.ParamKind != nil, HasAuthorizer: true}
	compiler.CompileAndStoreVariables(variables(spec.Variables), all, environment.StoredExpressions)
	c := &compiled{
		spec:        spec,
		validations: compiler.CompileCondition(validations(spec.Validations), all, environment.StoredExpressions),
		annotations: compiler.CompileCondition(annotations(spec.AuditAnnotations), all, environment.StoredExpressions),
		messages: compiler.CompileCondition(messages(spec.Validations),
			cel.OptionalVariableDeclarations{HasParams: all.HasParams}, environment.StoredExpressions),
	}
	if len(spec.MatchConditions) > 0 {
		conditions := compiler.CompileCondition(admit.Expressions(spec.MatchConditions), all, environment.StoredExpressions)
		c.conditions = admit.ConditionsOf(func() cel.ConditionEvaluator { return conditions }, spec.FailurePolicy)
	}
	return c
}

// An expression is one that yields values of some types.
type expression struct {
	name, text string
	types      []*celgo.Type
}

// GetExpression implements cel.ExpressionAccessor.
func (e *expression) GetExpression() string { return e.text }

// ReturnTypes implements cel.ExpressionAccessor.
func (e *expression) ReturnTypes() []*celgo.Type { return e.types }

// GetName implements cel.NamedExpressionAccessor.
func (e *expression) GetName() string { return e.name }

func variables(all []registration.Variable) (list []cel.NamedExpressionAccessor) {
	for _, v := range all {
		list = append(list, &expression{v.Name, v.Expression, []*celgo.Type{celgo.AnyType, celgo.DynType}})
	}
	return list
}

func validations(all []registration.Validation) (list []cel.ExpressionAccessor) {
	for _, v := range all {
		list = append(list, &expression{"", v.Expression, []*celgo.Type{celgo.BoolType}})
	}
	return list
}

// messages has nil for validations that say their message without an expression.
func messages(all []registration.Validation) (list []cel.ExpressionAccessor) {
	for _, v := range all {
		if v.MessageExpression == "" {
			list = append(list, nil)
			continue
		}
		list = append(list, &expression{"", v.MessageExpression, []*celgo.Type{celgo.StringType}})
	}
	return list
}

func annotations(all []registration.AuditAnnotation) (list []cel.ExpressionAccessor) {
	for _, a := range all {
		list = append(list, &expression{a.Key, a.ValueExpression, []*celgo.Type{celgo.StringType, celgo.NullType}})
	}
	return list
}
