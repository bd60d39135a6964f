package objects

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Invalid is what clients are told of an object that breaks rules. It is apierrors.NewInvalid, whose
// message takes time by the square of how many errors there are: with a body of 3 MiB that has a rule
// broken by every item of a list, it is busy for minutes.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	causes := make([]metav1.StatusCause, len(errs))
	for i, err := range errs {
		causes[i] = metav1.StatusCause{Type: metav1.CauseType(err.Type), Message: err.ErrorBody(), Field: err.Field}
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Message: fmt.Sprintf("%s %q is invalid%s", kind, name, inOne(errs)),
		Details: &metav1.StatusDetails{Group: kind.Group, Kind: kind.Kind, Name: name, Causes: causes},
	}}
}

// inOne says all errors in one sentence, each once.
func inOne(errs field.ErrorList) string {
	var all strings.Builder
	said := make(map[string]bool, len(errs))
	for _, err := range errs {
		text := err.Error()
		if said[text] {
			continue
		}
		if len(said) > 0 {
			all.WriteString(", ")
		}
		said[text] = true
		all.WriteString(text)
	}
	switch len(said) {
	case 0:
		return ""
	case 1:
		return ": " + all.String()
	}
	return ": [" + all.String() + "]"
}
