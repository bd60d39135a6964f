package rules

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/cadastre/cadastre/document"
)

// labelSelector checks how a selector is written. A selector that is not there is right.
func labelSelector(c *checker, selector, _ document.Value) { c.selector(selector, true) }

func (c *checker) selector(selector document.Value, values bool) {
	c.labels(selector.Get("matchLabels"), "matchLabels")
	c.push("matchExpressions")
	for i, requirement := range selector.Get("matchExpressions").Items() {
		c.pushItem(i)
		c.requirement(requirement, values)
		c.pop()
	}
	c.pop()
}

func (c *checker) requirement(r document.Value, checkValues bool) {
	values := r.Get("values")
	switch operator := r.Get("operator").Text(); operator {
	case "In", "NotIn":
		if values.Len() == 0 {
			c.required("must be specified when `operator` is 'In' or 'NotIn'", "values")
		}
	case "Exists", "DoesNotExist":
		if values.Len() > 0 {
			c.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'", "values")
		}
	default:
		c.invalid(operator, "not a valid selector operator", "operator")
	}
	c.requirementKey(r, checkValues)
}

func (c *checker) requirementKey(r document.Value, checkValues bool) {
	key := r.Get("key").Text()
	c.invalidAll(key, formats["qualified-name"].check(key), "key")
	if !checkValues {
		return
	}
	c.push("values")
	for i, value := range r.Get("values").Items() {
		if text := value.Text(); !isLabelValue(text) {
			c.pushItem(i)
			c.invalidAll(text, formats["label-value"].problems(text))
			c.pop()
		}
	}
	c.pop()
}

// nodeRequirement checks a requirement on a node's labels.
func nodeRequirement(c *checker, r, _ document.Value) { c.nodeRequirement(r, true) }

// looseNodeRequirement does the same for a wish, whose values are not looked at.
func looseNodeRequirement(c *checker, r, _ document.Value) { c.nodeRequirement(r, false) }

func (c *checker) nodeRequirement(r document.Value, checkValues bool) {
	switch operator := r.Get("operator").Text(); operator {
	case "Gt", "Lt":
		if r.Get("values").Len() != 1 {
			c.required("must be specified single value when `operator` is 'Lt' or 'Gt'", "values")
		}
		c.requirementKey(r, checkValues)
	default:
		c.requirement(r, checkValues)
	}
}

// nodeFieldRequirement checks a requirement on a node's fields, of which there is one: its name.
func nodeFieldRequirement(c *checker, r, _ document.Value) {
	values := r.Get("values")
	switch operator := r.Get("operator").Text(); operator {
	case "In", "NotIn":
		if values.Len() != 1 {
			c.required("must be only one value when `operator` is 'In' or 'NotIn' for node field selector", "values")
		}
	default:
		c.invalid(operator, "not a valid selector operator", "operator")
	}
	key := r.Get("key").Text()
	if key != "metadata.name" {
		c.invalid(key, "not a valid field selector key", "key")
		return
	}
	c.push("values")
	for i, value := range values.Items() {
		c.pushItem(i)
		c.invalidAll(value.Text(), formats["dns-subdomain"].check(value.Text()))
		c.pop()
	}
	c.pop()
}

// match is what a selector says about labels.
type match uint8

const (
	unreadable match = iota // the selector is wrong, which is reported elsewhere
	matches
	differs
	everything // the selector has no requirement
)

// matchSelector compares a selector with labels. kube-apiserver builds a selector for that; the
// usual one, with labels alone, is compared as it is. No selector matches nothing.
func matchSelector(selector, of document.Value) match {
	if isNothing(selector) {
		return differs
	}
	wanted, expressions := selector.Get("matchLabels"), selector.Get("matchExpressions")
	if wanted.Len()+expressions.Len() == 0 {
		return everything
	}
	result := matches
	for key, value := range wanted.Fields() {
		if !isLabelKey(key) && len(formats["qualified-name"].problems(key)) > 0 || !isLabelValue(value.Text()) {
			return unreadable
		}
		if have := of.Get(key); isNothing(have) || have.Text() != value.Text() {
			result = differs
		}
	}
	for _, e := range expressions.Items() {
		r, err := asRequirement(e)
		if err != nil {
			return unreadable
		}
		if !r.Matches(documentLabels{of}) {
			result = differs
		}
	}
	return result
}

func asRequirement(e document.Value) (*labels.Requirement, error) {
	operators := map[string]selection.Operator{
		"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
	}
	var values []string
	for _, value := range e.Get("values").Items() {
		values = append(values, value.Text())
	}
	return labels.NewRequirement(e.Get("key").Text(), operators[e.Get("operator").Text()], values)
}

// documentLabels is a document's labels as a selector asks for them.
type documentLabels struct{ of document.Value }

// Has reports whether there is a label.
func (l documentLabels) Has(label string) bool { return !isNothing(l.of.Get(label)) }

// Get returns a label's value.
func (l documentLabels) Get(label string) string { return l.of.Get(label).Text() }

// Lookup returns a label's value and whether it is there.
func (l documentLabels) Lookup(label string) (string, bool) { return l.Get(label), l.Has(label) }
