package policy

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/admission"
)

// forbidden returns the 403 for a write that policies deny.
func forbidden(a *admission.Record, err error) *apierrors.StatusError {
	return apierrors.NewForbidden(a.GroupResource(), nameOf(a), err)
}

// nameOf returns the object's name for error messages: the first that is not empty of the name of the request, its
// generateName, the name in the object, and "Unknown". The name of the request is empty in mutating policies if it is
// generated.
func nameOf(a *admission.Record) string {
	if a.Name != "" {
		return a.Name
	}
	metadata := a.Object.Get("metadata")
	for _, field := range []string{"generateName", "name"} {
		if name := metadata.Get(field).Text(); name != "" {
			return name
		}
	}
	return "Unknown"
}

// outOfBudget is the value of the metric label error_type for exceeded cost budgets.
const outOfBudget = "out_of_budget"

// messageErrorType returns the value of the metric label error_type for an error message; "" means no error.
func messageErrorType(message string) string {
	switch {
	case message == "":
		return "no_error"
	case strings.HasPrefix(message, "compilation"):
		return "compile_error"
	case strings.HasPrefix(message, "validation failed due to running out of cost budget"):
		return outOfBudget
	default:
		return "invalid_error"
	}
}

// errorType returns the value of the metric label error_type for an error, which may be nil.
func errorType(err error) string {
	if err == nil {
		return messageErrorType("")
	}
	if errors.Is(err, admission.ErrCostBudget) {
		return outOfBudget
	}
	return messageErrorType(err.Error())
}
