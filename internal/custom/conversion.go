package custom

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// conversionError is why an object could not be converted. It may be possible later.
type conversionError struct{ status *apierrors.StatusError }

// Error implements error.
func (e *conversionError) Error() string { return e.status.Error() }

// Unwrap returns what clients are told, and what the engine is.
func (e *conversionError) Unwrap() []error { return []error{e.status, apply.ErrUnavailable} }

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
func (none) Convert(doc document.Value, to string) (document.Value, error) {
	return doc.With("apiVersion", document.NewString(to)), nil
}
