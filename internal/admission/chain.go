package admission

import (
	"context"
	"slices"
	"sync/atomic"
)

// Chain is an ordered list of admission plugins. A nil Chain contains no plugins. It is safe for concurrent use.
type Chain struct {
	plugins []Plugin
	// generation counts the calls of Invalidate. A resolved Plan is valid only for the generation at which it was resolved.
	generation atomic.Uint64
}

// NewChain returns a chain that calls the plugins in the given order.
func NewChain(plugins ...Plugin) *Chain { return &Chain{plugins: plugins} }

// Plugins returns the plugins in the order in which they are called.
func (c *Chain) Plugins() []Plugin {
	if c == nil {
		return nil
	}
	return slices.Clone(c.plugins)
}

// Invalidate discards all resolved Plans, so that the chain calls Handles of every plugin again. A plugin whose Handles
// depends on configuration must call Invalidate after every change of that configuration.
func (c *Chain) Invalidate() { c.generation.Add(1) }

// Endpoint is the admission chain of one resource or subresource. It resolves once per operation which plugins handle it, so
// that a write that no plugin handles costs one check.
type Endpoint struct {
	chain    *Chain
	resource Resource
	resolved [len(operations)]atomic.Pointer[resolved]
}

type resolved struct {
	generation uint64
	plan       *Plan
}

// Endpoint returns the admission chain of one resource or subresource. Its Plans are resolved on first use.
func (c *Chain) Endpoint(r Resource) *Endpoint { return &Endpoint{chain: c, resource: r} }

// Resource returns the endpoint's resource.
func (e *Endpoint) Resource() Resource { return e.resource }

// Plan returns the plugins of the chain that handle an operation at the endpoint; nil if there are none.
func (e *Endpoint) Plan(operation Operation) *Plan {
	if e.chain == nil {
		return nil
	}
	slot := &e.resolved[slices.Index(operations[:], operation)]
	generation := e.chain.generation.Load()
	if r := slot.Load(); r != nil && r.generation == generation {
		return r.plan
	}
	r := &resolved{generation: generation, plan: e.chain.resolve(operation, e.resource)}
	slot.Store(r)
	return r.plan
}

func (c *Chain) resolve(operation Operation, r Resource) *Plan {
	p := &Plan{}
	for _, plugin := range c.plugins {
		phases := plugin.Handles(operation, r)
		if phases&Mutating != 0 {
			p.mutating = append(p.mutating, plugin)
			p.phases |= phases & (Mutating | NoOps)
		}
		if phases&Validating != 0 {
			p.validating = append(p.validating, plugin)
			p.phases |= Validating
			if phases&NoOps != 0 {
				p.validatingNoOps = append(p.validatingNoOps, plugin)
				p.phases |= NoOps
			}
		}
	}
	if p.phases == 0 {
		return nil
	}
	return p
}

// Plan contains the plugins of a chain that handle one operation at one endpoint. A nil Plan admits everything.
type Plan struct {
	phases                                Phase
	mutating, validating, validatingNoOps []Plugin
}

// Remote marks the plugins that call other servers, such as webhooks.
type Remote interface{ CallsServers() }

// Rehearsal returns the plan of a write that the client has not requested: the mutating plugins of p without those that call
// other servers. Errors of the plugins are ignored, so that the object gets what each plugin sets.
func (p *Plan) Rehearsal() *Plan {
	if p == nil {
		return nil
	}
	r := &Plan{phases: Mutating}
	for _, plugin := range p.mutating {
		if _, isRemote := plugin.(Remote); !isRemote {
			r.mutating = append(r.mutating, lenient{plugin})
		}
	}
	return r
}

// lenient is a plugin whose errors in Admit are ignored.
type lenient struct{ Plugin }

// Admit implements Plugin.
func (l lenient) Admit(ctx context.Context, a *Attributes) error {
	_ = l.Plugin.Admit(ctx, a)
	return nil
}

// Mutates reports whether the plan contains a mutating plugin.
func (p *Plan) Mutates() bool { return p != nil && len(p.mutating) > 0 }

// Validates reports whether the plan contains a validating plugin. If noOp is set, only plugins that validate no-op writes
// count.
func (p *Plan) Validates(noOp bool) bool { return len(p.validators(noOp)) > 0 }

// HandlesNoOps reports whether a plugin of the plan handles writes that leave the object unchanged.
func (p *Plan) HandlesNoOps() bool { return p != nil && p.phases&NoOps != 0 }

// Admit calls the mutating plugins in order. If a webhook or policy changed the object, Admit calls the plugins a second time,
// as kube-apiserver does. The second run calls webhooks and policies only if their reinvocationPolicy is IfNeeded.
func (p *Plan) Admit(ctx context.Context, a *Record) error {
	if !p.Mutates() {
		return nil
	}
	if err := p.admitOnce(ctx, a); err != nil || !a.Reinvocation.begin() {
		return err
	}
	a.errs, a.commits = nil, nil // the second run adds the errors and commits of every plugin again
	return p.admitOnce(ctx, a)
}

func (p *Plan) admitOnce(ctx context.Context, a *Record) error {
	for _, plugin := range p.mutating {
		if err := plugin.Admit(ctx, &a.Attributes); err != nil {
			return err
		}
	}
	return nil
}

// Validate calls the validating plugins in order and returns the first error. If noOp is set, only plugins that validate
// no-op writes are called.
func (p *Plan) Validate(ctx context.Context, a *Record, noOp bool) error {
	for _, plugin := range p.validators(noOp) {
		if err := plugin.Validate(ctx, &a.Attributes); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) validators(noOp bool) []Plugin {
	switch {
	case p == nil:
		return nil
	case noOp:
		return p.validatingNoOps
	}
	return p.validating
}
