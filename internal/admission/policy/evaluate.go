package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/cadastre/cadastre/internal/admission"
)

// evaluate returns the decisions of a policy for one written object and one parameter object; none if the policy's
// matchConditions are false. The error is admission.ErrCostBudget.
func (p *Policies) evaluate(ctx context.Context, one *policy[*validator], s *input) ([]decision, error) {
	c := one.compiled()
	if c.err != nil {
		return evaluationFailure(one, c.err), nil
	}
	if c.conditions != nil {
		matches, err := p.matchConditions(ctx, one.name, c.conditions, s)
		switch {
		case errors.Is(err, admission.ErrCostBudget):
			return nil, err
		case err != nil:
			return evaluationFailure(one, err), nil
		case !matches:
			return nil, nil
		}
	}
	decisions, err := p.validations(ctx, one, c, s)
	if err != nil || len(c.spec.AuditAnnotations) == 0 {
		return decisions, err
	}
	budget, err := s.costs.Grant(celconfig.RuntimeCELCostBudget)
	if err != nil {
		return decisions, err
	}
	values, left, err := c.annotations.ForInput(ctx, s.at, s.request, cel.OptionalVariableBindings{VersionedParams: s.params}, s.namespace, budget)
	s.costs.Spend(budget, left)
	if err != nil {
		return evaluationFailure(one, err), nil
	}
	return append(decisions, annotate(one, c.spec.AuditAnnotations, values)...), nil
}

// validations returns the decisions for the validations of a policy. The error is admission.ErrCostBudget.
func (p *Policies) validations(ctx context.Context, one *policy[*validator], c *validator, s *input) (decisions []decision, err error) {
	budget, err := s.costs.Grant(celconfig.RuntimeCELCostBudget)
	if err != nil {
		return nil, err
	}
	all := cel.OptionalVariableBindings{VersionedParams: s.params, Authorizer: p.Authorizer}
	results, left, err := c.validations.ForInput(ctx, s.at, s.request, all, s.namespace, budget)
	if err != nil {
		s.costs.Spend(budget, left)
		return evaluationFailure(one, err), nil
	}
	messages, left, messageErr := c.messages.ForInput(ctx, s.at, s.request, cel.OptionalVariableBindings{VersionedParams: s.params}, s.namespace, left)
	s.costs.Spend(budget, left)
	for i, result := range results {
		var message *cel.EvaluationResult
		if i < len(messages) {
			message = &messages[i]
		}
		d := decide(one, &c.spec.Validations[i], result, message, messageErr)
		d.index = i
		decisions = append(decisions, d)
	}
	return decisions, nil
}

// matchConditions reports whether the matchConditions of a policy are true. As in Kubernetes, the metrics of mutating
// policies have the label "validate", too.
func (p *Policies) matchConditions(ctx context.Context, policy string, conditions *admission.Conditions, s *input) (bool, error) {
	begun := time.Now()
	verdict, err := conditions.Match(ctx, s.costs, s.at, s.params, p.Authorizer)
	p.Metrics.Conditions(policy, "policy", "validate", string(s.at.GetOperation()), time.Since(begun), verdict.Errors, err == nil && !verdict.Matches)
	return verdict.Matches, err
}

// evaluationFailure returns the single decision for a policy that cannot be evaluated. It denies the request unless the
// failurePolicy is Ignore.
func evaluationFailure(one *policy[*validator], err error) []decision {
	return []decision{{denies: !one.ignores, isError: true, message: err.Error()}}
}

// decide returns the decision for one validation, from the results of its expression and of its messageExpression.
func decide(one *policy[*validator], v *registration.Validation, result cel.EvaluationResult, message *cel.EvaluationResult, messageErr error) decision {
	d := decision{took: result.Elapsed}
	switch {
	case result.Error != nil:
		d.denies, d.isError, d.message = !one.ignores, true, result.Error.Error()
	case errors.Is(messageErr, apiservercel.ErrInternal) || errors.Is(messageErr, apiservercel.ErrOutOfBudget):
		d.denies, d.isError, d.message = !one.ignores, true, fmt.Sprintf("failed messageExpression: %s", messageErr)
	case result.EvalResult != types.True:
		d.denies, d.reason, d.message = true, metav1.StatusReasonInvalid, messageOf(v, message)
		if v.Reason != nil {
			d.reason = *v.Reason
		}
	}
	return d
}

// messageOf returns the message for a failed validation: the value of its messageExpression if it is a single line within the
// size limit, otherwise its message, or its expression if it has none.
func messageOf(v *registration.Validation, message *cel.EvaluationResult) string {
	if message != nil && message.Error == nil && message.EvalResult != nil {
		if text, ok := message.EvalResult.Value().(string); ok {
			text = strings.TrimSpace(text)
			if text != "" && len(text) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(text, "\n") {
				return text
			}
		}
	}
	if v.Message != "" {
		return strings.TrimSpace(v.Message)
	}
	return fmt.Sprintf("failed expression: %v", strings.TrimSpace(v.Expression))
}

// annotate returns a decision for each audit annotation that cannot be evaluated, which denies the request independently of
// the binding's validationActions. The values are discarded: the audit log does not contain the audit annotations of policies.
func annotate(one *policy[*validator], all []registration.AuditAnnotation, values []cel.EvaluationResult) (decisions []decision) {
	for i, value := range values {
		d := decision{denies: !one.ignores, isError: true, isAnnotation: true, took: value.Elapsed}
		switch {
		case value.Error != nil:
			d.message = value.Error.Error()
		case value.EvalResult.Type() != types.StringType && value.EvalResult.Type() != types.NullType:
			d.denies = true
			d.message = fmt.Sprintf("valueExpression '%v' resulted in unsupported return type: %v. Return type must be either string or null.",
				all[i].ValueExpression, value.EvalResult.Type())
		default:
			continue
		}
		if d.denies {
			decisions = append(decisions, d)
		}
	}
	return decisions
}
