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

// AggregationManager is the manager that the rules of roles that gather others' are applied as. It
// is the one of Kubernetes' controller that does so there.
const AggregationManager = "clusterrole-aggregation-controller"

// retryGathered is how long Aggregate waits before it tries again what failed.
const retryGathered = time.Second

// isGathered reports whether a change of a role may change what others gather.
func (x *index) isGathered(r *role) bool {
	if !r.exists {
		return false
	}
	if r.gathers {
		return true
	}
	for _, g := range x.gatherers {
		if g.selects(r) {
			return true
		}
	}
	return false
}

func (r *role) selects(other *role) bool {
	if other == r {
		return false
	}
	for _, s := range r.selectors {
		if s.Matches(other.labels) {
			return true
		}
	}
	return false
}

// noteChange notes that what roles gather must be found out anew, if the change of a role to how it
// is now matters for it. before says whether it does for how it was.
func (x *index) noteChange(changed *role, before bool) {
	if changed.place.namespace != "" {
		return
	}
	if changed.gathers {
		x.gatherers[changed.place.name] = changed
	} else {
		delete(x.gatherers, changed.place.name)
	}
	x.stale = x.stale || before || x.isGathered(changed)
}

// settle finds out what roles gather, if that is not known. It is called after every batch of
// changes.
func (x *index) settle() {
	if !x.stale {
		return
	}
	x.stale = false
	candidates := x.clusterRoles()
	for _, g := range x.gatherers {
		g.rules = gather(g, candidates, []*role{g})
	}
}

// clusterRoles returns those that there are, by name.
func (x *index) clusterRoles() (found []*role) {
	for at, r := range x.roles {
		if at.namespace == "" && r.exists {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *role) int { return cmp.Compare(a.place.name, b.place.name) })
	return found
}

// gather returns the rules of the roles that a role selects, each rule once. within are the roles
// that are being gathered for, so that roles that gather each other come to an end.
func gather(g *role, candidates, within []*role) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, s := range g.selectors {
		for _, c := range candidates {
			if slices.Contains(within, c) || !s.Matches(c.labels) {
				continue
			}
			from := c.stored
			if c.gathers {
				from = gather(c, candidates, append(slices.Clip(within), c))
			}
			for i := range from {
				if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return equality.Semantic.DeepEqual(r, from[i]) }) {
					rules = append(rules, from[i])
				}
			}
		}
	}
	return rules
}

// Gathered is a role whose object does not have the rules that it gathers.
type Gathered struct {
	Name string
	// Configuration is what is to be applied, with force, by AggregationManager.
	Configuration []byte
}

// Gathered returns the roles whose objects do not have the rules that they gather, by name.
func (a *Authorizer) Gathered() ([]Gathered, error) {
	a.mu.RLock()
	stale := map[string][]rbacv1.PolicyRule{}
	for name, g := range a.index.gatherers {
		if !equality.Semantic.DeepEqual(g.rules, g.stored) {
			stale[name] = g.rules
		}
	}
	a.mu.RUnlock()
	var found []Gathered
	for name, rules := range stale {
		configuration, err := json.Marshal(map[string]any{
			"apiVersion": rbacv1.SchemeGroupVersion.String(),
			"kind":       clusterRoleKind,
			"metadata":   map[string]string{"name": name},
			"rules":      slices.Clip(append([]rbacv1.PolicyRule{}, rules...)),
		})
		if err != nil {
			return nil, err
		}
		found = append(found, Gathered{name, configuration})
	}
	slices.SortFunc(found, func(a, b Gathered) int { return cmp.Compare(a.Name, b.Name) })
	return found, nil
}

// Aggregate keeps the objects of roles that gather others' rules up to date, so that users can see
// what they gather, until the context ends or the Authorizer is closed. What is allowed does not
// wait for it. What can't be applied is tried again.
func (a *Authorizer) Aggregate(ctx context.Context, apply func(ctx context.Context, g Gathered) error) {
	for {
		changed := a.follower.Updated()
		retry := a.applyGathered(ctx, apply)
		var later <-chan time.Time
		if retry {
			later = time.After(retryGathered)
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

// applyGathered reports whether some of it must be tried again.
func (a *Authorizer) applyGathered(ctx context.Context, apply func(ctx context.Context, g Gathered) error) (retry bool) {
	found, err := a.Gathered()
	if err != nil {
		a.log.Error("cannot tell which rules roles gather", "error", err)
		return false
	}
	for _, g := range found {
		if err := apply(ctx, g); err != nil && ctx.Err() == nil {
			a.log.Warn("cannot write the rules that a role gathers", "clusterrole", g.Name, "error", err)
			retry = true
		}
	}
	return retry
}
