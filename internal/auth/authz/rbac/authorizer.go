package rbac

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/informer"
)

// Authorizer says what users may do, by the roles and bindings that there are now. Its methods may
// be called concurrently.
type Authorizer struct {
	log      *slog.Logger
	follower *informer.Informer

	mu    sync.RWMutex
	index *index
}

// New returns an Authorizer that knows all roles and bindings of a cache, and follows what happens
// to them.
func New(ctx context.Context, c *watchcache.Cache, log *slog.Logger) (a *Authorizer, err error) {
	a = &Authorizer{log: log, index: newIndex()}
	if a.log == nil {
		a.log = slog.Default()
	}
	a.follower, err = informer.Start(ctx, informer.Options{Cache: c, Kinds: Resources, Handler: keeper{a}, Log: a.log, About: "RBAC rules"})
	return a, err
}

// Close ends following the cache.
func (a *Authorizer) Close() { a.follower.Close() }

// Allowed reports whether somebody may do something, and why; or why not, if there is more to say
// than that nothing allows it.
func (a *Authorizer) Allowed(at *Attributes) (allowed bool, reason string) {
	if at.User.In(authn.MastersGroup) {
		return true, ""
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if reason := a.index.allowed(at); reason != "" {
		return true, reason
	}
	if err := a.index.lacks(at.User, at.Namespace); err != nil {
		return false, "RBAC: " + err.Error()
	}
	return false, ""
}

// Check returns nil for what is allowed, and for what is not the error to answer with.
func (a *Authorizer) Check(at *Attributes) error {
	if allowed, reason := a.Allowed(at); !allowed {
		return at.Forbidden(reason)
	}
	return nil
}

// RulesFor returns the rules that a user has in a namespace. The error says which roles there
// should be; the others' rules are there all the same.
func (a *Authorizer) RulesFor(user *authn.User, namespace string) ([]rbacv1.PolicyRule, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	var rules []rbacv1.PolicyRule
	for _, b := range a.index.bindingsOf(user, namespace) {
		if b.role != nil {
			rules = append(rules, b.role.rules...)
		}
	}
	return rules, a.index.lacks(user, namespace)
}

// lacks says which roles are missing that bindings of a user refer to.
func (x *index) lacks(user *authn.User, namespace string) error {
	var lacks []error
	for _, b := range x.bindingsOf(user, namespace) {
		if lack := b.lack(); lack != "" {
			lacks = append(lacks, errors.New(lack))
		}
	}
	if lacks == nil {
		return nil
	}
	return utilerrors.NewAggregate(lacks)
}

// Sync waits until the index has what was written to a kind up to a revision. Whoever answers a
// writer calls it before, so that the writer's next request is judged by what it wrote. For other
// kinds it does nothing.
func (a *Authorizer) Sync(ctx context.Context, kind string, revision storage.Revision) error {
	return a.follower.Sync(ctx, kind, revision)
}
