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
	// isAnswered says that who converts was asked and has answered. As long as the definition is the same, so will the
	// next answer be.
	isAnswered bool
}

func newConversionError(err error) *conversionError {
	var no *unansweredError
	return &conversionError{plainError(err), !errors.As(err, &no)}
}

// unansweredError is why who converts has not said anything about objects: nobody can be reached, or there was no
// answer in time.
type unansweredError struct{ error }

// Unwrap returns the reason.
func (e *unansweredError) Unwrap() error { return e.error }

// isUnanswered reports whether an object could not be converted because nobody has answered.
func isUnanswered(err error) bool {
	var failed *conversionError
	return errors.As(err, &failed) && !failed.isAnswered
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
	Convert(ctx context.Context, all []document.Value, to string) ([]document.Value, error)
}

// newConverter returns what a definition converts its objects by.
func newConverter(r *reading, webhooks Webhooks) converter {
	if r.isAlike() {
		return none{}
	}
	return newWebhook(r, webhooks)
}

// isAlike reports whether all versions of a definition are alike but for the apiVersion.
func (r *reading) isAlike() bool { return r.conversion.Get("strategy").Text() != "Webhook" }

// none is the conversion of definitions whose versions are all alike: only the apiVersion changes.
type none struct{}

// Convert implements converter.
func (none) Convert(_ context.Context, all []document.Value, to string) ([]document.Value, error) {
	converted := make([]document.Value, len(all))
	for i, doc := range all {
		converted[i] = doc.With("apiVersion", document.NewString(to))
	}
	return converted, nil
}
