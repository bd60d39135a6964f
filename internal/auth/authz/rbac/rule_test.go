package rbac

import (
	"math/rand/v2"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// randomWords returns at most maxWords of words, selected at random with repetition.
func randomWords(random *rand.Rand, maxWords int, words ...string) (list []string) {
	for range random.IntN(maxWords + 1) {
		list = append(list, words[random.IntN(len(words))])
	}
	return list
}

var (
	someVerbs     = []string{"get", "list", "*", "create"}
	someGroups    = []string{"", "apps", "*"}
	someResources = []string{"pods", "pods/status", "*/status", "*", "deployments", "deployments/scale", "pods/", "x*/status", "s"}
	someNames     = []string{"a", "b", ""}
	somePaths     = []string{"/healthz", "/healthz/*", "*", "/api*", "/apis/apps", "/a**"}
)

func randomRule(random *rand.Rand) rbacv1.PolicyRule {
	if random.IntN(4) == 0 {
		return rbacv1.PolicyRule{Verbs: randomWords(random, 2, someVerbs...), NonResourceURLs: randomWords(random, 3, somePaths...)}
	}
	return rbacv1.PolicyRule{
		Verbs: randomWords(random, 3, someVerbs...), APIGroups: randomWords(random, 2, someGroups...),
		Resources: randomWords(random, 3, someResources...), ResourceNames: randomWords(random, 2, someNames...),
	}
}

func randomRules(random *rand.Rand, most int) (rules []rbacv1.PolicyRule) {
	for range random.IntN(most + 1) {
		rules = append(rules, randomRule(random))
	}
	return rules
}

// TestMissing compares missing with Kubernetes' validation.Covers on random rules.
func TestMissing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	complete := 0
	for range 5_000 {
		held, wanted := randomRules(random, 4), randomRules(random, 2)
		_, want := validation.Covers(held, wanted)
		got := missing(held, wanted)
		if !equality.Semantic.DeepEqual(got, want) {
			t.Fatalf("missing(%v, %v) = %v, want %v", held, wanted, got, want)
		}
		if len(got) == 0 && len(wanted) > 0 {
			complete++
		}
	}
	if complete < 100 {
		t.Errorf("number of random cases in which all rules are held = %d, want at least 100", complete)
	}
}

// TestAllows compares allows with Kubernetes on random rules: a rule allows a request if, according to validation.Covers, it
// covers a rule that allows only the request.
func TestAllows(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	count := map[bool]int{}
	one := func(words ...string) string { return words[random.IntN(len(words))] }
	for range 20_000 {
		rule := randomRule(random)
		a := &Attributes{Verb: one("get", "list", "create", "x")}
		asked := rbacv1.PolicyRule{Verbs: []string{a.Verb}}
		if random.IntN(4) == 0 {
			a.NonResource, a.Path = true, one("/healthz", "/healthz/", "/healthz/etcd", "/apis/apps", "/api", "/")
			asked.NonResourceURLs = []string{a.Path}
			rule.ResourceNames = nil // a rule is for resources or for paths, not for both
		} else {
			a.Group, a.Resource, a.Subresource, a.Name = one("", "apps"), one("pods", "deployments", "xpods"), one("", "", "status", "scale", "s"), one("", "a", "b", "c")
			asked.APIGroups, asked.Resources = []string{a.Group}, []string{a.Resource}
			if a.Subresource != "" {
				asked.Resources[0] += "/" + a.Subresource
			}
			if a.Name != "" {
				asked.ResourceNames = []string{a.Name}
			} else if len(rule.ResourceNames) > 0 {
				rule.ResourceNames = []string{"a"} // the name "" is tested by TestAllowsSpecialCases
			}
		}
		want, _ := validation.Covers([]rbacv1.PolicyRule{rule}, []rbacv1.PolicyRule{asked})
		if got := allows(&rule, a); got != want {
			t.Fatalf("allows(%v, %+v) = %v, want %v", rule, a, got, want)
		}
		count[want]++
	}
	if count[true] < 300 || count[false] < 1000 {
		t.Errorf("number of random cases: allowed %d, want at least 300; denied %d, want at least 1000", count[true], count[false])
	}
}

// TestAllowsSpecialCases checks allows with the rules that TestAllows excludes.
func TestAllowsSpecialCases(t *testing.T) {
	rule := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: []string{""}}
	if !allows(&rule, newAttributes(nil, "get core pods")) || allows(&rule, newAttributes(nil, "get core pods ns/a")) {
		t.Error("a rule with the resource name \"\": want it to allow requests without a name only")
	}
	both := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"pods"}, NonResourceURLs: []string{"/x"}}
	if !allows(&both, newAttributes(nil, "get core pods")) || !allows(&both, newAttributes(nil, "get - /x")) || allows(&both, newAttributes(nil, "get - /y")) {
		t.Error("a rule for pods and the path /x: want it to allow both, and no other path")
	}
	if allows(&rbacv1.PolicyRule{}, newAttributes(nil, "get core pods")) || allows(&rbacv1.PolicyRule{}, newAttributes(nil, "get - /x")) {
		t.Error("an empty rule allows a request, want it to allow nothing")
	}
}
