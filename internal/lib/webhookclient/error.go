package webhookclient

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// CallError is the error of a webhook call that failed or returned an invalid response. A response that denies the request is not
// a CallError.
type CallError struct {
	// Webhook is the name of the webhook in its configuration.
	Webhook string
	// Reason is the cause of the failure.
	Reason error
	// Status is the API Status that the webhook, or a proxy in between, returned; status code 503 if there was no response.
	Status *apierrors.StatusError
}

// Failed returns the CallError for a call of the named webhook that failed with err.
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

// Unwrap returns Reason.
func (e *CallError) Unwrap() error { return e.Reason }

// Code returns the HTTP status code of Status, for metrics.
func (e *CallError) Code() int { return int(e.Status.ErrStatus.Code) }
