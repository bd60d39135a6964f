package hooks

import (
	"context"
	"sync"

	"github.com/cadastre/cadastre/internal/admit"
)

// Validate asks the validating webhooks about a write, side by side, and waits for all.
func (h *Hooks) Validate(ctx context.Context, q *admit.Question) error {
	asked, err := h.matching(ctx, q)
	if err != nil || len(asked) == 0 {
		return err
	}
	if ctx.Err() != nil {
		return errTooLate
	}
	var group sync.WaitGroup
	one, errs := withLock(q), make([]error, len(asked))
	for i, a := range asked {
		group.Go(func() {
			errs[i] = h.ask(ctx, a.hook, one, a.form, func(v *verdict) error { return judge(one, a.hook.name, v) })
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err // the first in order: the same one each time
		}
	}
	return nil
}

// withLock returns a question that many may be asked at once.
func withLock(q *admit.Question) *admit.Question {
	var mu sync.Mutex
	one := *q
	one.Warn = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		q.Warn(text)
	}
	return &one
}

// invocation is a webhook that is to be asked, and how it sees objects.
type invocation struct {
	hook *hook
	form admit.Form
}

func (h *Hooks) matching(ctx context.Context, q *admit.Question) (asked []invocation, err error) {
	hooks := h.validating.Load()
	if hooks == nil {
		return nil, nil
	}
	for _, hook := range *hooks {
		form, ok, err := h.match(ctx, hook, q)
		if err != nil {
			return nil, err
		}
		if ok {
			asked = append(asked, invocation{hook, form})
		}
	}
	return asked, nil
}

// judge takes the answer of a validating webhook.
func judge(q *admit.Question, webhook string, v *verdict) error {
	for _, text := range v.warnings {
		q.Warn(text)
	}
	if v.allowed {
		return nil
	}
	return refused(webhook, v.why)
}
