package policy

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/admission"
)

// forbidden returns the 403 for a write that policies deny.
func forbidden(a *admission.Record, err error) *apierrors.StatusError {
	return apierrors.NewForbidden(a.GroupResource(), nameOf(a), err)
}

// nameOf returns the object's name for error messages: the name of the request, or else its generateName, or else the name in the
// object, or else "Unknown". Mutating policies are evaluated before clients see a generated name.
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

// problemType returns the value of the metric label error_type for an error message; "" means no error.
func problemType(message string) string {
	switch {
	case message == "":
		return "no_error"
	case strings.HasPrefix(message, "compilation"):
		return "compile_error"
	case strings.HasPrefix(message, "validation failed due to running out of cost budget"):
		return "out_of_budget"
	default:
		return "invalid_error"
	}
}

// problemTypeOf returns the value of the metric label error_type for an error, which may be nil.
func problemTypeOf(err error) string {
	if err == nil {
		return problemType("")
	}
	return problemType(err.Error())
}
