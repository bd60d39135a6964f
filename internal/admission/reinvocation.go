package admission

import (
	"maps"

	"github.com/cadastre/cadastre/document"
)

// Reinvocation tracks the second run of the mutating plugins for one write. The chain runs a second time if a webhook or
// policy changed the object. The second run calls all in-tree plugins, and those webhooks and policies whose
// reinvocationPolicy is IfNeeded and after whose call the object changed. There are at most two runs.
type Reinvocation struct {
	// LastObject is the object after the mutating webhooks of the first run.
	LastObject document.Value

	isSecond, isRequired bool
	// called contains the ids of webhooks and policies with reinvocationPolicy IfNeeded that were called after the last change
	// of the object. again contains the ids of the webhooks and policies to call in the second run.
	called, again map[string]bool
}

// IsSecond reports whether the chain is in its second run.
func (r *Reinvocation) IsSecond() bool { return r.isSecond }

// Skips reports whether the second run must not call a webhook or policy, which is identified by its id. It is false in the
// first run.
func (r *Reinvocation) Skips(id string) bool { return r.isSecond && !r.again[id] }

// Called records the call of a webhook or policy. eligible reports whether its reinvocationPolicy is IfNeeded; changed reports
// whether it changed the object.
func (r *Reinvocation) Called(id string, eligible, changed bool) {
	if changed {
		r.isRequired = true
		r.RequirePrevious()
	}
	if eligible {
		if r.called == nil {
			r.called = map[string]bool{}
		}
		r.called[id] = true
	}
}

// RequirePrevious makes the second run call every eligible webhook and policy that has been called so far.
func (r *Reinvocation) RequirePrevious() {
	if r.again == nil {
		r.again = map[string]bool{}
	}
	maps.Copy(r.again, r.called)
	r.called = nil
}

// begin starts the second run and returns true if one is required and has not been started.
func (r *Reinvocation) begin() bool {
	if r.isSecond || !r.isRequired {
		return false
	}
	r.isSecond = true
	return true
}
