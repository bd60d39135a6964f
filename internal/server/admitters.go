package server

import (
	"context"
	"errors"
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/follow"
	"github.com/cadastre/cadastre/internal/hooks"
	"github.com/cadastre/cadastre/internal/namespaces"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/policies"
	"github.com/cadastre/cadastre/internal/rbac"
	"github.com/cadastre/cadastre/internal/store"
)

// admitters are those who have a say in writes, as users configure them: webhooks and policies.
type admitters struct {
	hooks    *hooks.Hooks
	policies *policies.Policies
	follower *follow.Follower
}

// followAdmitters returns those that there are, and follows what happens to them.
func followAdmitters(ctx context.Context, all *objects.Objects, who *rbac.Authorizer) (a *admitters, err error) {
	a = &admitters{}
	namespaces, authorizer := namespacesOf(all.Cache), admit.Authorizer(who)
	if a.hooks, err = hooks.New(hooks.Options{Namespaces: namespaces, Authorizer: authorizer, Metrics: all.Metrics, Log: all.Log}); err != nil {
		return nil, err
	}
	a.policies = policies.New(policies.Options{
		Cache: all.Cache, Kinds: all.Kinds, Namespaces: namespaces, Authorizer: authorizer, Metrics: all.Metrics, Log: all.Log,
	})
	a.follower, err = follow.Start(ctx, follow.Options{
		Cache: all.Cache, Kinds: slices.Concat(hooks.Kinds, policies.Kinds), Keeper: follow.Whole(a.set),
		Log: all.Log, About: "who has a say in writes",
	})
	return a, err
}

// set takes what there is of a kind. Each looks at its own.
func (a *admitters) set(kind string, objects map[string]*cache.Object) {
	a.hooks.Set(kind, objects)
	a.policies.Set(kind, objects)
}

func (a *admitters) close() {
	if a.follower != nil {
		a.follower.Close()
	}
	a.hooks.Close()
}

// namespacesOf returns the namespaces of a cache.
func namespacesOf(c *cache.Cache) admit.Namespaces {
	return func(ctx context.Context, name string) (document.Value, error) {
		there, err := c.Get(ctx, cache.Key{Kind: namespaces.Kind, Name: name}, cache.Any)
		if errors.Is(err, store.ErrNotFound) {
			return document.Value{}, nil
		}
		if err != nil {
			return document.Value{}, objects.StoreError(err)
		}
		return there.WithoutManagedFields()
	}
}

// Concern implements objects.Admission.
func (a *admitters) Concern(s admit.Subject, operation admit.Operation) (mutating, validating bool) {
	mutating, validating = a.hooks.Concern(s, operation)
	return mutating, validating || a.policies.Concern(s, operation)
}

// Mutate implements objects.Admission. If somebody changed the object, those are asked again who want that.
func (a *admitters) Mutate(ctx context.Context, q *admit.Question) error {
	rounds := &hooks.Rounds{}
	if err := a.hooks.Mutate(ctx, q, rounds); err != nil || !rounds.Second() {
		return err
	}
	return a.hooks.Mutate(ctx, q, rounds)
}

// Validate implements objects.Admission. Policies come first, as in Kubernetes: they cost less.
func (a *admitters) Validate(ctx context.Context, q *admit.Question) error {
	if err := a.policies.Validate(ctx, q); err != nil {
		return err
	}
	return a.hooks.Validate(ctx, q)
}
