package api

import (
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxCauseBytes is the total size of a Status's causes above which further causes are omitted. Without the limit, causes that
// contain a whole list and are reported for each item would be quadratic in size.
const maxCauseBytes = 1 << 20

// Invalid returns the 422 Status for an object that fails validation. The result equals the result of apierrors.NewInvalid,
// except that causes beyond maxCauseBytes are omitted. It does not call apierrors.NewInvalid, whose time and memory are
// quadratic in the number of errors: it takes minutes for a body of 3 MiB with an error in every item of a list.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	causes := make([]metav1.StatusCause, 0, len(errs))
	for size := 0; len(causes) < len(errs) && size < maxCauseBytes; {
		err := errs[len(causes)]
		cause := metav1.StatusCause{Type: metav1.CauseType(err.Type), Message: err.ErrorBody(), Field: err.Field}
		causes = append(causes, cause)
		size += len(cause.Message) + len(cause.Field)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Message: fmt.Sprintf("%s %q is invalid%s", kind, name, causesText(causes, len(errs) > len(causes))),
		Details: &metav1.StatusDetails{Group: kind.Group, Kind: kind.Kind, Name: name, Causes: causes},
	}}
}

// causesText returns the end of the Status message: the distinct causes after ": ", in brackets if there are several, or "" if
// there is none. If truncated is true, the list of causes ends with "and more".
func causesText(causes []metav1.StatusCause, truncated bool) string {
	var all strings.Builder
	seen := make(map[string]bool, len(causes))
	for _, cause := range causes {
		text := cause.Field + ": " + cause.Message
		if seen[text] {
			continue
		}
		if len(seen) > 0 {
			all.WriteString(", ")
		}
		seen[text] = true
		all.WriteString(text)
	}
	switch {
	case truncated:
		all.WriteString(", and more")
	case len(seen) == 0:
		return ""
	case len(seen) == 1:
		return ": " + all.String()
	}
	return ": [" + all.String() + "]"
}
