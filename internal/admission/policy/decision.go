package policy

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/admission"
)

// decision is the result of evaluating one validation or one audit annotation of a policy.
type decision struct {
	denies, isError bool
	// isAnnotation reports a failure of an audit annotation, which denies the request independently of the binding's
	// validationActions.
	isAnnotation bool
	index        int
	message      string
	reason       metav1.StatusReason
	took         time.Duration
}

// errorType returns the value of the metric label error_type for the decision.
func (d *decision) errorType() string {
	if !d.denies && !d.isError {
		return messageErrorType("")
	}
	return messageErrorType(cmp.Or(d.message, "denied"))
}

// denial is a decision that denies a request, with the names of its policy and binding. The binding is "" if the policy
// itself is misconfigured.
type denial struct {
	decision
	policy, binding string
}

// error returns the denial as an API status error.
func (d *denial) error(a *admission.Record) error {
	message := fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", d.policy, d.message)
	if d.binding != "" {
		message = fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", d.policy, d.binding, d.message)
	}
	err := forbidden(a, errors.New(message))
	err.ErrStatus.Reason = d.reason
	if d.reason == "" {
		err.ErrStatus.Reason = metav1.StatusReasonInvalid
	}
	err.ErrStatus.Code = codes[err.ErrStatus.Reason]
	if err.ErrStatus.Code == 0 {
		err.ErrStatus.Code = http.StatusUnprocessableEntity
	}
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Message: message})
	return err
}

// codes maps the reasons that a validation may specify to HTTP status codes.
var codes = map[metav1.StatusReason]int32{
	metav1.StatusReasonForbidden:             http.StatusForbidden,
	metav1.StatusReasonUnauthorized:          http.StatusUnauthorized,
	metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge,
	metav1.StatusReasonInvalid:               http.StatusUnprocessableEntity,
}

// enforce performs the validationActions of a binding for a decision, and reports whether the request is denied.
func (p *Policies) enforce(a *admission.Record, one *policy[*validator], b *binding, d *decision) (denied bool) {
	count := func(action string) { p.Metrics.Policy(one.name, b.name, d.errorType(), action, d.took) }
	switch {
	case d.isAnnotation:
		count("deny")
		return true
	case !d.denies:
		if d.isError {
			count("allow")
		}
		return false
	}
	for _, action := range b.actions {
		switch action {
		case registration.Deny:
			count("deny")
			denied = true
		case registration.Audit:
			count("audit")
		case registration.Warn:
			count("warn")
			a.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", one.name, b.name, d.message))
		}
	}
	return denied
}
