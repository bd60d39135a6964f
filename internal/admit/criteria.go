package admit

import (
	"context"

	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
)

// Criteria say which questions somebody wants to be asked.
type Criteria struct {
	// Rules must match; no rules at all match everything if AllIfNone. None of Except may match.
	Rules     Rules
	AllIfNone bool
	Except    Rules
	// Equivalent has rules match also what they name at another version.
	Equivalent bool

	inNamespaces, withLabels selector
}

// NewCriteria returns criteria with selectors, of which nil selects nothing, as in Kubernetes, which sets them.
func NewCriteria(rules Rules, match *registration.MatchPolicyType, namespaces, objects *metav1.LabelSelector) Criteria {
	return Criteria{
		Rules: rules, Equivalent: match != nil && *match == registration.Equivalent,
		inNamespaces: newSelector(namespaces), withLabels: newSelector(objects),
	}
}

// A selector is one that could be read, or why it could not.
type selector struct {
	labels.Selector
	err error
}

func newSelector(s *metav1.LabelSelector) selector {
	parsed, err := metav1.LabelSelectorAsSelector(s)
	return selector{parsed, err}
}

// Concern reports whether the criteria may match a write of which nothing is known but what is written. It is quick.
func (c *Criteria) Concern(s Subject, operation Operation) bool {
	return !s.isExempt() && (c.AllIfNone && len(c.Rules) == 0 || c.Rules.concern(s, operation, c.Equivalent))
}

// Match reports whether the criteria match a question, and in which form. A selector that can't be asked is an error only
// if all else matches.
func (c *Criteria) Match(ctx context.Context, q *Question, namespaces Namespaces) (form Form, ok bool, err error) {
	if q.isExempt() {
		return Form{}, false, nil
	}
	inside, nsErr := c.selectsNamespace(ctx, q, namespaces)
	if !inside && nsErr == nil {
		return Form{}, false, nil
	}
	has, labelsErr := c.selectsObject(q)
	if !has && labelsErr == nil {
		return Form{}, false, nil
	}
	if _, excepted := c.Except.form(q, c.Equivalent); excepted {
		return Form{}, false, nil
	}
	if c.AllIfNone && len(c.Rules) == 0 {
		form = q.Form()
	} else if form, ok = c.Rules.form(q, c.Equivalent); !ok {
		return Form{}, false, nil
	}
	if nsErr != nil {
		return form, false, nsErr
	}
	return form, labelsErr == nil, labelsErr
}

func (c *Criteria) selectsObject(q *Question) (bool, error) {
	if c.withLabels.err != nil {
		return false, apierrors.NewInternalError(c.withLabels.err)
	}
	if c.withLabels.Empty() {
		return true, nil
	}
	return c.withLabels.has(q.Object) || c.withLabels.has(q.Old), nil
}

// has reports whether an object is selected. What is not there is not.
func (s selector) has(doc document.Value) bool {
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

// selectsNamespace reports whether the namespace of what is asked about is selected. What is in none is.
func (c *Criteria) selectsNamespace(ctx context.Context, q *Question, namespaces Namespaces) (bool, error) {
	if q.Namespace == "" && !q.IsNamespace() {
		return true, nil
	}
	if c.inNamespaces.err != nil {
		return false, apierrors.NewInternalError(c.inNamespaces.err)
	}
	if c.inNamespaces.Empty() {
		return true, nil
	}
	if q.IsNamespace() && q.Subresource == "" && q.Operation != Delete {
		return c.inNamespaces.has(q.Object), nil
	}
	namespace, err := namespaces(ctx, q.Namespace)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	if namespace.IsAbsent() {
		return false, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, q.Namespace)
	}
	return c.inNamespaces.has(namespace), nil
}
