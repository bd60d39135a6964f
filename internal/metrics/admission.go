package metrics

import (
	"strconv"
	"time"
)

// The values of the label type of webhook metrics, as in Kubernetes.
const (
	Mutating   = "admit"
	Validating = "validating"
)

// HookError is the value of the label error_type of the metric for requests that were rejected because of a webhook.
type HookError string

// The values of error_type.
const (
	NoHookError HookError = "no_error"                 // the webhook denied the request
	CallError   HookError = "calling_webhook_error"    // the call of the webhook failed
	ServerError HookError = "apiserver_internal_error" // an internal error of the server
)

// maxCode is the maximum status code in labels. Greater codes are reported as maxCode, so that a webhook cannot create an
// unlimited number of series.
const maxCode = 600

// HookCall is a completed call of an admission webhook.
type HookCall struct {
	// Name is the name of the webhook, Type is Mutating or Validating, Operation is the admission operation.
	Name, Type, Operation string
	Took                  time.Duration
	// Rejected reports whether the request was rejected because of the call.
	Rejected bool
	// Code is the HTTP status code that the metric reports for the call.
	Code int
}

// Hook counts a call of an admission webhook and its duration.
func (m *Metrics) Hook(c HookCall) {
	rejected := strconv.FormatBool(c.Rejected)
	m.families.hookRequests.WithLabelValues(c.Name, c.Type, c.Operation, strconv.Itoa(min(c.Code, maxCode)), rejected).Inc()
	m.families.hookTimes.WithLabelValues(c.Name, c.Type, c.Operation, rejected).Observe(c.Took.Seconds())
}

// HookRejection counts a request that was rejected because of a webhook.
func (m *Metrics) HookRejection(c HookCall, reason HookError) {
	m.families.hookRejections.WithLabelValues(c.Name, c.Type, c.Operation, string(reason), strconv.Itoa(min(c.Code, maxCode))).Inc()
}

// HookFailOpen counts a failed call of a webhook that was ignored because of failurePolicy: Ignore.
func (m *Metrics) HookFailOpen(name, hookType string) {
	m.families.hookFailOpen.WithLabelValues(name, hookType).Inc()
}

// Conditions records an evaluation of the match conditions of the named webhook or policy. took is its duration, errs is
// the number of conditions whose evaluation failed, and excluded reports whether the conditions excluded the request.
func (m *Metrics) Conditions(name, kind, hookType, operation string, took time.Duration, errs int, excluded bool) {
	m.families.conditionTimes.WithLabelValues(name, kind, hookType, operation).Observe(took.Seconds())
	if errs > 0 {
		m.families.conditionErrors.WithLabelValues(name, kind, hookType, operation).Add(float64(errs))
	}
	if excluded {
		m.families.conditionMisses.WithLabelValues(name, kind, hookType, operation).Inc()
	}
}

// Policy counts a failed validation of a ValidatingAdmissionPolicy with its duration. problem is the value of the label
// error_type, and action that of enforcement_action.
func (m *Metrics) Policy(policy, binding, problem, action string, took time.Duration) {
	m.families.policyChecks.WithLabelValues(policy, binding, problem, action).Inc()
	m.families.policyCheckTimes.WithLabelValues(policy, binding, problem, action).Observe(took.Seconds())
}

// Mutation counts the evaluation of a mutation of a MutatingAdmissionPolicy with its duration. problem is the label error_type.
func (m *Metrics) Mutation(policy, binding, problem string, took time.Duration) {
	m.families.mutations.WithLabelValues(policy, binding, problem).Inc()
	m.families.mutationTimes.WithLabelValues(policy, binding, problem).Observe(took.Seconds())
}
