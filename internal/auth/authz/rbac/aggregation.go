package rbac

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// AggregationManager is the field manager that applies the rules of aggregated ClusterRoles, as in Kubernetes.
const AggregationManager = "clusterrole-aggregation-controller"

// aggregationRetry is the delay before Aggregate retries a failed apply.
const aggregationRetry = time.Second

// recordChange records that aggregated rules must be computed again, unless no ClusterRole has changed or none is aggregated.
func (x *index) recordChange(changed *role) {
	if changed.key.namespace != "" {
		return
	}
	before := len(x.aggregated)
	if changed.isAggregated {
		x.aggregated[changed.key.name] = changed
	} else {
		delete(x.aggregated, changed.key.name)
	}
	x.needsAggregation = x.needsAggregation || before+len(x.aggregated) > 0
}

// aggregate computes the rules of all aggregated ClusterRoles if a recorded change may affect them. It is called after every
// batch of changes. It returns the names of roles that retain their stored rules, because a budget of the aggregator is
// exhausted.
func (x *index) aggregate() (overBudget []string) {
	if !x.needsAggregation {
		return nil
	}
	x.needsAggregation = false
	return newAggregator(x.clusterRoles()).compute()
}

// clusterRoles returns the existing ClusterRoles, sorted by name.
func (x *index) clusterRoles() (found []*role) {
	for at, r := range x.roles {
		if at.namespace == "" && r.exists {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *role) int { return cmp.Compare(a.key.name, b.key.name) })
	return found
}

// AggregatedRole is an aggregated ClusterRole whose stored rules differ from the computed ones.
type AggregatedRole struct {
	Name string
	// Configuration is the JSON to apply, with force, as AggregationManager.
	Configuration []byte
}

// OutdatedRoles returns the aggregated ClusterRoles whose stored rules differ from the computed ones, sorted by name.
func (a *Authorizer) OutdatedRoles() ([]AggregatedRole, error) {
	a.mu.RLock()
	outdated := map[string][]rbacv1.PolicyRule{}
	for name, g := range a.index.aggregated {
		if !equality.Semantic.DeepEqual(g.rules, g.stored) {
			outdated[name] = g.rules
		}
	}
	a.mu.RUnlock()
	var found []AggregatedRole
	for name, rules := range outdated {
		configuration, err := json.Marshal(map[string]any{
			"apiVersion": rbacv1.SchemeGroupVersion.String(),
			"kind":       clusterRoleKind,
			"metadata":   map[string]string{"name": name},
			"rules":      slices.Clip(append([]rbacv1.PolicyRule{}, rules...)),
		})
		if err != nil {
			return nil, err
		}
		found = append(found, AggregatedRole{name, configuration})
	}
	slices.SortFunc(found, func(a, b AggregatedRole) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// Aggregate applies the computed rules of aggregated ClusterRoles to the stored objects, so that clients can read them. It
// runs until ctx is canceled or the Authorizer is closed, and retries failed applies. Authorization does not depend on the
// stored rules.
func (a *Authorizer) Aggregate(ctx context.Context, apply func(ctx context.Context, g AggregatedRole) error) {
	for {
		changed := a.follower.Updated()
		retry := a.applyAggregated(ctx, apply)
		var later <-chan time.Time
		if retry {
			later = time.After(aggregationRetry)
		}
		select {
		case <-changed:
		case <-later:
		case <-ctx.Done():
			return
		case <-a.follower.Done():
			return
		}
	}
}

// applyAggregated applies the computed rules of all outdated ClusterRoles, and reports whether an apply failed and must be
// retried.
func (a *Authorizer) applyAggregated(ctx context.Context, apply func(ctx context.Context, g AggregatedRole) error) (retry bool) {
	found, err := a.OutdatedRoles()
	if err != nil {
		a.log.Error("encoding aggregated rules failed", "error", err)
		return false
	}
	for _, g := range found {
		if err := apply(ctx, g); err != nil && ctx.Err() == nil {
			a.log.Warn("applying aggregated rules failed; retrying", "clusterrole", g.Name, "error", err)
			retry = true
		}
	}
	return retry
}
