package applytest

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// A permission that the user lacks is not a failure of the server: an unexpected 403 response skips the script for a user
// with limited permissions, and fails it for a user with all permissions.

// permissionError is the error for a request that the user may not send. message is the server's message.
type permissionError struct{ message string }

func (d *permissionError) Error() string { return "permission denied: " + d.message }

func isPermissionError(err error) bool {
	var d *permissionError
	return errors.As(err, &d)
}

// allAccessReview is a SelfSubjectAccessReview for all verbs on all resources.
const allAccessReview = `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",` +
	`"spec":{"resourceAttributes":{"verb":"*","group":"*","resource":"*"}}}`

// hasAllPermissions reports whether the user has all permissions. It returns true for a server without the API
// authorization.k8s.io.
func (s *server) hasAllPermissions(ctx context.Context) (bool, error) {
	a, err := s.send(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", strings.NewReader(allAccessReview), "application/json")
	if err != nil {
		return false, err
	}
	allowed := a.body.Lookup("status", "allowed")
	return allowed.IsAbsent() || allowed.JSON() == "true", nil
}

// permissionErrorOf returns a permissionError if the response is a 403 and the user has limited permissions; otherwise
// nil. If the user lacks a permission for a single field, such as the allocation of a ResourceClaim, the response is a
// 422, for which permissionErrorOf returns nil.
func (s *server) permissionErrorOf(a *serverResponse) error {
	message := a.body.Get("message").Text()
	isDenied := a.code == http.StatusForbidden || a.code == http.StatusUnprocessableEntity && strings.Contains(message, ` is forbidden: User "`)
	if !isDenied || s.allPermissions {
		return nil
	}
	return &permissionError{message}
}
