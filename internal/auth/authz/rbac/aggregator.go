package rbac

import (
	"cmp"
	"encoding/json"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// The budgets of one computation of all aggregated ClusterRoles. They are far above the needs of real clusters, and bound the
// time for which a hostile set of roles delays authorization, or the start of the server, to about a second.
const (
	maxSelections     = 5_000_000 // maximum number of comparisons of selector requirements with ClusterRoles
	maxCollectedRules = 1_000_000 // maximum number of rules that are added to aggregated ClusterRoles
)

// aggregator computes the rules of aggregated ClusterRoles: those of all other roles that the selectors of the role match,
// directly or through further aggregated roles. It finds the strongly connected components of the graph of aggregated roles
// (Tarjan's algorithm); the roles of a component select each other and have the same rules. Each role is visited once. The roles
// for which the budgets do not suffice keep their stored rules.
type aggregator struct {
	candidates []*role // sorted by name
	// byLabel has the candidates with a label, sorted by name, so that selectors of one value are not compared with all roles.
	byLabel map[label][]*role
	// selections and collected are the remaining budgets of maxSelections and maxCollectedRules.
	selections, collected int

	visits     map[*role]*visit
	stack      []*visit // the visits whose strongly connected component is not complete
	components int      // number of complete strongly connected components
}

type label struct{ key, value string }

// visit is the state of an aggregated role in Tarjan's algorithm.
type visit struct {
	role     *role
	selected []*role
	// order counts visits; lowest is the lowest order of an open visit that is reachable.
	order, lowest int
	component     int      // number of the strongly connected component; 0 while the visit is open
	keys          []string // keys of role.rules; set when the strongly connected component is complete
	overBudget    bool
}

// newAggregator returns an aggregator for all existing ClusterRoles, which must be sorted by name.
func newAggregator(candidates []*role) *aggregator {
	a := &aggregator{
		candidates: candidates, byLabel: map[label][]*role{}, visits: map[*role]*visit{},
		selections: maxSelections, collected: maxCollectedRules,
	}
	for _, c := range candidates {
		for key, value := range c.labels {
			a.byLabel[label{key, value}] = append(a.byLabel[label{key, value}], c)
		}
	}
	return a
}

// compute sets the rules of all aggregated candidates. It returns the names of roles that retain their stored rules.
func (a *aggregator) compute() (overBudget []string) {
	for _, c := range a.candidates {
		if c.isAggregated {
			if v := a.visit(c); v.overBudget {
				overBudget = append(overBudget, c.key.name)
			}
		}
	}
	return overBudget
}

// visit computes the rules of an aggregated role unless they have been computed.
func (a *aggregator) visit(r *role) *visit {
	if v := a.visits[r]; v != nil {
		return v
	}
	v := &visit{role: r, order: len(a.visits), lowest: len(a.visits)}
	a.visits[r] = v
	first := len(a.stack)
	a.stack = append(a.stack, v)
	v.selected, v.overBudget = a.selectedBy(r)
	for _, other := range v.selected {
		if !other.isAggregated {
			continue
		}
		if next := a.visit(other); next.component == 0 {
			v.lowest = min(v.lowest, next.lowest)
		}
	}
	if v.lowest == v.order {
		a.complete(slices.Clone(a.stack[first:]))
		a.stack = a.stack[:first]
	}
	return v
}

// selectedBy returns the roles that the selectors of a role match, in the order of the selectors and then of the names.
// overBudget reports whether the budget was exhausted before all selectors were compared.
func (a *aggregator) selectedBy(r *role) (selected []*role, overBudget bool) {
	seen := map[*role]bool{r: true}
	for _, s := range r.selectors {
		requirements, _ := s.Requirements()
		for _, c := range a.candidatesOf(requirements) {
			if a.selections -= 1 + len(requirements); a.selections < 0 {
				return nil, true
			}
			if !seen[c] && s.Matches(c.labels) {
				seen[c] = true
				selected = append(selected, c)
			}
		}
	}
	return selected, false
}

// candidatesOf returns the candidates that can match a selector.
func (a *aggregator) candidatesOf(requirements labels.Requirements) []*role {
	for _, r := range requirements {
		switch r.Operator() {
		case selection.Equals, selection.DoubleEquals, selection.In:
			if values := r.ValuesUnsorted(); len(values) == 1 {
				return a.byLabel[label{r.Key(), values[0]}]
			}
		}
	}
	return a.candidates
}

// complete sets the rules that the roles of a strongly connected component share.
func (a *aggregator) complete(component []*visit) {
	slices.SortFunc(component, func(v, w *visit) int { return cmp.Compare(v.role.key.name, w.role.key.name) })
	var (
		rules []rbacv1.PolicyRule
		keys  []string
		over  bool
	)
	a.components++
	for _, v := range component {
		v.component = a.components
		over = over || v.overBudget
	}
	seen := map[string]bool{}
	for _, v := range component {
		for _, from := range v.selected {
			other := a.visits[from] // nil if the role from is not aggregated
			if other != nil && other.component == v.component {
				continue
			}
			if a.collected -= len(from.rules); a.collected < 0 {
				over = true
				break
			}
			add := from.keysOfStored
			if other != nil {
				add = func() []string { return other.keys }
			}
			for i, key := range add() {
				if !seen[key] {
					seen[key] = true
					rules, keys = append(rules, from.rules[i]), append(keys, key)
				}
			}
		}
	}
	for _, v := range component {
		v.overBudget = over
		if v.role.rules, v.keys = rules, keys; over {
			v.role.rules, v.keys = v.role.stored, v.role.keysOfStored()
		}
	}
}

// keysOfStored returns a key for each stored rule.
func (r *role) keysOfStored() []string {
	if r.storedKeys == nil {
		r.storedKeys = keysOf(r.stored)
	}
	return r.storedKeys
}

// keysOf returns a key for each rule. The keys of two rules are equal if the rules are semantically equal.
func keysOf(rules []rbacv1.PolicyRule) []string {
	keys := make([]string, len(rules))
	for i, r := range rules {
		for _, list := range []*[]string{&r.Verbs, &r.APIGroups, &r.Resources, &r.ResourceNames, &r.NonResourceURLs} {
			if *list == nil {
				*list = []string{}
			}
		}
		text, err := json.Marshal([][]string{r.Verbs, r.APIGroups, r.Resources, r.ResourceNames, r.NonResourceURLs})
		if err != nil {
			panic(err) // lists of strings can always be encoded
		}
		keys[i] = string(text)
	}
	return keys
}
