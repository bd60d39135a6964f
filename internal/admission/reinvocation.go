package admission

import (
	"maps"

	"github.com/cadastre/cadastre/document"
)

// Reinvocation tracks the second run of the mutating plugins for one write. The chain runs a second time if a webhook or
// policy changed the object. The second run calls all in-tree plugins, and webhooks and policies with reinvocationPolicy
// IfNeeded after whose call the object changed. There are at most two runs.
type Reinvocation struct {
	// Policies and Webhooks are the calls of the plugins MutatingAdmissionPolicy and MutatingAdmissionWebhook.
	Policies, Webhooks Calls
}

// begin starts the second run and returns true if one is required and has not been started.
func (r *Reinvocation) begin() bool {
	if r.Policies.isSecond || !r.Policies.isRequired && !r.Webhooks.isRequired {
		return false
	}
	r.Policies.isSecond, r.Webhooks.isSecond = true, true
	return true
}

// Calls tracks which policies or webhooks of one plugin were called for a write. Each is identified by an id.
type Calls struct {
	// LastObject is the object after the last run of the plugin.
	LastObject document.Value

	isSecond, isRequired bool
	// called contains the ids of policies or webhooks with reinvocationPolicy IfNeeded that were called after the last change of
	// the object. again contains the ids of policies or webhooks that the second run calls.
	called, again map[string]bool
}

// IsSecond reports whether the chain is in its second run.
func (c *Calls) IsSecond() bool { return c.isSecond }

// Skips reports whether the second run must not call a webhook or policy. It is false in the first run.
func (c *Calls) Skips(id string) bool { return c.isSecond && !c.again[id] }

// Called records the call of a webhook or policy. eligible reports whether its reinvocationPolicy is IfNeeded, changed
// whether it changed the object.
func (c *Calls) Called(id string, eligible, changed bool) {
	if changed {
		c.Require()
	}
	if eligible {
		if c.called == nil {
			c.called = map[string]bool{}
		}
		c.called[id] = true
	}
}

// Require requires a second run, which calls every eligible webhook or policy of the plugin that has been called so far.
func (c *Calls) Require() {
	c.isRequired = true
	c.RequirePrevious()
}

// RequirePrevious makes the second run call every eligible webhook or policy that has been called so far.
func (c *Calls) RequirePrevious() {
	if c.again == nil {
		c.again = map[string]bool{}
	}
	maps.Copy(c.again, c.called)
	c.called = nil
}
