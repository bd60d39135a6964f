package flowcontrol

import (
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Request describes a request for classification and for the estimate of its seats.
type Request struct {
	User user.Info
	// Verb is the API verb of a resource, or the HTTP method in lower case for other paths.
	Verb string
	// Group, Version, Resource, Subresource, Namespace and Name are those of the path. Resource is "" for other paths.
	Group, Version, Resource, Subresource, Namespace, Name string
	Path                                                   string
	// ReadOnly reports whether the HTTP method is GET or HEAD.
	ReadOnly bool
	// ResponseBytes is the estimated size of the response of a list, or of a watch with initial events, in bytes. 0 means that
	// the request occupies one seat.
	ResponseBytes int
}

// matches reports whether one of the rules of a FlowSchema matches the request.
func (r *Request) matches(rules []flowcontrolv1.PolicyRulesWithSubjects) bool {
	for i := range rules {
		rule := &rules[i]
		if !r.hasSubject(rule.Subjects) {
			continue
		}
		if r.Resource == "" && slices.ContainsFunc(rule.NonResourceRules, r.matchesPath) ||
			r.Resource != "" && slices.ContainsFunc(rule.ResourceRules, r.matchesResource) {
			return true
		}
	}
	return false
}

// hasSubject reports whether the user is one of the subjects or belongs to it.
func (r *Request) hasSubject(subjects []flowcontrolv1.Subject) bool {
	for i := range subjects {
		if matchesSubject(r.User, &subjects[i]) {
			return true
		}
	}
	return false
}

func matchesSubject(u user.Info, s *flowcontrolv1.Subject) bool {
	switch {
	case s.Kind == flowcontrolv1.SubjectKindUser && s.User != nil:
		return s.User.Name == flowcontrolv1.NameAll || s.User.Name == u.GetName()
	case s.Kind == flowcontrolv1.SubjectKindGroup && s.Group != nil:
		return s.Group.Name == flowcontrolv1.NameAll || slices.Contains(u.GetGroups(), s.Group.Name)
	case s.Kind == flowcontrolv1.SubjectKindServiceAccount && s.ServiceAccount != nil:
		if s.ServiceAccount.Name == flowcontrolv1.NameAll {
			rest, ok := strings.CutPrefix(u.GetName(), serviceaccount.ServiceAccountUsernamePrefix)
			return ok && strings.HasPrefix(rest, s.ServiceAccount.Namespace+":")
		}
		return serviceaccount.MatchesUsername(s.ServiceAccount.Namespace, s.ServiceAccount.Name, u.GetName())
	}
	return false
}

func (r *Request) matchesResource(rule flowcontrolv1.ResourcePolicyRule) bool {
	if !contains(rule.Verbs, r.Verb) || !contains(rule.APIGroups, r.Group) || !r.matchesName(rule.Resources) {
		return false
	}
	if r.Namespace == "" {
		return rule.ClusterScope
	}
	return contains(rule.Namespaces, r.Namespace)
}

// matchesName reports whether a list of RESOURCE and RESOURCE/SUBRESOURCE contains the resource of the request.
func (r *Request) matchesName(resources []string) bool {
	if r.Subresource == "" || isAll(resources) {
		return contains(resources, r.Resource)
	}
	return slices.Contains(resources, r.Resource+"/"+r.Subresource)
}

func (r *Request) matchesPath(rule flowcontrolv1.NonResourcePolicyRule) bool {
	if !contains(rule.Verbs, r.Verb) {
		return false
	}
	for _, path := range rule.NonResourceURLs {
		if path == flowcontrolv1.NonResourceAll || path == r.Path {
			return true
		}
		// As in Kubernetes, a path without a wildcard matches the paths below it, too.
		prefix := strings.TrimSuffix(strings.TrimSuffix(path, "*"), "/")
		if rest, ok := strings.CutPrefix(r.Path, prefix); ok && strings.HasPrefix(rest, "/") {
			return true
		}
	}
	return false
}

// contains reports whether a list contains x or is the wildcard.
func contains(list []string, x string) bool { return isAll(list) || slices.Contains(list, x) }

// isAll reports whether a list is the wildcard. Validation ensures that a list with the wildcard has no other items.
func isAll(list []string) bool { return len(list) == 1 && list[0] == "*" }

// distinguisher returns the part of the flow that depends on the request: the user, the namespace, or "".
func (r *Request) distinguisher(method *flowcontrolv1.FlowDistinguisherMethod) string {
	switch {
	case method == nil:
		return ""
	case method.Type == flowcontrolv1.FlowDistinguisherMethodByNamespaceType:
		return r.Namespace
	}
	return r.User.GetName()
}
