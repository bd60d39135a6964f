package webhookclient

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A CallError is that a webhook could not be asked, or that its answer says nothing. That it refuses is no such error.
type CallError struct {
	Webhook string
	// Reason is what went wrong.
	Reason error
	// Status is what the webhook, or whoever stands before it, answered instead.
	Status *apierrors.StatusError
}

// Failed is the error for a call that failed.
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

// Code is the HTTP code of the status, for metrics.
func (e *CallError) Code() int { return int(e.Status.ErrStatus.Code) }
