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

// mostToldBytes is after how many bytes no more errors are told. Some show a list as a whole, for each of its items.
const mostToldBytes = 1 << 20

// Invalid is what clients are told of an object that breaks rules. It says what apierrors.NewInvalid
// does, which takes time and memory by the square of how many errors there are: with a body of 3 MiB that has a
// rule broken by every item of a list, it is busy for minutes, or ends for lack of memory.
func Invalid(kind schema.GroupKind, name string, errs field.ErrorList) error {
	causes := make([]metav1.StatusCause, 0, len(errs))
	for told := 0; len(causes) < len(errs) && told < mostToldBytes; {
		err := errs[len(causes)]
		cause := metav1.StatusCause{Type: metav1.CauseType(err.Type), Message: err.ErrorBody(), Field: err.Field}
		causes = append(causes, cause)
		told += len(cause.Message) + len(cause.Field)
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Message: fmt.Sprintf("%s %q is invalid%s", kind, name, inOne(causes, len(errs) > len(causes))),
		Details: &metav1.StatusDetails{Group: kind.Group, Kind: kind.Kind, Name: name, Causes: causes},
	}}
}

// inOne says all causes in one sentence, each once.
func inOne(causes []metav1.StatusCause, areMore bool) string {
	var all strings.Builder
	said := make(map[string]bool, len(causes))
	for _, cause := range causes {
		text := cause.Field + ": " + cause.Message
		if said[text] {
			continue
		}
		if len(said) > 0 {
			all.WriteString(", ")
		}
		said[text] = true
		all.WriteString(text)
	}
	switch {
	case areMore:
		all.WriteString(", and more")
	case len(said) == 0:
		return ""
	case len(said) == 1:
		return ": " + all.String()
	}
	return ": [" + all.String() + "]"
}
