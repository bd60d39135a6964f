package custom

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// conversionError is why an object could not be converted. It may be possible later.
type conversionError struct {
	status *apierrors.StatusError
	// isLate says that there was no answer in time.
	isLate bool
}

func newConversionError(err error) *conversionError {
	return &conversionError{plainError(err), errors.Is(err, context.DeadlineExceeded)}
}

// Error implements error.
func (e *conversionError) Error() string { return e.status.Error() }

// Unwrap returns what clients are told, and what the engine is.
func (e *conversionError) Unwrap() []error { return []error{e.status, apply.ErrUnavailable} }

// plainError is what clients are told of an object that can't be shown: as in Kubernetes no more than the words, without a
// reason.
func plainError(err error) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}

// converter brings objects to another version.
type converter interface {
	// Convert returns whole objects at another apiVersion: those before the first that can't be converted, and why it
	// can't.
	Convert(all []document.Value, to string) ([]document.Value, error)
}

// newConverter returns what a definition converts its objects by.
func newConverter(r *reading, webhooks Webhooks) converter {
	if r.conversion.Get("strategy").Text() == "Webhook" {
		return newWebhook(r, webhooks)
	}
	return none{}
}

// none is the conversion of definitions whose versions are all alike: only the apiVersion changes.
type none struct{}

// Convert implements converter.
func (none) Convert(all []document.Value, to string) ([]document.Value, error) {
	converted := make([]document.Value, len(all))
	for i, doc := range all {
		converted[i] = doc.With("apiVersion", document.NewString(to))
	}
	return converted, nil
}
