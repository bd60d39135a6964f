package admission

import (
	"maps"

	"github.com/cadastre/cadastre/document"
)

// Reinvocation tracks the second run of the mutating plugins of one write. The chain runs a second time if a webhook or
// policy changed the object. In the second run in-tree plugins are called again, and webhooks and policies if their
// reinvocationPolicy is IfNeeded and the object changed after they were called. There are at most two runs.
type Reinvocation struct {
	// LastObject is the object as the mutating webhooks left it in the first run.
	LastObject document.Value

	isSecond, isRequired bool
	// called are the eligible webhooks and policies that were called since the object last changed; again are those
	// that are called in the second run.
	called, again map[string]bool
}

// IsSecond reports whether this is the second run.
func (r *Reinvocation) IsSecond() bool { return r.isSecond }

// Skips reports whether a webhook or policy, named by its id, is left out of the second run.
func (r *Reinvocation) Skips(id string) bool { return r.isSecond && !r.again[id] }

// Called records that a webhook or policy was called, whether it is eligible for reinvocation, and whether it changed
// the object.
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

// RequirePrevious makes the second run include every eligible webhook and policy that was called so far.
func (r *Reinvocation) RequirePrevious() {
	if r.again == nil {
		r.again = map[string]bool{}
	}
	maps.Copy(r.again, r.called)
	r.called = nil
}

// begin starts the second run, if one is required.
func (r *Reinvocation) begin() bool {
	if r.isSecond || !r.isRequired {
		return false
	}
	r.isSecond = true
	return true
}
