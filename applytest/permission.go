package applytest

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// What a user may not do says nothing about a server's apply. The rule: an answer 403 that a script does not expect is a
// skip for a user who may not do everything, and a failure for one who may.

// A denial is that the user may not do something that a run needs.
type denial struct{ message string }

func (d *denial) Error() string { return "you may not: " + d.message }

func isDenial(err error) bool {
	var d *denial
	return errors.As(err, &d)
}

// everything is the question whether the user may do all there is.
const everything = `{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",` +
	`"spec":{"resourceAttributes":{"verb":"*","group":"*","resource":"*"}}}`

// mayEverything asks the server. One that can't be asked denies nothing.
func (s *server) mayEverything(ctx context.Context) (bool, error) {
	a, err := s.send(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", strings.NewReader(everything), "application/json")
	if err != nil {
		return false, err
	}
	allowed := a.body.Lookup("status", "allowed")
	return allowed.IsAbsent() || allowed.JSON() == "true", nil
}

// denies says what the user may not do, if this is why the server has refused; nil if it is not. For single fields, such
// as the allocation of a claim, the denial is among what is invalid.
func (s *server) denies(a *answer) error {
	message := a.body.Get("message").Text()
	isDenied := a.code == http.StatusForbidden || a.code == http.StatusUnprocessableEntity && strings.Contains(message, ` is forbidden: User "`)
	if !isDenied || s.allowed {
		return nil
	}
	return &denial{message}
}
