package hooks

import (
	"context"

	"github.com/cadastre/cadastre/internal/admit"
)

// Mutate asks the mutating webhooks about a write. What they make of the object is the question's object then.
func (h *Hooks) Mutate(ctx context.Context, q *admit.Question, r *Rounds) error {
	hooks := h.mutating.Load()
	if hooks == nil {
		return nil
	}
	for _, hook := range *hooks {
		form, ok, err := h.match(ctx, hook, q)
		if err != nil {
			return err
		}
		if !ok || r.isSecond && !r.again[hook.id] {
			continue // who was not asked before is not asked in the second round
		}
		changed := false
		err = h.ask(ctx, hook, q, form, func(v *verdict) (err error) {
			changed, err = take(q, hook.name, form, v)
			return err
		})
		r.asked(hook, changed)
		if err != nil {
			return err
		}
	}
	return nil
}

// take takes the answer of a mutating webhook.
func take(q *admit.Question, webhook string, form admit.Form, v *verdict) (changed bool, err error) {
	for _, text := range v.warnings {
		q.Warn(text)
	}
	if !v.allowed {
		return false, refused(webhook, v.why)
	}
	if len(v.patch) == 0 {
		return false, nil
	}
	return patch(q, webhook, form, v)
}
