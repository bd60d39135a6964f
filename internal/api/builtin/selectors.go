package builtin

import "github.com/cadastre/cadastre/document"

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
		switch one := matchRequirement(e, of); one {
		case unreadable:
			return unreadable
		case differs:
			result = differs
		}
	}
	return result
}

// matchRequirement compares one requirement with labels.
func matchRequirement(r, of document.Value) match {
	key, values := r.Get("key").Text(), r.Get("values")
	if len(formats["qualified-name"].check(key)) > 0 {
		return unreadable
	}
	label := of.Get(key)
	has, listed := !isNothing(label), false
	for _, value := range values.Items() {
		if !isLabelValue(value.Text()) {
			return unreadable
		}
		listed = listed || value.Text() == label.Text()
	}
	var right bool
	switch operator := r.Get("operator").Text(); operator {
	case "In", "NotIn":
		if values.Len() == 0 {
			return unreadable
		}
		right = (has && listed) == (operator == "In")
	case "Exists", "DoesNotExist":
		if values.Len() > 0 {
			return unreadable
		}
		right = has == (operator == "Exists")
	default:
		return unreadable
	}
	if right {
		return matches
	}
	return differs
}
