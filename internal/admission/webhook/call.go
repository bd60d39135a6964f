package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
	"github.com/cadastre/cadastre/internal/metrics"
)

// errDeadlineExceeded is the API status error for a request whose deadline has passed.
var errDeadlineExceeded = apierrors.NewTimeoutError("request did not complete within requested timeout", 0)

// matchConditions reports whether the matchConditions of a webhook are true for a request, with the objects at the version v.
func (h *Webhooks) matchConditions(ctx context.Context, w *webhook, a *admission.Record, v admission.VersionedResource) (bool, error) {
	at, err := a.CEL(v)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	begun := time.Now()
	verdict, err := w.conditions.Match(ctx, a.Costs, at, nil, h.Authorizer)
	h.Metrics.Conditions(w.name, "webhook", w.kind, string(a.Operation), time.Since(begun), verdict.Errors, err == nil && !verdict.Matches)
	if err != nil {
		return false, apierrors.NewForbidden(a.GroupResource(), a.Name, err)
	}
	return verdict.Matches, nil
}

// invoke calls a webhook with the objects at the version v and applies its response with apply. It returns the API status
// error if the request is rejected; nil if it is admitted.
func (h *Webhooks) invoke(ctx context.Context, w *webhook, a *admission.Record, v admission.VersionedResource, apply func(*response) error) error {
	request, err := w.request(a, v)
	return h.send(ctx, invocation{w, a.Operation, request, err}, apply)
}

// request returns the AdmissionRequest that is sent to a webhook. Its error rejects the write independently of the
// failurePolicy.
func (w *webhook) request(a *admission.Record, v admission.VersionedResource) (*admissionv1.AdmissionRequest, error) {
	if a.DryRun && !w.supportsDryRun {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", w.name))
	}
	request, err := requestOf(a, v)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return request, nil
}

// invocation is a pending webhook call. If err is not nil, the webhook is not called and the invocation fails with err.
type invocation struct {
	webhook   *webhook
	operation admission.Operation
	request   *admissionv1.AdmissionRequest
	err       error
}

// send calls the webhook of an invocation, applies the response and updates the metrics. It returns the API status error if
// the request is rejected; nil if it is admitted.
func (h *Webhooks) send(ctx context.Context, i invocation, apply func(*response) error) error {
	w, err, begun := i.webhook, i.err, time.Now()
	var answer *response
	if err == nil {
		answer, err = h.call(ctx, w, i.request)
	}
	if err == nil {
		err = apply(answer)
	}
	call := metrics.HookCall{Name: w.name, Type: w.kind, Operation: string(i.operation), Took: time.Since(begun), Code: 200}
	defer func() { h.Metrics.Hook(call) }()
	var (
		failed *webhookclient.CallError
		denial *denial
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		call.Code = failed.Code()
		return h.handleFailure(ctx, w, failed, &call)
	case errors.As(err, &denial):
		call.Code, call.Rejected = int(denial.ErrStatus.Code), true
		h.Metrics.HookRejection(call, metrics.NoHookError)
		return &denial.StatusError
	default:
		call.Code, call.Rejected = 0, true
		h.Metrics.HookRejection(call, metrics.ServerError)
		return err
	}
}

// handleFailure applies the failurePolicy of a webhook whose call failed: it returns nil if the failurePolicy is Ignore,
// otherwise an internal error.
func (h *Webhooks) handleFailure(ctx context.Context, w *webhook, err *webhookclient.CallError, call *metrics.HookCall) error {
	clientGone := errors.Is(err, context.Canceled)
	if w.ignores {
		if !clientGone {
			h.Metrics.HookFailOpen(w.name, w.kind)
			h.Log.Warn("ignoring failed webhook call (failurePolicy: Ignore)", "webhook", w.name, "error", err)
		}
		if ctx.Err() != nil && w.kind == metrics.Mutating {
			return errDeadlineExceeded
		}
		return nil
	}
	call.Rejected = true
	if !clientGone {
		h.Metrics.HookRejection(*call, metrics.CallError)
		h.Log.Warn("rejecting request after failed webhook call (failurePolicy: Fail)", "webhook", w.name, "error", err)
	}
	return apierrors.NewInternalError(err)
}

// call sends an AdmissionReview to a webhook within the webhook's timeout, and decodes and validates the response.
func (h *Webhooks) call(ctx context.Context, w *webhook, request *admissionv1.AdmissionRequest) (*response, error) {
	review, err := newReview(w.versions, request)
	if err != nil {
		return nil, &webhookclient.CallError{
			Webhook: w.name, Reason: fmt.Errorf("could not create admission objects: %w", err),
			Status: apierrors.NewBadRequest("error creating admission objects"),
		}
	}
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	if err := h.client.Call(ctx, &w.target, review.request, review.answer); err != nil {
		return nil, webhookclient.Failed(w.name, err)
	}
	answer, err := review.response(w.kind == metrics.Mutating)
	if err != nil {
		return nil, &webhookclient.CallError{
			Webhook: w.name, Reason: fmt.Errorf("received invalid webhook response: %w", err),
			Status: apierrors.NewServiceUnavailable("error validating webhook response"),
		}
	}
	return answer, nil
}
