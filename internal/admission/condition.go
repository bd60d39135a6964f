package admission

import (
	"context"
	"sync"

	"github.com/google/cel-go/common/types"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/cadastre/cadastre/internal/api/celexpr"
)

// Conditions are the matchConditions of a webhook or policy: CEL expressions that must all be true. They are safe for
// concurrent use.
type Conditions struct {
	compiled func() cel.ConditionEvaluator
	// ignore makes Match treat conditions that fail to evaluate as false instead of returning their errors (failurePolicy:
	// Ignore).
	ignore bool
}

// NewConditions returns the matchConditions of a webhook, which are compiled on first use; nil if the webhook has none.
func NewConditions(all []registration.MatchCondition, failure *registration.FailurePolicyType) *Conditions {
	if len(all) == 0 {
		return nil
	}
	return ConditionsOf(func() cel.ConditionEvaluator {
		return celexpr.ConditionCompiler().CompileCondition(Expressions(all), celexpr.Condition.VariableDeclarations(false), environment.StoredExpressions)
	}, failure)
}

// ConditionsOf returns Conditions whose CEL expressions are compiled by calling compile on first use.
func ConditionsOf(compile func() cel.ConditionEvaluator, failure *registration.FailurePolicyType) *Conditions {
	return &Conditions{compiled: sync.OnceValue(compile), ignore: Ignores(failure)}
}

// Ignores reports whether a failurePolicy is Ignore. It returns false if p is nil.
func Ignores(p *registration.FailurePolicyType) bool { return p != nil && *p == registration.Ignore }

// Expressions returns matchConditions as the type that the CEL compiler requires.
func Expressions(all []registration.MatchCondition) []cel.ExpressionAccessor {
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = all[i].Expression
	}
	return celexpr.Expressions(celexpr.Condition, texts)
}

// Verdict is the result of evaluating Conditions: whether all are true, and the number of conditions that failed to
// evaluate.
type Verdict struct {
	Matches bool
	Errors  int
}

// Match reports whether all conditions are true. If a condition is false, errors of earlier conditions are not returned.
// Params is the parameter object of a policy; nil for webhooks. Match returns ErrCostBudget if costs is exhausted.
func (c *Conditions) Match(ctx context.Context, costs *CostBudget, at *admission.VersionedAttributes, params runtime.Object, authority authorizer.Authorizer) (v Verdict, err error) {
	budget, err := costs.Grant(celconfig.RuntimeCELCostBudgetMatchConditions)
	if err != nil {
		return v, err
	}
	request := cel.CreateAdmissionRequest(at.Attributes, metav1.GroupVersionResource(at.GetResource()), metav1.GroupVersionKind(at.VersionedKind))
	inputs := cel.OptionalVariableBindings{VersionedParams: params, Authorizer: authority}
	results, left, err := c.compiled().ForInput(ctx, at, request, inputs, nil, budget)
	costs.Spend(budget, left)
	if err != nil {
		return v, c.unlessIgnored(err)
	}
	var errs []error
	for _, result := range results {
		if result.EvalResult == types.False {
			return Verdict{Errors: len(errs)}, nil
		}
		if result.Error != nil {
			errs = append(errs, result.Error)
		}
	}
	v = Verdict{Matches: len(errs) == 0, Errors: len(errs)}
	if len(errs) > 0 {
		return v, c.unlessIgnored(utilerrors.NewAggregate(errs))
	}
	return v, nil
}

// unlessIgnored returns err, or nil if the failurePolicy is Ignore.
func (c *Conditions) unlessIgnored(err error) error {
	if c.ignore {
		return nil
	}
	return err
}
