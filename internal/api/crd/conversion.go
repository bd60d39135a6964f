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
	// responded reports whether the webhook responded: a retry with the same definition yields the same response.
	responded bool
}

func newConversionError(err error) *conversionError {
	var unavailable *unavailableError
	return &conversionError{plainError(err), !errors.As(err, &unavailable)}
}

// unavailableError is the error of a webhook that did not respond: it was unreachable or timed out.
type unavailableError struct{ error }

// Unwrap returns the cause.
func (e *unavailableError) Unwrap() error { return e.error }

// IsUnavailable reports whether a conversion failed because the webhook did not respond.
func IsUnavailable(err error) bool {
	var failed *conversionError
	return errors.As(err, &failed) && !failed.responded
}

// Error implements error.
func (e *conversionError) Error() string { return e.status.Error() }

// Unwrap returns the API Status, and the error by which the apply engine recognizes failed conversions.
func (e *conversionError) Unwrap() []error { return []error{e.status, apply.ErrConversionUnavailable} }

// plainError returns an API Status with code 500 and no reason, which Kubernetes returns for failed conversions.
func plainError(err error) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}

// Converter converts objects between versions.
type Converter interface {
	// Convert returns objects converted to another apiVersion, unpruned: those before the first failure, and its error.
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

// none is the conversion strategy None, which changes the apiVersion only.
type none struct{}

// Convert implements Converter.
func (none) Convert(_ context.Context, all []document.Value, to string) ([]document.Value, error) {
	converted := make([]document.Value, len(all))
	for i, doc := range all {
		converted[i] = doc.With("apiVersion", document.NewString(to))
	}
	return converted, nil
}
