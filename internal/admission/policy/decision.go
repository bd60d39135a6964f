package policies

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/admit"
)

// A decision is what a policy says of something that it looked at.
type decision struct {
	denies, isError bool
	// isAnnotation says that it is about an annotation: such errors are always refused.
	isAnnotation bool
	index        int
	message      string
	reason       metav1.StatusReason
	took         time.Duration
}

// problem is what metrics call a decision.
func (d *decision) problem() string {
	switch {
	case !d.denies && !d.isError:
		return "no_error"
	case strings.HasPrefix(d.message, "compilation"):
		return "compile_error"
	case strings.HasPrefix(d.message, "validation failed due to running out of cost budget"):
		return "out_of_budget"
	default:
		return "invalid_error"
	}
}

// A denial is a decision that refuses a write, and whose it is. The binding is "" if the policy itself is not right.
type denial struct {
	decision
	policy, binding string
}

// error is what the client is told.
func (d *denial) error(q *admit.Question) error {
	message := fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", d.policy, d.message)
	if d.binding != "" {
		message = fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", d.policy, d.binding, d.message)
	}
	err := apierrors.NewForbidden(resourceOf(q), nameOf(q), errors.New(message))
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

// codes are those of the reasons that a policy may give.
var codes = map[metav1.StatusReason]int32{
	metav1.StatusReasonForbidden:             http.StatusForbidden,
	metav1.StatusReasonUnauthorized:          http.StatusUnauthorized,
	metav1.StatusReasonRequestEntityTooLarge: http.StatusRequestEntityTooLarge,
	metav1.StatusReasonInvalid:               http.StatusUnprocessableEntity,
}

func resourceOf(q *admit.Question) schema.GroupResource { return q.Form().Resource.GroupResource() }

// nameOf is what the object of a question is called.
func nameOf(q *admit.Question) string {
	if q.Name != "" {
		return q.Name
	}
	metadata := q.Object.Get("metadata")
	for _, field := range []string{"name", "generateName"} {
		if name := metadata.Get(field).Text(); name != "" {
			return name
		}
	}
	return "Unknown"
}

// act does with a decision what a binding wants, and reports whether the write is refused.
func (p *Policies) act(q *admit.Question, one *policy, b *binding, d *decision) (refused bool) {
	count := func(action string) { p.Metrics.Policy(one.name, b.name, d.problem(), action, d.took) }
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
			refused = true
		case registration.Audit:
			count("audit")
		case registration.Warn:
			count("warn")
			q.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s", one.name, b.name, d.message))
		}
	}
	return refused
}
