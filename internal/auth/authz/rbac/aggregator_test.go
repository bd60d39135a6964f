package rbac

import (
	"fmt"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/cadastre/cadastre/internal/lib/testwait"
)

// graph returns an index of numbered roles. Role i aggregates the roles with the numbers that selects returns for i; if there
// are none, role i has a rule.
func graph(t *testing.T, n int, selects func(i int) []int) *index {
	t.Helper()
	x := newIndex()
	for i := range n {
		var o object
		o.Metadata.Labels = map[string]string{"number": fmt.Sprint(i), "all": "yes"}
		o.Rules = []rbacv1.PolicyRule{{Verbs: []string{"get"}, Resources: []string{fmt.Sprint("r", i)}}}
		if selected := selects(i); selected != nil {
			o.AggregationRule, o.Rules = &rbacv1.AggregationRule{}, nil
			for _, j := range selected {
				s := metav1.LabelSelector{MatchLabels: map[string]string{"number": fmt.Sprint(j)}}
				if j < 0 {
					s.MatchLabels = map[string]string{"all": "yes"}
				}
				o.AggregationRule.ClusterRoleSelectors = append(o.AggregationRule.ClusterRoleSelectors, s)
			}
		}
		x.setRole(namespacedName{"", fmt.Sprintf("role%05d", i)}, &o)
	}
	return x
}

// TestAggregationIsLinear checks that roles which select each other, and chains of roles, are aggregated in a time that does not
// grow with the number of paths between them.
func TestAggregationIsLinear(t *testing.T) {
	const n = 400
	for name, selects := range map[string]func(i int) []int{
		"all select each other": func(i int) []int { return []int{-1} },
		"two successors": func(i int) []int { // the graph has 2^(n/2) paths
			return []int{(i + 1) % n, (i + 2) % n}
		},
	} {
		x := graph(t, n, func(i int) []int {
			if i == n-1 {
				return nil
			}
			return selects(i)
		})
		done := make(chan struct{})
		go func() { defer close(done); x.aggregate() }()
		if !testwait.Within(testwait.Timeout, func() bool {
			select {
			case <-done:
				return true
			default:
				return false
			}
		}) {
			t.Fatalf("%s: aggregation of %d roles takes longer than %v", name, n, testwait.Timeout)
		}
		for at, r := range x.roles {
			if len(r.rules) != 1 || r.rules[0].Resources[0] != fmt.Sprint("r", n-1) {
				t.Fatalf("%s: rules of %s = %v, want the rule of the last role", name, at.name, r.rules)
			}
		}
	}
}

// TestAggregationBudget checks that roles retain their stored rules, and are reported, if a budget is exhausted.
func TestAggregationBudget(t *testing.T) {
	selects := func(i int) []int {
		if i < 2 {
			return []int{-1}
		}
		return nil
	}
	for _, limit := range []func(*aggregator){
		func(a *aggregator) { a.selections = 15 },
		func(a *aggregator) { a.collected = 5 },
	} {
		x := graph(t, 10, selects)
		old := []rbacv1.PolicyRule{{Verbs: []string{"list"}}}
		for _, name := range []string{"role00000", "role00001"} {
			x.roles[namespacedName{"", name}].stored = old
		}
		a := newAggregator(x.clusterRoles())
		limit(a)
		if over := a.compute(); !slices.Equal(over, []string{"role00000", "role00001"}) {
			t.Errorf("roles over the budget = %v, want the two aggregated roles", over)
		}
		for _, name := range []string{"role00000", "role00001"} {
			if r := x.roles[namespacedName{"", name}]; len(r.rules) != 1 || r.rules[0].Verbs[0] != "list" {
				t.Errorf("rules of %s over the budget = %v, want the stored rules", name, r.rules)
			}
		}
		if over := newAggregator(x.clusterRoles()).compute(); over != nil || len(x.roles[namespacedName{"", "role00000"}].rules) != 8 {
			t.Errorf("within the budget: %v over it and %d rules, want 8 rules", over, len(x.roles[namespacedName{"", "role00000"}].rules))
		}
	}
}

// TestCandidatesOf checks that the lookup by label finds every role that a selector matches.
func TestCandidatesOf(t *testing.T) {
	a := newAggregator(graph(t, 30, func(int) []int { return nil }).clusterRoles())
	for _, text := range []string{"number=3", "number in (3)", "number in (3,4)", "number!=3", "number", "!number", "all=yes,number=7", "all=no", "", "number notin (1,2),all"} {
		s, err := labels.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		requirements, _ := s.Requirements()
		found := a.candidatesOf(requirements)
		for _, c := range a.candidates {
			if s.Matches(c.labels) && !slices.Contains(found, c) {
				t.Errorf("candidates of %q lack %s, which it matches", text, c.key.name)
			}
		}
		if text == "number=3" && len(found) != 1 {
			t.Errorf("candidates of %q: got %d, want 1", text, len(found))
		}
	}
}
