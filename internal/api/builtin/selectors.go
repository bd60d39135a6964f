package builtin

import "github.com/cadastre/cadastre/document"

// checkLabelSelector validates a LabelSelector. An absent selector is valid.
func checkLabelSelector(c *checker, selector, _ document.Value) { c.checkSelector(selector, true) }

func (c *checker) checkSelector(selector document.Value, values bool) {
	c.checkLabels(selector.Get("matchLabels"), "matchLabels")
	c.push("matchExpressions")
	for i, requirement := range selector.Get("matchExpressions").Items() {
		c.pushItem(i)
		c.checkRequirement(requirement, values)
		c.pop()
	}
	c.pop()
}

func (c *checker) checkRequirement(r document.Value, checkValues bool) {
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
	c.checkRequirementKey(r, checkValues)
}

func (c *checker) checkRequirementKey(r document.Value, checkValues bool) {
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

// checkNodeRequirement validates a requirement on node labels in a node selector term.
func checkNodeRequirement(c *checker, r, _ document.Value) { c.checkNodeRequirement(r, true) }

// checkPreferredNodeRequirement validates a requirement on node labels in a preferred scheduling term. As in kube-apiserver, the
// label values are not validated.
func checkPreferredNodeRequirement(c *checker, r, _ document.Value) { c.checkNodeRequirement(r, false) }

func (c *checker) checkNodeRequirement(r document.Value, checkValues bool) {
	switch operator := r.Get("operator").Text(); operator {
	case "Gt", "Lt":
		if r.Get("values").Len() != 1 {
			c.required("must be specified single value when `operator` is 'Lt' or 'Gt'", "values")
		}
		c.checkRequirementKey(r, checkValues)
	default:
		c.checkRequirement(r, checkValues)
	}
}

// checkNodeFieldRequirement validates a requirement on node fields in a node selector term. Only metadata.name is supported.
func checkNodeFieldRequirement(c *checker, r, _ document.Value) {
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

// match is the result of matching labels with a LabelSelector.
type match uint8

const (
	selectorInvalid    match = iota // the selector is invalid; other checks report that
	selectorMatches                 // the selector matches the labels
	selectorDiffers                 // the selector does not match the labels
	selectorMatchesAll              // the selector has no requirements
)

// matchSelector returns the result of matching labels with selector, a LabelSelector. It does not build a labels.Selector,
// which would be slower. An absent selector matches no labels.
func matchSelector(selector, labels document.Value) match {
	if isAbsentOrNull(selector) {
		return selectorDiffers
	}
	matchLabels, expressions := selector.Get("matchLabels"), selector.Get("matchExpressions")
	if matchLabels.Len()+expressions.Len() == 0 {
		return selectorMatchesAll
	}
	result := selectorMatches
	for key, value := range matchLabels.Fields() {
		if !isLabelKey(key) && len(formats["qualified-name"].problems(key)) > 0 || !isLabelValue(value.Text()) {
			return selectorInvalid
		}
		if have := labels.Get(key); isAbsentOrNull(have) || have.Text() != value.Text() {
			result = selectorDiffers
		}
	}
	for _, e := range expressions.Items() {
		switch one := matchRequirement(e, labels); one {
		case selectorInvalid:
			return selectorInvalid
		case selectorDiffers:
			result = selectorDiffers
		}
	}
	return result
}

// matchRequirement returns the result of matching labels with r, one requirement of a LabelSelector.
func matchRequirement(r, labels document.Value) match {
	key, values := r.Get("key").Text(), r.Get("values")
	if len(formats["qualified-name"].check(key)) > 0 {
		return selectorInvalid
	}
	label := labels.Get(key)
	has, listed := !isAbsentOrNull(label), false
	for _, value := range values.Items() {
		if !isLabelValue(value.Text()) {
			return selectorInvalid
		}
		listed = listed || value.Text() == label.Text()
	}
	var valid bool
	switch operator := r.Get("operator").Text(); operator {
	case "In", "NotIn":
		if values.Len() == 0 {
			return selectorInvalid
		}
		valid = (has && listed) == (operator == "In")
	case "Exists", "DoesNotExist":
		if values.Len() > 0 {
			return selectorInvalid
		}
		valid = has == (operator == "Exists")
	default:
		return selectorInvalid
	}
	if valid {
		return selectorMatches
	}
	return selectorDiffers
}
