package admission

import (
	"context"

	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
)

// Criteria are the rules and selectors by which a webhook, a policy or a policy binding matches requests.
type Criteria struct {
	// A request matches if a rule of Rules matches and no rule of Exclude does. If Rules is empty, a request matches only if
	// MatchAllWithoutRules is set.
	Rules                Rules
	MatchAllWithoutRules bool
	Exclude              Rules
	// MatchWebhookConfigurations makes the criteria match writes of webhook configurations. It is set for policies, and not for
	// webhooks. Writes of policies and bindings never match.
	MatchWebhookConfigurations bool
	// Equivalent makes a rule for one version of a resource match requests to its other versions, too (matchPolicy:
	// Equivalent).
	Equivalent bool

	namespaceSelector, objectSelector selector
}

// NewCriteria returns criteria with parsed selectors. A nil selector selects nothing; the API server defaults absent
// selectors to {}, which selects everything.
func NewCriteria(rules Rules, match *registration.MatchPolicyType, namespaces, objects *metav1.LabelSelector) Criteria {
	return Criteria{
		Rules: rules, Equivalent: match != nil && *match == registration.Equivalent,
		namespaceSelector: newSelector(namespaces), objectSelector: newSelector(objects),
	}
}

// selector is a parsed label selector, or the error of parsing it.
type selector struct {
	labels.Selector
	err error
}

func newSelector(s *metav1.LabelSelector) selector {
	parsed, err := metav1.LabelSelectorAsSelector(s)
	return selector{parsed, err}
}

// MayMatch reports whether the criteria can match a request with the operation and resource, for any object and namespace.
func (c *Criteria) MayMatch(r Resource, operation Operation) bool {
	return !c.isExempt(r) && (c.MatchAllWithoutRules && len(c.Rules) == 0 || c.Rules.mayMatch(r, operation, c.Equivalent))
}

// Match reports whether the criteria match a request, and returns the version of the resource at which the rule matches. A
// selector that cannot be evaluated is an error only if all other criteria match.
func (c *Criteria) Match(ctx context.Context, a *Record) (v VersionedResource, ok bool, err error) {
	if c.isExempt(a.Resource) {
		return VersionedResource{}, false, nil
	}
	inside, nsErr := c.selectsNamespace(ctx, a)
	if !inside && nsErr == nil {
		return VersionedResource{}, false, nil
	}
	has, labelsErr := c.selectsObject(a)
	if !has && labelsErr == nil {
		return VersionedResource{}, false, nil
	}
	if _, excluded := c.Exclude.match(a, c.Equivalent); excluded {
		return VersionedResource{}, false, nil
	}
	if c.MatchAllWithoutRules && len(c.Rules) == 0 {
		v = a.Versioned()
	} else if v, ok = c.Rules.match(a, c.Equivalent); !ok {
		return VersionedResource{}, false, nil
	}
	if nsErr != nil {
		return v, false, nsErr
	}
	return v, labelsErr == nil, labelsErr
}

// isExempt reports whether the criteria never match the resource. Objects that configure webhooks and policies are exempt, so
// that no webhook or policy can prevent their correction.
func (c *Criteria) isExempt(r Resource) bool {
	if r.Group != "admissionregistration.k8s.io" {
		return false
	}
	switch r.Kind {
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
		return !c.MatchWebhookConfigurations
	case "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding":
		return true
	}
	return false
}

func (c *Criteria) selectsObject(a *Record) (bool, error) {
	if c.objectSelector.err != nil {
		return false, apierrors.NewInternalError(c.objectSelector.err)
	}
	if c.objectSelector.Empty() {
		return true, nil
	}
	return c.objectSelector.selects(a.latest()) || c.objectSelector.selects(a.OldObject), nil
}

// selects reports whether the selector matches the labels of an object. It is false for an absent object.
func (s selector) selects(doc document.Value) bool {
	return !doc.IsAbsent() && s.Matches(labelsOf(doc))
}

func labelsOf(doc document.Value) labels.Set {
	all := doc.Lookup("metadata", "labels")
	set := make(labels.Set, all.Len())
	for i := range all.Len() {
		set[all.Name(i)] = all.At(i).Text()
	}
	return set
}

// selectsNamespace reports whether the namespaceSelector matches the namespace of the request. It is true for cluster-scoped
// objects; a Namespace object is matched by its own labels.
func (c *Criteria) selectsNamespace(ctx context.Context, a *Record) (bool, error) {
	if a.Namespace == "" && !a.IsNamespace() {
		return true, nil
	}
	if c.namespaceSelector.err != nil {
		return false, apierrors.NewInternalError(c.namespaceSelector.err)
	}
	if c.namespaceSelector.Empty() {
		return true, nil
	}
	if a.IsNamespace() && a.Subresource == "" && a.Operation != Delete {
		return c.namespaceSelector.selects(a.latest()), nil
	}
	namespace, err := a.Reader.Get(ctx, namespaces, "", a.Namespace)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if !namespace.Exists() {
		return false, apierrors.NewNotFound(namespaces, a.Namespace)
	}
	return c.namespaceSelector.selects(namespace.Document), nil
}

var namespaces = schema.GroupResource{Resource: "namespaces"}
