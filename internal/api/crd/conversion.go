package crd

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// conversionError is the error of an object that could not be converted. A retry may succeed.
type conversionError struct {
	status *apierrors.StatusError
	// answered says that the webhook answered: a retry with the same definition gets the same answer.
	answered bool
}

func newConversionError(err error) *conversionError {
	var unavailable *unavailableError
	return &conversionError{plainError(err), !errors.As(err, &unavailable)}
}

// unavailableError is the error of a webhook that did not answer: it could not be reached, or not in time.
type unavailableError struct{ error }

// Unwrap returns the cause.
func (e *unavailableError) Unwrap() error { return e.error }

// IsUnavailable reports whether an object could not be converted because the webhook did not answer.
func IsUnavailable(err error) bool {
	var failed *conversionError
	return errors.As(err, &failed) && !failed.answered
}

// Error implements error.
func (e *conversionError) Error() string { return e.status.Error() }

// Unwrap returns the API status, and the error by which the apply engine recognizes failed conversions.
func (e *conversionError) Unwrap() []error { return []error{e.status, apply.ErrConversionUnavailable} }

// plainError returns an API status of code 500 without a reason, as Kubernetes has it for failed conversions.
func plainError(err error) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}

// Converter converts objects between versions.
type Converter interface {
	// Convert returns objects at another apiVersion, unpruned: those before the first that failed, and the error of that
	// one.
	Convert(ctx context.Context, all []document.Value, to string) ([]document.Value, error)
}

// NewConverter returns the converter of a definition's conversion strategy.
func NewConverter(d *Definition, webhooks Webhooks) Converter {
	if d.ConversionIsNone() {
		return none{}
	}
	return newWebhook(d, webhooks)
}

// ConversionIsNone reports whether the conversion strategy is None: versions differ only in apiVersion and schema.
func (d *Definition) ConversionIsNone() bool { return d.conversion.Get("strategy").Text() != "Webhook" }

// none is the conversion strategy None: it changes only the apiVersion.
type none struct{}

// Convert implements Converter.
func (none) Convert(_ context.Context, all []document.Value, to string) ([]document.Value, error) {
	converted := make([]document.Value, len(all))
	for i, doc := range all {
		converted[i] = doc.With("apiVersion", document.NewString(to))
	}
	return converted, nil
}
