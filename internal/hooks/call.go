package hooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/metrics"
	"github.com/cadastre/cadastre/internal/webhook"
)

// errTooLate is for a request whose time is over.
var errTooLate = apierrors.NewTimeoutError("request did not complete within requested timeout", 0)

// meets reports whether the conditions of a webhook are met.
func (h *Hooks) meets(ctx context.Context, hook *hook, q *admit.Question, form admit.Form) (bool, error) {
	at, err := q.Attributes(form)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	begun := time.Now()
	verdict, err := hook.conditions.Match(ctx, at, nil, h.Authorizer)
	h.Metrics.Conditions(hook.name, "webhook", hook.kind, string(q.Operation), time.Since(begun), verdict.Errors, err == nil && !verdict.Matches)
	if err != nil {
		own := q.Form().Resource
		return false, apierrors.NewForbidden(schema.GroupResource{Group: own.Group, Resource: own.Resource}, q.Name, err)
	}
	return verdict.Matches, nil
}

// ask asks a webhook, and takes what it answers. It returns why the request is refused.
func (h *Hooks) ask(ctx context.Context, hook *hook, q *admit.Question, form admit.Form, take func(*verdict) error) error {
	begun := time.Now()
	answer, err := h.call(ctx, hook, q, form)
	if err == nil {
		err = take(answer)
	}
	call := metrics.HookCall{Name: hook.name, Type: hook.kind, Operation: string(q.Operation), Took: time.Since(begun), Code: 200}
	defer func() { h.Metrics.Hook(call) }()
	var (
		failed  *webhook.CallError
		refused *refusal
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		call.Code = failed.Code()
		return h.failed(ctx, hook, failed, &call)
	case errors.As(err, &refused):
		call.Code, call.Rejected = int(refused.ErrStatus.Code), true
		h.Metrics.HookRejection(call, metrics.NoHookError)
		return &refused.StatusError
	default:
		call.Code, call.Rejected = 0, true
		h.Metrics.HookRejection(call, metrics.ServerError)
		return err
	}
}

// failed tells what becomes of a request if a webhook could not be asked.
func (h *Hooks) failed(ctx context.Context, hook *hook, err *webhook.CallError, call *metrics.HookCall) error {
	isOurs := errors.Is(err, context.Canceled) // the client is gone
	if hook.ignores {
		if !isOurs {
			h.Metrics.HookFailOpen(hook.name, hook.kind)
			h.Log.Warn("a webhook could not be asked, and is ignored", "webhook", hook.name, "error", err)
		}
		if ctx.Err() != nil && hook.kind == metrics.Mutating {
			return errTooLate
		}
		return nil
	}
	call.Rejected = true
	if !isOurs {
		h.Metrics.HookRejection(*call, metrics.CallError)
		h.Log.Warn("a webhook could not be asked, and the request is refused", "webhook", hook.name, "error", err)
	}
	return apierrors.NewInternalError(err)
}

// call calls a webhook and reads its answer.
func (h *Hooks) call(ctx context.Context, hook *hook, q *admit.Question, form admit.Form) (*verdict, error) {
	if q.DryRun && !hook.dryRuns {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", hook.name))
	}
	request, err := requestOf(q, form)
	if err != nil {
		return nil, apierrors.NewInternalError(err) // it is not the webhook's fault, and nothing that may be ignored
	}
	review, err := newReview(hook.versions, request)
	if err != nil {
		return nil, &webhook.CallError{
			Webhook: hook.name, Reason: fmt.Errorf("could not create admission objects: %w", err),
			Status: apierrors.NewBadRequest("error creating admission objects"),
		}
	}
	if hook.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, hook.timeout)
		defer cancel()
	}
	if err := h.caller.Call(ctx, &hook.target, review.request, review.answer); err != nil {
		return nil, webhook.Failed(hook.name, err)
	}
	answer, err := review.verdict(hook.kind == metrics.Mutating)
	if err != nil {
		return nil, &webhook.CallError{
			Webhook: hook.name, Reason: fmt.Errorf("received invalid webhook response: %w", err),
			Status: apierrors.NewServiceUnavailable("error validating webhook response"),
		}
	}
	return answer, nil
}
