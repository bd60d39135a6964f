package builtin

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// deviceCapacities looks at what a device has of something. Only devices that several can share say how much of it can
// be asked for.
func deviceCapacities(c *checker, device, _ document.Value) {
	shared := device.Get("allowMultipleAllocations").Bool()
	c.push("capacity")
	for key, capacity := range device.Get("capacity").Fields() {
		c.attributeName(key)
		policy := capacity.Get("requestPolicy")
		c.pushKey(shortKey(key))
		c.push("requestPolicy")
		switch {
		case isNothing(policy):
		case shared:
			c.requestPolicy(policy, amount(capacity.Get("value")))
		default:
			c.forbidden("allowMultipleAllocations must be true")
		}
		c.pop()
		c.pop()
	}
	c.pop()
}

// requestPolicy wants one way to say how much can be asked for, and how much is if nobody says.
func (c *checker) requestPolicy(policy document.Value, most resource.Quantity) {
	values, bounds, usual := policy.Get("validValues"), policy.Get("validRange"), policy.Get("default")
	hasValues, hasBounds := values.Len() > 0, !isNothing(bounds)
	switch {
	case hasValues && hasBounds:
		c.forbidden(`exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)
	case hasValues && isNothing(usual):
		c.required("required when validValues is defined", "default")
	case hasValues:
		c.push("validValues")
		c.requestValues(values, amount(usual), most)
		c.pop()
	case hasBounds && isNothing(usual):
		c.required("required when validRange is defined", "default")
	case hasBounds:
		c.push("validRange")
		c.requestRange(bounds, amount(usual), most)
		c.pop()
	}
}

// mostRequestValues is how many amounts can be listed.
const mostRequestValues = 10

// requestValues wants different amounts, the least first, none of them more than there is, and the usual one among
// them.
func (c *checker) requestValues(list document.Value, usual, most resource.Quantity) {
	values := make([]resource.Quantity, list.Len())
	for i, v := range list.Items() {
		values[i] = amount(v)
		if i > 0 && values[i-1].Cmp(values[i]) > 0 {
			c.invalidItem(i, values[i], "values must be sorted in ascending order")
		}
	}
	if len(values) > mostRequestValues {
		e := field.TooMany(nil, len(values), mostRequestValues)
		c.fail(e.Type, e.BadValue, e.Detail)
	} else {
		c.requestOptions(values, most)
	}
	isUsual := func(v resource.Quantity) bool { return v.Cmp(usual) == 0 }
	if len(values) > mostRequestValues || !slices.ContainsFunc(values, isUsual) {
		c.invalid(usual.String(), "default value is not valid according to the requestPolicy")
	}
}

func (c *checker) requestOptions(values []resource.Quantity, most resource.Quantity) {
	for i, v := range values {
		if v.Cmp(most) > 0 {
			c.invalidItem(i, v, fmt.Sprintf("option is larger than capacity value: %s", most.String()))
		}
	}
	for i, v := range values {
		if slices.ContainsFunc(values[:i], func(other resource.Quantity) bool { return other.Value() == v.Value() }) {
			c.pushItem(i)
			c.duplicate(fmt.Sprint(v.Value()))
			c.pop()
		}
	}
}

func (c *checker) invalidItem(i int, v resource.Quantity, detail string) {
	c.pushItem(i)
	c.invalid(v.String(), detail)
	c.pop()
}

// requestRange wants bounds within what there is, around the usual amount, and all of them a number of steps from the
// least.
func (c *checker) requestRange(bounds document.Value, usual, most resource.Quantity) {
	low, high, step := bounds.Get("min"), bounds.Get("max"), bounds.Get("step")
	if isNothing(low) {
		c.required("required when validRange is defined", "min")
		return
	}
	least := amount(low)
	if least.Cmp(most) > 0 {
		c.invalid(least.String(), fmt.Sprintf("min is larger than capacity value: %s", most.String()), "min")
	}
	if usual.Cmp(least) < 0 {
		c.invalid(usual.String(), fmt.Sprintf("default is less than min: %s", least.String()), "min")
	}
	if !isNothing(high) {
		c.requestMost(amount(high), least, usual, most)
	}
	if isNothing(step) {
		return
	}
	by, first := amount(step), least.DeepCopy()
	if first.Add(by); first.Cmp(most) > 0 {
		c.invalid(by.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", first.String(), most.String()), "step")
	}
	c.wholeSteps(usual, least, by)
	if !isNothing(high) {
		c.wholeSteps(amount(high), least, by)
	}
}

func (c *checker) requestMost(greatest, least, usual, most resource.Quantity) {
	if least.Cmp(greatest) > 0 {
		c.invalid(least.String(), fmt.Sprintf("min is larger than max: %s", greatest.String()), "max")
	}
	if greatest.Cmp(most) > 0 {
		c.invalid(greatest.String(), fmt.Sprintf("max is larger than capacity value: %s", most.String()), "max")
	}
	if usual.Cmp(greatest) > 0 {
		c.invalid(usual.String(), fmt.Sprintf("default is more than max: %s", greatest.String()), "max")
	}
}

// wholeSteps wants an amount that is some steps from the least. A step of nothing, on which kube-apiserver fails, leads
// nowhere.
func (c *checker) wholeSteps(v, least, by resource.Quantity) {
	if by.Value() == 0 || (v.Value()-least.Value())%by.Value() != 0 {
		c.invalid(v.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", by.String(), least.String()), "step")
	}
}
