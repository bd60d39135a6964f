package webhook

import (
	"context"
	"sync"

	"github.com/cadastre/cadastre/internal/admission"
)

// Validating returns the plugin ValidatingAdmissionWebhook.
func (h *Webhooks) Validating() admission.Plugin { return &validatingPlugin{webhooks: h} }

type validatingPlugin struct {
	admission.ValidatingOnly
	webhooks *Webhooks
}

// Name implements admission.Plugin.
func (*validatingPlugin) Name() string { return "ValidatingAdmissionWebhook" }

// Handles implements admission.Plugin. Webhooks see no-ops, too: their verdict may depend on the user.
func (p *validatingPlugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if !anyMayMatch(p.webhooks.validating.Load(), operation, r) {
		return 0
	}
	return admission.Validating | admission.NoOps
}

// Validate calls the validating webhooks concurrently and waits for all of them. If several reject the request, the
// client receives the error of the first in order.
func (p *validatingPlugin) Validate(ctx context.Context, attributes *admission.Attributes) error {
	a := admission.RecordOf(attributes)
	calls, err := p.matching(ctx, a)
	if err != nil || len(calls) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return errTooLate
	}
	var (
		group sync.WaitGroup
		mu    sync.Mutex // held while a response is applied
	)
	errs := make([]error, len(calls))
	for i, call := range calls {
		group.Go(func() {
			errs[i] = p.webhooks.send(ctx, call, func(r *response) error {
				mu.Lock()
				defer mu.Unlock()
				return checkResponse(a, call.webhook.name, r)
			})
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// matching returns the calls of the webhooks that match a request.
func (p *validatingPlugin) matching(ctx context.Context, a *admission.Record) (calls []invocation, err error) {
	webhooks := p.webhooks.validating.Load()
	if webhooks == nil {
		return nil, nil
	}
	for _, w := range *webhooks {
		v, ok, err := p.webhooks.match(ctx, w, a)
		if err != nil {
			return nil, err
		}
		if ok {
			request, err := w.request(a, v)
			calls = append(calls, invocation{w, a.Operation, request, err})
		}
	}
	return calls, nil
}

// checkResponse applies the response of a validating webhook.
func checkResponse(a *admission.Record, name string, r *response) error {
	for _, text := range r.warnings {
		a.Warn(text)
	}
	if r.allowed {
		return nil
	}
	return denied(name, r.status)
}
