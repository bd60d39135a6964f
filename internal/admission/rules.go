package admission

import (
	"slices"
	"strings"

	registration "k8s.io/api/admissionregistration/v1"
)

// Rules select operations on resources. Webhooks and policies share the type; only the rules of policies have resourceNames.
type Rules []registration.NamedRuleWithOperations

// RulesOf returns the rules of a webhook as Rules, without resourceNames.
func RulesOf(rules []registration.RuleWithOperations) Rules {
	all := make(Rules, len(rules))
	for i, rule := range rules {
		all[i].RuleWithOperations = rule
	}
	return all
}

// match returns the version at which the rules match a request: the version of the request if a rule names it. If no rule
// names it and equivalent is set, v is another version of the resource that a rule names. ok is false if no rule matches.
func (rules Rules) match(a *Record, equivalent bool) (v VersionedResource, ok bool) {
	own := a.Versioned()
	for _, rule := range rules {
		if matches(&rule, a.Resource, a.Operation, own) && matchesScope(&rule, a) && matchesName(&rule, a) {
			return own, true
		}
	}
	if !equivalent {
		return VersionedResource{}, false
	}
	others := a.Equivalents
	for _, rule := range rules {
		for _, other := range others {
			if matches(&rule, a.Resource, a.Operation, other) && matchesScope(&rule, a) && matchesName(&rule, a) {
				return other, true
			}
		}
	}
	return VersionedResource{}, false
}

// mayMatch reports whether the rules can match a request with the operation and resource, for any name and namespace.
func (rules Rules) mayMatch(r Resource, operation Operation, equivalent bool) bool {
	versions := []VersionedResource{r.Versioned()}
	if equivalent {
		versions = append(versions, r.Equivalents...)
	}
	for _, rule := range rules {
		for _, v := range versions {
			if matches(&rule, r, operation, v) {
				return true
			}
		}
	}
	return false
}

// matches reports whether a rule selects an operation on a resource at a version.
func matches(rule *registration.NamedRuleWithOperations, r Resource, operation Operation, v VersionedResource) bool {
	return hasOperation(rule.Operations, operation) &&
		hasOrAll(rule.APIGroups, v.Resource.Group) &&
		hasOrAll(rule.APIVersions, v.Resource.Version) &&
		slices.ContainsFunc(rule.Resources, func(resource string) bool {
			name, subresource, _ := strings.Cut(resource, "/")
			return (name == "*" || name == v.Resource.Resource) && (subresource == "*" || subresource == r.Subresource)
		})
}

func hasOrAll(all []string, one string) bool {
	return slices.Contains(all, "*") || slices.Contains(all, one)
}

func hasOperation(all []registration.OperationType, one Operation) bool {
	return slices.Contains(all, registration.OperationAll) || slices.Contains(all, registration.OperationType(one))
}

// matchesName reports whether a rule's resourceNames contain the name of the object. A rule without resourceNames matches
// all names.
func matchesName(rule *registration.NamedRuleWithOperations, a *Record) bool {
	return len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, a.Name)
}

// matchesScope reports whether a rule's scope includes the object. Namespaces are cluster-scoped.
func matchesScope(rule *registration.NamedRuleWithOperations, a *Record) bool {
	if rule.Scope == nil || *rule.Scope == registration.AllScopes {
		return true
	}
	namespaced := a.Namespace != "" && !a.IsNamespace()
	switch *rule.Scope {
	case registration.NamespacedScope:
		return namespaced
	case registration.ClusterScope:
		return !namespaced
	default:
		return false
	}
}
