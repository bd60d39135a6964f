package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// wildcard matches every verb, API group, resource or path in a rule.
const wildcard = "*"

// allows reports whether a rule allows a request. It compares the most selective attributes first.
func allows(rule *rbacv1.PolicyRule, a *Attributes) bool {
	if a.NonResource {
		return len(rule.NonResourceURLs) > 0 && has(rule.Verbs, a.Verb) && hasPath(rule.NonResourceURLs, a.Path)
	}
	return has(rule.APIGroups, a.Group) && has(rule.Verbs, a.Verb) &&
		hasResource(rule.Resources, a.Resource, a.Subresource) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name))
}

// has reports whether list contains text or the wildcard.
func has(list []string, text string) bool {
	for _, l := range list {
		if l == text || l == wildcard {
			return true
		}
	}
	return false
}

// hasResource reports whether the resources of a rule include a resource, or a subresource of it if subresource is not "".
// An entry */SUBRESOURCE matches all resources.
func hasResource(list []string, resource, subresource string) bool {
	for _, l := range list {
		if l == wildcard {
			return true
		}
		if subresource == "" {
			if l == resource {
				return true
			}
			continue
		}
		if of, ok := strings.CutSuffix(l, subresource); ok && strings.HasSuffix(of, "/") {
			if of = of[:len(of)-1]; of == resource || of == wildcard {
				return true
			}
		}
	}
	return false
}

// hasPath reports whether the nonResourceURLs of a rule match a path. An entry that ends in * matches all paths with that
// prefix.
func hasPath(list []string, path string) bool {
	return slices.ContainsFunc(list, func(l string) bool { return coversPath(l, path) })
}

func coversPath(pattern, path string) bool {
	if pattern == path {
		return true
	}
	return strings.HasSuffix(pattern, wildcard) && strings.HasPrefix(path, strings.TrimRight(pattern, wildcard))
}

// missing returns the permissions of the wanted rules that the held rules do not cover, as rules with one permission each.
func missing(held, wanted []rbacv1.PolicyRule) (missingRules []rbacv1.PolicyRule) {
	for i := range wanted {
		for _, one := range splitRule(&wanted[i]) {
			if !slices.ContainsFunc(held, func(h rbacv1.PolicyRule) bool { return covers(&h, &one) }) {
				missingRules = append(missingRules, one)
			}
		}
	}
	return missingRules
}

// maxPermissions is the maximum number of permissions in the rules that a user grants. A role of 10 KB can contain a billion
// permissions, which would take too much time and memory to compare. Kubernetes' default roles for users contain fewer than
// 2,000.
const maxPermissions = 100_000

// countPermissions returns the number of rules into which splitRule splits all rules. It is a float because the number may
// exceed the range of integers.
func countPermissions(rules []rbacv1.PolicyRule) (n float64) {
	for i := range rules {
		r := &rules[i]
		resources := float64(len(r.APIGroups)) * float64(len(r.Resources)) * float64(max(1, len(r.ResourceNames)))
		n += float64(len(r.Verbs)) * (resources + float64(len(r.NonResourceURLs)))
	}
	return n
}

// splitRule returns equivalent rules with one permission each: one verb on one resource with at most one name, or on one
// path.
func splitRule(rule *rbacv1.PolicyRule) (single []rbacv1.PolicyRule) {
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				one := rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
				if len(rule.ResourceNames) == 0 {
					single = append(single, one)
				}
				for _, name := range rule.ResourceNames {
					one.ResourceNames = []string{name}
					single = append(single, one)
				}
			}
		}
	}
	for _, path := range rule.NonResourceURLs {
		for _, verb := range rule.Verbs {
			single = append(single, rbacv1.PolicyRule{NonResourceURLs: []string{path}, Verbs: []string{verb}})
		}
	}
	return single
}

// covers reports whether rule grants the permission of single, a rule with a single permission.
func covers(rule, single *rbacv1.PolicyRule) bool {
	if !has(rule.Verbs, single.Verbs[0]) {
		return false
	}
	if len(single.NonResourceURLs) > 0 {
		return len(rule.ResourceNames) == 0 && hasPath(rule.NonResourceURLs, single.NonResourceURLs[0])
	}
	return has(rule.APIGroups, single.APIGroups[0]) && coversResource(rule.Resources, single.Resources[0]) &&
		(len(rule.ResourceNames) == 0 || len(single.ResourceNames) > 0 && slices.Contains(rule.ResourceNames, single.ResourceNames[0]))
}

// coversResource reports whether the resources of a rule include an entry of another rule, which may be a wildcard.
func coversResource(list []string, entry string) bool {
	if has(list, entry) {
		return true
	}
	_, subresource, isSub := strings.Cut(entry, "/")
	return isSub && slices.Contains(list, "*/"+subresource)
}
