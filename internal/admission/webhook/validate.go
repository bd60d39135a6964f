package webhook

import (
	"context"
	"sync"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/lib/parallel"
)

// Validating returns the admission plugin ValidatingAdmissionWebhook.
func (w *Webhooks) Validating() admission.Plugin { return &validatingPlugin{webhooks: w} }

type validatingPlugin struct {
	admission.ValidatingOnly
	webhooks *Webhooks
}

// Name implements admission.Plugin.
func (*validatingPlugin) Name() string { return "ValidatingAdmissionWebhook" }

// Handles implements admission.Plugin. Webhooks are called for no-op writes, too, because their response may depend on the
// user.
func (p *validatingPlugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if !anyMayMatch(p.webhooks.validating.Load(), operation, r) {
		return 0
	}
	return admission.Validating | admission.NoOps
}

// Validate calls the validating webhooks concurrently and waits for all of them. If several reject the request, the client
// receives the error of the webhook that is first in the order of their configurations.
func (p *validatingPlugin) Validate(ctx context.Context, attributes *admission.Attributes) error {
	a := admission.RecordOf(attributes)
	calls, err := p.invocations(ctx, a)
	if err != nil || len(calls) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return errDeadlineExceeded
	}
	return p.webhooks.sendAll(ctx, a, calls)
}

// sendAll makes the calls concurrently and returns the error of the first call in the list that failed; nil if none failed.
func (w *Webhooks) sendAll(ctx context.Context, a *admission.Record, calls []invocation) error {
	var mu sync.Mutex // held while a response is applied
	errs := make([]error, len(calls))
	parallel.Each(len(calls), len(calls), func(i int) {
		errs[i] = w.send(ctx, calls[i], func(r *response) error {
			mu.Lock()
			defer mu.Unlock()
			return checkResponse(a, calls[i].webhook.name, r)
		})
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// invocations returns an invocation for each webhook that matches a request.
func (p *validatingPlugin) invocations(ctx context.Context, a *admission.Record) (calls []invocation, err error) {
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

// checkResponse adds the warnings of a validating webhook's response, and returns an error if the webhook denied the
// request.
func checkResponse(a *admission.Record, name string, r *response) error {
	for _, text := range r.warnings {
		a.Warn(text)
	}
	if r.allowed {
		return nil
	}
	return newDenial(name, r.status)
}
