package rbac

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/union"

	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/informer"
)

// Authorizer authorizes requests by the stored roles and bindings. It implements authorizer.Authorizer and is safe for
// concurrent use.
type Authorizer struct {
	log      *slog.Logger
	follower *informer.Informer

	mu    sync.RWMutex
	index *index
}

// New returns an Authorizer for the roles and bindings in a watch cache. It loads all roles and bindings before it returns,
// and follows their changes until Close. A nil log means slog.Default.
func New(ctx context.Context, c *watchcache.Cache, log *slog.Logger) (a *Authorizer, err error) {
	a = &Authorizer{log: log, index: newIndex()}
	if a.log == nil {
		a.log = slog.Default()
	}
	a.follower, err = informer.Start(ctx, informer.Options{Cache: c, Kinds: Resources, Handler: indexUpdater{a}, Log: a.log, Description: "RBAC roles and bindings"})
	return a, err
}

// Close stops following the watch cache.
func (a *Authorizer) Close() { a.follower.Close() }

// Union returns an authorizer that calls the given authorizers in order, then last. The first authorizer that allows or denies
// a request decides. Members of system:masters are always allowed, so that administrators can repair a faulty configuration.
func Union(last authorizer.Authorizer, authorizers ...authorizer.Authorizer) authorizer.Authorizer {
	if len(authorizers) == 0 {
		return last
	}
	all := []union.NamedAuthorizer{{AuthorizerName: authn.MastersGroup, Authorizer: authorizer.AuthorizerFunc(allowMasters)}}
	for i, extension := range authorizers {
		all = append(all, union.NamedAuthorizer{AuthorizerName: fmt.Sprintf("extension %d", i+1), Authorizer: extension})
	}
	combined, err := union.New(append(all, union.NamedAuthorizer{AuthorizerName: "configured", Authorizer: last})...)
	if err != nil {
		panic(err) // cannot happen: New fails only for duplicate names
	}
	return combined
}

func allowMasters(_ context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
	if u := at.GetUser(); u != nil && authn.InGroup(u, authn.MastersGroup) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// Authorize implements authorizer.Authorizer. Its decision is Allow, or NoOpinion for a request that no rule allows; it never
// denies.
func (a *Authorizer) Authorize(_ context.Context, at authorizer.Attributes) (authorizer.Decision, string, error) {
	allowed, reason := a.Allowed(attributesOf(at))
	if allowed {
		return authorizer.DecisionAllow, reason, nil
	}
	return authorizer.DecisionNoOpinion, reason, nil
}

// ConditionsAwareAuthorize implements authorizer.Authorizer. Decisions of RBAC are unconditional.
func (a *Authorizer) ConditionsAwareAuthorize(ctx context.Context, at authorizer.Attributes) authorizer.ConditionsAwareDecision {
	return authorizer.ConditionsAwareDecisionFromParts(a.Authorize(ctx, at))
}

// EvaluateConditions implements authorizer.Authorizer. It always fails, because decisions of RBAC have no conditions.
func (a *Authorizer) EvaluateConditions(context.Context, authorizer.ConditionsAwareDecision, authorizer.ConditionsData) (authorizer.Decision, string, error) {
	return authorizer.DecisionDeny, "", authorizer.ErrorConditionEvaluationNotSupported
}

// Allowed reports whether a rule allows a request. For an allowed request, reason names the binding, or is "" for members of
// system:masters. For a request that is not allowed, reason names the roles that do not exist although bindings of the user
// refer to them.
func (a *Authorizer) Allowed(at *Attributes) (allowed bool, reason string) {
	if authn.InGroup(at.User, authn.MastersGroup) {
		return true, ""
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if reason := a.index.allowed(at); reason != "" {
		return true, reason
	}
	if err := a.index.missingRoles(at.User, at.Namespace); err != nil {
		return false, "RBAC: " + err.Error()
	}
	return false, ""
}

// PolicyRules returns the rules that a user has in a namespace. The error names the roles that do not exist although bindings
// of the user refer to them; all other rules are returned nevertheless.
func (a *Authorizer) PolicyRules(u user.Info, namespace string) ([]rbacv1.PolicyRule, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	var rules []rbacv1.PolicyRule
	for _, b := range a.index.bindingsOf(u, namespace) {
		if b.role != nil {
			rules = append(rules, b.role.rules...)
		}
	}
	return rules, a.index.missingRoles(u, namespace)
}

// RulesFor implements authorizer.RuleResolver with PolicyRules.
func (a *Authorizer) RulesFor(_ context.Context, u user.Info, namespace string) (resources []authorizer.ResourceRuleInfo, paths []authorizer.NonResourceRuleInfo, isIncomplete bool, err error) {
	rules, err := a.PolicyRules(u, namespace)
	for _, rule := range rules {
		if len(rule.Resources) > 0 {
			resources = append(resources, &authorizer.DefaultResourceRuleInfo{Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames})
		}
		if len(rule.NonResourceURLs) > 0 {
			paths = append(paths, &authorizer.DefaultNonResourceRuleInfo{Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs})
		}
	}
	return resources, paths, false, err
}

// missingRoles returns an error that names the roles which do not exist although bindings of a user refer to them; nil if
// there are none.
func (x *index) missingRoles(u user.Info, namespace string) error {
	var missing []error
	for _, b := range x.bindingsOf(u, namespace) {
		if text := b.missingRole(); text != "" {
			missing = append(missing, errors.New(text))
		}
	}
	if missing == nil {
		return nil
	}
	return utilerrors.NewAggregate(missing)
}

// Sync waits until the index includes all writes to the resource kind up to and including the given revision. Writes of roles
// and bindings call it before they are acknowledged, so that the client's next request is authorized by the new state. It
// returns immediately for other resources.
func (a *Authorizer) Sync(ctx context.Context, kind string, revision storage.Revision) error {
	return a.follower.Sync(ctx, kind, revision)
}
