package webhookclient

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// CallError is the error of a webhook call that failed or returned an invalid response. A denial is not a CallError.
type CallError struct {
	Webhook string
	// Reason is the cause.
	Reason error
	// Status is the status that the webhook, or a proxy, returned; a 503 if there is none.
	Status *apierrors.StatusError
}

// Failed returns the error for a failed call.
func Failed(webhook string, err error) *CallError {
	status := (*apierrors.StatusError)(nil)
	if !errors.As(err, &status) {
		status = apierrors.NewServiceUnavailable("error calling webhook")
	}
	return &CallError{Webhook: webhook, Reason: fmt.Errorf("failed to call webhook: %w", err), Status: status}
}

// Error implements error.
func (e *CallError) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %v", e.Webhook, e.Reason)
}

// Unwrap returns the reason.
func (e *CallError) Unwrap() error { return e.Reason }

// Code returns the HTTP code of the status, for metrics.
func (e *CallError) Code() int { return int(e.Status.ErrStatus.Code) }
