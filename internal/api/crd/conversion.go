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

// conversionError reports that an object could not be converted between versions.
type conversionError struct {
	status *apierrors.StatusError
	// hasResponded reports whether the conversion webhook responded. If it is false, a retry may succeed.
	hasResponded bool
}

func newConversionError(err error) *conversionError {
	var unavailable *unavailableError
	return &conversionError{plainError(err), !errors.As(err, &unavailable)}
}

// unavailableError reports that a conversion webhook did not respond: it was unreachable or timed out.
type unavailableError struct{ error }

// Unwrap returns the error of the call to the webhook.
func (e *unavailableError) Unwrap() error { return e.error }

// IsUnavailable reports whether a conversion failed because the webhook did not respond.
func IsUnavailable(err error) bool {
	var failed *conversionError
	return errors.As(err, &failed) && !failed.hasResponded
}

// Error implements error.
func (e *conversionError) Error() string { return e.status.Error() }

// Unwrap returns the API Status, and apply.ErrConversionUnavailable, by which the apply engine recognizes failed conversions.
func (e *conversionError) Unwrap() []error { return []error{e.status, apply.ErrConversionUnavailable} }

// plainError returns an API Status with code 500, the message of err and no reason. Kubernetes returns such a Status for
// failed conversions.
func plainError(err error) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}}
}

// Converter converts objects between versions.
type Converter interface {
	// Convert returns the objects in all converted to the apiVersion to, without pruning them. If an object cannot be
	// converted, Convert returns the error and the results for the objects before that object.
	Convert(ctx context.Context, all []document.Value, to string) ([]document.Value, error)
}

// NewConverter returns the converter for a CRD's conversion strategy, None or Webhook.
func NewConverter(d *Definition, webhooks Webhooks) Converter {
	if d.ConversionIsNone() {
		return noneConverter{}
	}
	return newWebhook(d, webhooks)
}

// ConversionIsNone reports whether the conversion strategy is None, with which a conversion changes only the apiVersion.
func (d *Definition) ConversionIsNone() bool { return d.conversion.Get("strategy").Text() != "Webhook" }

// noneConverter implements the conversion strategy None, which changes only the apiVersion.
type noneConverter struct{}

// Convert implements Converter.
func (noneConverter) Convert(_ context.Context, all []document.Value, to string) ([]document.Value, error) {
	converted := make([]document.Value, len(all))
	for i, doc := range all {
		converted[i] = doc.With("apiVersion", document.NewString(to))
	}
	return converted, nil
}
