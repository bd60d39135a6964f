package policy

import (
	"context"
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/internal/admission"
)

// Validating returns the admission plugin ValidatingAdmissionPolicy.
func (p *Policies) Validating() admission.Plugin { return &validatingPlugin{policies: p} }

type validatingPlugin struct {
	admission.ValidatingOnly
	policies *Policies
}

// Name implements admission.Plugin.
func (*validatingPlugin) Name() string { return "ValidatingAdmissionPolicy" }

// Handles implements admission.Plugin. Policies validate no-op writes, too, because a validation may depend on the user.
func (p *validatingPlugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if !p.policies.validating.mayMatch(operation, r) {
		return 0
	}
	return admission.Validating | admission.NoOps
}

// Validate implements admission.Plugin. It evaluates all policies, so that the client receives all warnings, and returns the
// first denial.
func (p *validatingPlugin) Validate(ctx context.Context, attributes *admission.Attributes) error {
	r := p.policies.newRequest(attributes)
	var first *denial
	for _, one := range p.policies.validating.load() {
		denials, err := p.policies.validate(ctx, r, one)
		if first == nil && len(denials) > 0 {
			first = &denials[0]
		}
		if errors.Is(err, admission.ErrCostBudget) {
			if first == nil {
				return forbidden(r.Record, err)
			}
			break
		}
		if err != nil {
			return err
		}
	}
	if first == nil {
		return nil
	}
	return first.error(r.Record)
}

// validate evaluates a policy for each of its invocations and returns the denials. A misconfigured policy or binding denies the
// request, too, unless the failurePolicy is Ignore. It returns admission.ErrCostBudget if the budget of the request is exhausted; the
// denials before that are valid.
func (p *Policies) validate(ctx context.Context, r *request, one *policy[*validator]) (denials []denial, err error) {
	misconfigured := func(m *misconfiguration[*validator]) {
		if !one.ignores {
			denials = append(denials, denial{decision{denies: true, message: m.Error()}, one.name, m.binding})
			r.Costs.Deny()
		}
	}
	matchAll(ctx, r, one, func(i invocation[*validator]) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return
		}
		at, conversionErr := r.view(i.version)
		if conversionErr != nil {
			misconfigured(&misconfiguration[*validator]{one, i.binding.name, fmt.Errorf("failed to convert object version: %w", conversionErr)})
			return
		}
		if loadErr := r.loadNamespace(ctx); loadErr != nil {
			err = loadErr
			return
		}
		decisions, evaluationErr := p.evaluate(ctx, one, r.input(at, i.version, i.params))
		for _, d := range decisions {
			if p.enforce(r.Record, one, i.binding, &d) {
				denials = append(denials, denial{d, one.name, i.binding.name})
				r.Costs.Deny()
			}
		}
		err = evaluationErr
	}, misconfigured)
	return denials, err
}
