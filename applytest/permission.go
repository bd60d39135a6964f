package applytest

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// A permission that the user lacks is not a failure of the server. Therefore an unexpected 403 response only skips the
// script if the user has limited permissions; it fails the script if the user has all permissions.

// permissionError is the error for a request that the user may not send. message is the server's message.
type permissionError struct{ message string }

func (e *permissionError) Error() string { return "permission denied: " + e.message }

func isPermissionError(err error) bool {
	var e *permissionError
	return errors.As(err, &e)
}

// allAccessReview is a SelfSubjectAccessReview for all verbs on all resources.
const allAccessReview = `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",` +
	`"spec":{"resourceAttributes":{"verb":"*","group":"*","resource":"*"}}}`

// hasAllPermissions reports whether the user has all permissions. It returns true for a server without the API
// authorization.k8s.io.
func (s *server) hasAllPermissions(ctx context.Context) (bool, error) {
	resp, err := s.send(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", strings.NewReader(allAccessReview), "application/json")
	if err != nil {
		return false, err
	}
	allowed := resp.body.Lookup("status", "allowed")
	return allowed.IsAbsent() || allowed.JSON() == "true", nil
}

// permissionErrorOf returns a permissionError if the response is a 403 and the user has limited permissions, and nil in
// all other cases. If the user lacks a permission for a single field, such as the allocation of a ResourceClaim, the
// response is a 422, for which permissionErrorOf returns nil.
func (s *server) permissionErrorOf(resp *serverResponse) error {
	message := resp.body.Get("message").Text()
	isDenied := resp.code == http.StatusForbidden || resp.code == http.StatusUnprocessableEntity && strings.Contains(message, ` is forbidden: User "`)
	if !isDenied || s.allPermissions {
		return nil
	}
	return &permissionError{message}
}
