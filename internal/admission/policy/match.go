package policy

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/internal/admission"
)

// invocation is a policy that matches a write through one of its bindings, with one parameter object.
type invocation[E any] struct {
	policy  *policy[E]
	binding *binding
	// version is the version of the resource that the policy's rules match.
	version admission.VersionedResource
	params  runtime.Object // nil if the policy or its binding has none
}

// misconfiguration is a policy that matches a write and cannot be evaluated, because it or one of its bindings is invalid.
type misconfiguration[E any] struct {
	policy *policy[E]
	// binding is the name of the invalid binding; "" if the policy is invalid.
	binding string
	err     error
}

// Error implements error.
func (m *misconfiguration[E]) Error() string {
	what := "policy"
	if m.binding != "" {
		what = "binding"
	}
	return fmt.Sprintf("failed to configure %s: %v", what, m.err)
}

// matchAll calls visit for each invocation of a policy for a write, and failed for each misconfiguration.
func matchAll[E any](ctx context.Context, r *request, one *policy[E], visit func(invocation[E]), failed func(*misconfiguration[E])) {
	v, ok, err := one.criteria.Match(ctx, r.Record)
	if err != nil {
		failed(&misconfiguration[E]{one, "", err})
		return
	}
	if !ok {
		return
	}
	kind, err := r.options.paramKind(one.params)
	if err != nil {
		failed(&misconfiguration[E]{one, "", err})
		return
	}
	for _, b := range one.bindings {
		if b.criteria != nil {
			if _, ok, err := b.criteria.Match(ctx, r.Record); err != nil {
				failed(&misconfiguration[E]{one, b.name, err})
				continue
			} else if !ok {
				continue
			}
		}
		params, err := r.options.collect(ctx, kind, b, r.Namespace)
		if err != nil {
			failed(&misconfiguration[E]{one, b.name, err})
			continue
		}
		for _, param := range params {
			visit(invocation[E]{one, b, v, param})
		}
	}
}
