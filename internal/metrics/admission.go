package metrics

import (
	"strconv"
	"time"
)

// The values of the label type of webhooks, as in Kubernetes.
const (
	Mutating   = "admit"
	Validating = "validating"
)

// HookError is the label error_type of rejections.
type HookError string

// The error types.
const (
	NoHookError HookError = "no_error" // the webhook denied the request
	CallError   HookError = "calling_webhook_error"
	ServerError HookError = "apiserver_internal_error"
	maxCode               = 600
)

// HookCall is a completed call of a webhook.
type HookCall struct {
	Name, Type, Operation string
	Took                  time.Duration
	// Rejected reports whether the request was rejected because of the call.
	Rejected bool
	// Code is the HTTP status code of the response.
	Code int
}

// Hook counts a webhook call.
func (m *Metrics) Hook(c HookCall) {
	rejected := strconv.FormatBool(c.Rejected)
	m.families.hookRequests.WithLabelValues(c.Name, c.Type, c.Operation, strconv.Itoa(min(c.Code, maxCode)), rejected).Inc()
	m.families.hookTimes.WithLabelValues(c.Name, c.Type, c.Operation, rejected).Observe(c.Took.Seconds())
}

// HookRejection counts a request that was rejected because of a webhook.
func (m *Metrics) HookRejection(c HookCall, why HookError) {
	m.families.hookRejections.WithLabelValues(c.Name, c.Type, c.Operation, string(why), strconv.Itoa(min(c.Code, maxCode))).Inc()
}

// HookFailOpen counts a failed call that was ignored (failurePolicy: Ignore).
func (m *Metrics) HookFailOpen(name, hookType string) {
	m.families.hookFailOpen.WithLabelValues(name, hookType).Inc()
}

// Conditions counts an evaluation of the match conditions of a webhook or policy.
func (m *Metrics) Conditions(name, kind, hookType, operation string, took time.Duration, errs int, excluded bool) {
	m.families.conditionTimes.WithLabelValues(name, kind, hookType, operation).Observe(took.Seconds())
	if errs > 0 {
		m.families.conditionErrors.WithLabelValues(name, kind, hookType, operation).Add(float64(errs))
	}
	if excluded {
		m.families.conditionMisses.WithLabelValues(name, kind, hookType, operation).Inc()
	}
}

// Policy counts a failed validation of a policy.
func (m *Metrics) Policy(policy, binding, problem, action string, took time.Duration) {
	m.families.policyChecks.WithLabelValues(policy, binding, problem, action).Inc()
	m.families.policyCheckTimes.WithLabelValues(policy, binding, problem, action).Observe(took.Seconds())
}
