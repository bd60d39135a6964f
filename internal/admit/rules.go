package admit

import (
	"slices"
	"strings"

	registration "k8s.io/api/admissionregistration/v1"
)

// Rules say which operations on which resources match. They are those of policies; those of webhooks are the same
// without names of objects.
type Rules []registration.NamedRuleWithOperations

// RulesOf returns the rules of a webhook.
func RulesOf(rules []registration.RuleWithOperations) Rules {
	all := make(Rules, len(rules))
	for i, rule := range rules {
		all[i].RuleWithOperations = rule
	}
	return all
}

// form returns the form in which rules match something, that of the request before others. ok is false if they don't.
func (rules Rules) form(q *Question, equivalent bool) (form Form, ok bool) {
	own := q.Form()
	for _, rule := range rules {
		if matches(&rule, q.Subject, q.Operation, own) && inNamespaceScope(&rule, q) && named(&rule, q) {
			return own, true
		}
	}
	if !equivalent {
		return Form{}, false
	}
	others := q.equivalents()
	for _, rule := range rules {
		for _, other := range others {
			if matches(&rule, q.Subject, q.Operation, other) && inNamespaceScope(&rule, q) && named(&rule, q) {
				return other, true
			}
		}
	}
	return Form{}, false
}

// concern reports whether rules may match a write of which nothing is known but what is written.
func (rules Rules) concern(s Subject, operation Operation, equivalent bool) bool {
	forms := []Form{s.Form()}
	if equivalent {
		forms = append(forms, s.equivalents()...)
	}
	for _, rule := range rules {
		for _, form := range forms {
			if matches(&rule, s, operation, form) {
				return true
			}
		}
	}
	return false
}

// matches reports whether a rule has an operation and a resource in a form.
func matches(rule *registration.NamedRuleWithOperations, s Subject, operation Operation, form Form) bool {
	return hasOperation(rule.Operations, operation) &&
		hasOrAll(rule.APIGroups, form.Resource.Group) &&
		hasOrAll(rule.APIVersions, form.Resource.Version) &&
		slices.ContainsFunc(rule.Resources, func(resource string) bool {
			name, part, _ := strings.Cut(resource, "/")
			return (name == "*" || name == form.Resource.Resource) && (part == "*" || part == s.Subresource)
		})
}

func hasOrAll(all []string, one string) bool {
	return slices.Contains(all, "*") || slices.Contains(all, one)
}

func hasOperation(all []registration.OperationType, one Operation) bool {
	return slices.Contains(all, registration.OperationAll) || slices.Contains(all, registration.OperationType(one))
}

// named reports whether a rule is for the object's name. One without names is for all.
func named(rule *registration.NamedRuleWithOperations, q *Question) bool {
	return len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, q.Name)
}

// inNamespaceScope reports whether a rule is for what is in namespaces, if that is what is asked about. A namespace
// is in none.
func inNamespaceScope(rule *registration.NamedRuleWithOperations, q *Question) bool {
	if rule.Scope == nil || *rule.Scope == registration.AllScopes {
		return true
	}
	inside := q.Namespace != "" && !q.IsNamespace()
	switch *rule.Scope {
	case registration.NamespacedScope:
		return inside
	case registration.ClusterScope:
		return !inside
	default:
		return false
	}
}

// IsNamespace reports whether it is namespaces that are written.
func (s Subject) IsNamespace() bool { return s.Kind.Group == "" && s.Kind.Resource == "namespaces" }
