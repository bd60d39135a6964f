package metrics

import (
	"strconv"
	"time"
)

// The types of webhooks, as Kubernetes calls them.
const (
	Mutating   = "admit"
	Validating = "validating"
)

// A HookError is why a webhook's call counts as failed.
type HookError string

// The errors of calls.
const (
	NoHookError HookError = "no_error" // the webhook said no
	CallError   HookError = "calling_webhook_error"
	ServerError HookError = "apiserver_internal_error"
	largestCode           = 600
)

// A HookCall is a call of a webhook.
type HookCall struct {
	Name, Type, Operation string
	Took                  time.Duration
	// Rejected says that the request was refused because of it.
	Rejected bool
	// Code is the HTTP code of the answer.
	Code int
}

// Hook counts a call.
func (m *Metrics) Hook(c HookCall) {
	rejected := strconv.FormatBool(c.Rejected)
	m.families.hookRequests.WithLabelValues(c.Name, c.Type, c.Operation, strconv.Itoa(min(c.Code, largestCode)), rejected).Inc()
	m.families.hookTimes.WithLabelValues(c.Name, c.Type, c.Operation, rejected).Observe(c.Took.Seconds())
}

// HookRejection counts a request that was refused because of a webhook.
func (m *Metrics) HookRejection(c HookCall, why HookError) {
	m.families.hookRejections.WithLabelValues(c.Name, c.Type, c.Operation, string(why), strconv.Itoa(min(c.Code, largestCode))).Inc()
}

// HookFailOpen counts a call that failed without harm.
func (m *Metrics) HookFailOpen(name, hookType string) {
	m.families.hookFailOpen.WithLabelValues(name, hookType).Inc()
}

// Conditions counts conditions that were asked.
func (m *Metrics) Conditions(name, kind, hookType, operation string, took time.Duration, errs int, excluded bool) {
	m.families.conditionTimes.WithLabelValues(name, kind, hookType, operation).Observe(took.Seconds())
	if errs > 0 {
		m.families.conditionErrors.WithLabelValues(name, kind, hookType, operation).Add(float64(errs))
	}
	if excluded {
		m.families.conditionNos.WithLabelValues(name, kind, hookType, operation).Inc()
	}
}

// Policy counts a validation that failed.
func (m *Metrics) Policy(policy, binding, problem, action string, took time.Duration) {
	m.families.policyChecks.WithLabelValues(policy, binding, problem, action).Inc()
	m.families.policyCheckTimes.WithLabelValues(policy, binding, problem, action).Observe(took.Seconds())
}
