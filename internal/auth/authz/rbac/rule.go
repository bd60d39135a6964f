package rbac

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// all is what stands for everything in a rule.
const all = "*"

// allows reports whether a rule allows something. What mostly differs is compared first.
func allows(rule *rbacv1.PolicyRule, a *Attributes) bool {
	if a.NonResource {
		return len(rule.NonResourceURLs) > 0 && has(rule.Verbs, a.Verb) && hasPath(rule.NonResourceURLs, a.Path)
	}
	return has(rule.APIGroups, a.Group) && has(rule.Verbs, a.Verb) &&
		hasResource(rule.Resources, a.Resource, a.Subresource) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name))
}

// has reports whether a text is in a list, or the list has everything.
func has(list []string, text string) bool {
	for _, l := range list {
		if l == text || l == all {
			return true
		}
	}
	return false
}

// hasResource reports whether a list has a resource, or one of its subresources. An entry may be
// for a subresource of all resources.
func hasResource(list []string, resource, subresource string) bool {
	for _, l := range list {
		if l == all {
			return true
		}
		if subresource == "" {
			if l == resource {
				return true
			}
			continue
		}
		if of, ok := strings.CutSuffix(l, subresource); ok && strings.HasSuffix(of, "/") {
			if of = of[:len(of)-1]; of == resource || of == all {
				return true
			}
		}
	}
	return false
}

// hasPath reports whether a list has a path, be it by how it begins.
func hasPath(list []string, path string) bool {
	return slices.ContainsFunc(list, func(l string) bool { return coversPath(l, path) })
}

func coversPath(pattern, path string) bool {
	if pattern == path {
		return true
	}
	return strings.HasSuffix(pattern, all) && strings.HasPrefix(path, strings.TrimRight(pattern, all))
}

// missing returns what is in the wanted rules and not in those that somebody holds, taken apart
// until each rule is about one thing.
func missing(held, wanted []rbacv1.PolicyRule) (lacks []rbacv1.PolicyRule) {
	for i := range wanted {
		for _, one := range takeApart(&wanted[i]) {
			if !slices.ContainsFunc(held, func(h rbacv1.PolicyRule) bool { return covers(&h, &one) }) {
				lacks = append(lacks, one)
			}
		}
	}
	return lacks
}

// mostThings is how many things the rules may be about that somebody gives to others, if each is counted. A role of
// 10 KB can name a billion, which nobody has the time or memory to compare. Kubernetes' own for users have less than 2,000.
const mostThings = 100_000

// things counts what rules are about when they are taken apart. It may be more than an integer can be.
func things(rules []rbacv1.PolicyRule) (n float64) {
	for i := range rules {
		r := &rules[i]
		resources := float64(len(r.APIGroups)) * float64(len(r.Resources)) * float64(max(1, len(r.ResourceNames)))
		n += float64(len(r.Verbs)) * (resources + float64(len(r.NonResourceURLs)))
	}
	return n
}

// takeApart returns rules that together say the same, each with one verb, and one resource and at
// most one name, or one path.
func takeApart(rule *rbacv1.PolicyRule) (ones []rbacv1.PolicyRule) {
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				one := rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
				if len(rule.ResourceNames) == 0 {
					ones = append(ones, one)
				}
				for _, name := range rule.ResourceNames {
					one.ResourceNames = []string{name}
					ones = append(ones, one)
				}
			}
		}
	}
	for _, path := range rule.NonResourceURLs {
		for _, verb := range rule.Verbs {
			ones = append(ones, rbacv1.PolicyRule{NonResourceURLs: []string{path}, Verbs: []string{verb}})
		}
	}
	return ones
}

// covers reports whether a rule says all that a rule about one thing says.
func covers(rule, one *rbacv1.PolicyRule) bool {
	if !has(rule.Verbs, one.Verbs[0]) {
		return false
	}
	if len(one.NonResourceURLs) > 0 {
		return len(rule.ResourceNames) == 0 && hasPath(rule.NonResourceURLs, one.NonResourceURLs[0])
	}
	return has(rule.APIGroups, one.APIGroups[0]) && coversResource(rule.Resources, one.Resources[0]) &&
		(len(rule.ResourceNames) == 0 || len(one.ResourceNames) > 0 && slices.Contains(rule.ResourceNames, one.ResourceNames[0]))
}

// coversResource is about an entry of a rule, which may be for all resources itself.
func coversResource(list []string, entry string) bool {
	if has(list, entry) {
		return true
	}
	_, subresource, isSub := strings.Cut(entry, "/")
	return isSub && slices.Contains(list, "*/"+subresource)
}
