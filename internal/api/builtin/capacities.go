package builtin

import (
	"fmt"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// checkDeviceCapacities validates the capacities of a device in a ResourceSlice. A capacity may have a requestPolicy only if the
// device allows multiple allocations. Capacities that the device has in the live ResourceSlice are not validated again.
func checkDeviceCapacities(c *checker, device, _ document.Value) {
	if live := c.liveDevice(device.Get("name").Text()); !live.IsAbsent() {
		if t, _ := c.currentType().Lookup("capacity"); semanticEqual(t, false, device.Get("capacity"), live.Get("capacity")) {
			return
		}
	}
	shared := device.Get("allowMultipleAllocations").Bool()
	c.push("capacity")
	for key, capacity := range device.Get("capacity").Fields() {
		c.checkAttributeName(key)
		policy := capacity.Get("requestPolicy")
		c.pushKey(shortenKey(key))
		c.push("requestPolicy")
		switch {
		case isAbsentOrNull(policy):
		case shared:
			c.checkRequestPolicy(policy, quantityValue(capacity.Get("value")))
		default:
			c.forbidden("allowMultipleAllocations must be true")
		}
		c.pop()
		c.pop()
	}
	c.pop()
}

// checkRequestPolicy requires that a capacity's requestPolicy has at most one of validValues and validRange, with a default.
// maximum is the value of the capacity.
func (c *checker) checkRequestPolicy(policy document.Value, maximum resource.Quantity) {
	values, bounds, defaultQuantity := policy.Get("validValues"), policy.Get("validRange"), policy.Get("default")
	hasValues, hasBounds := values.Len() > 0, !isAbsentOrNull(bounds)
	switch {
	case hasValues && hasBounds:
		c.forbidden(`exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)
	case hasValues && isAbsentOrNull(defaultQuantity):
		c.required("required when validValues is defined", "default")
	case hasValues:
		c.push("validValues")
		c.checkRequestValues(values, quantityValue(defaultQuantity), maximum)
		c.pop()
	case hasBounds && isAbsentOrNull(defaultQuantity):
		c.required("required when validRange is defined", "default")
	case hasBounds:
		c.push("validRange")
		c.checkRequestRange(bounds, quantityValue(defaultQuantity), maximum)
		c.pop()
	}
}

// maxRequestValues is the maximum number of items of validValues.
const maxRequestValues = 10

// checkRequestValues requires that validValues are distinct quantities in ascending order, that no quantity exceeds maximum,
// the value of the capacity, and that validValues contains the default.
func (c *checker) checkRequestValues(list document.Value, defaultQuantity, maximum resource.Quantity) {
	values := make([]resource.Quantity, list.Len())
	for i, v := range list.Items() {
		values[i] = quantityValue(v)
		if i > 0 && values[i-1].Cmp(values[i]) > 0 {
			c.invalidItem(i, values[i], "values must be sorted in ascending order")
		}
	}
	if len(values) > maxRequestValues {
		e := field.TooMany(nil, len(values), maxRequestValues)
		c.fail(e.Type, e.BadValue, e.Detail)
	} else {
		c.checkRequestOptions(values, maximum)
	}
	isDefault := func(v resource.Quantity) bool { return v.Cmp(defaultQuantity) == 0 }
	if len(values) > maxRequestValues || !slices.ContainsFunc(values, isDefault) {
		c.invalid(defaultQuantity.String(), "default value is not valid according to the requestPolicy")
	}
}

func (c *checker) checkRequestOptions(values []resource.Quantity, maximum resource.Quantity) {
	for i, v := range values {
		if v.Cmp(maximum) > 0 {
			c.invalidItem(i, v, fmt.Sprintf("option is larger than capacity value: %s", maximum.String()))
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

// checkRequestRange requires that the bounds of validRange do not exceed maximum, the value of the capacity, that the default is
// within the bounds, and that default and max differ from min by a multiple of step.
func (c *checker) checkRequestRange(bounds document.Value, defaultQuantity, maximum resource.Quantity) {
	low, high, step := bounds.Get("min"), bounds.Get("max"), bounds.Get("step")
	if isAbsentOrNull(low) {
		c.required("required when validRange is defined", "min")
		return
	}
	minimum := quantityValue(low)
	if minimum.Cmp(maximum) > 0 {
		c.invalid(minimum.String(), fmt.Sprintf("min is larger than capacity value: %s", maximum.String()), "min")
	}
	if defaultQuantity.Cmp(minimum) < 0 {
		c.invalid(defaultQuantity.String(), fmt.Sprintf("default is less than min: %s", minimum.String()), "default")
	}
	if !isAbsentOrNull(high) {
		c.checkRangeMaximum(quantityValue(high), minimum, defaultQuantity, maximum)
	}
	if !isAbsentOrNull(step) {
		c.checkRangeSteps(bounds, defaultQuantity, maximum)
	}
}

// checkRangeSteps validates the step of bounds, which must be positive. Its arithmetic requires integers that fit into int64.
func (c *checker) checkRangeSteps(bounds document.Value, defaultQuantity, maximum resource.Quantity) {
	minimum, step := quantityValue(bounds.Get("min")), quantityValue(bounds.Get("step"))
	if step.Sign() <= 0 {
		c.invalid(step.String(), "must be greater than zero", "step")
		return
	}
	first := minimum.DeepCopy()
	if first.Add(step); first.Cmp(maximum) > 0 {
		c.invalid(step.String(), fmt.Sprintf("one step %s is larger than capacity value: %s", first.String(), maximum.String()), "step")
	}
	hasMaximum := !isAbsentOrNull(bounds.Get("max"))
	before := len(c.errs)
	c.checkInt64(defaultQuantity, "default")
	c.checkInt64(minimum, "min")
	if hasMaximum {
		c.checkInt64(quantityValue(bounds.Get("max")), "max")
	}
	c.checkInt64(step, "step")
	if len(c.errs) > before {
		return
	}
	c.checkStep(defaultQuantity, minimum, step)
	if hasMaximum {
		c.checkStep(quantityValue(bounds.Get("max")), minimum, step)
	}
}

// checkInt64 requires that v, the value of the given field, is not negative and fits into int64.
func (c *checker) checkInt64(v resource.Quantity, field string) {
	if v.Sign() < 0 {
		c.invalid(v.String(), "must be greater than or equal to 0", field)
	} else if v.CmpInt64(math.MaxInt64) > 0 {
		c.invalid(v.String(), fmt.Sprintf("must not be larger than %d", math.MaxInt64), field)
	}
}

func (c *checker) checkRangeMaximum(greatest, minimum, defaultQuantity, maximum resource.Quantity) {
	if minimum.Cmp(greatest) > 0 {
		c.invalid(minimum.String(), fmt.Sprintf("min is larger than max: %s", greatest.String()), "max")
	}
	if greatest.Cmp(maximum) > 0 {
		c.invalid(greatest.String(), fmt.Sprintf("max is larger than capacity value: %s", maximum.String()), "max")
	}
	if defaultQuantity.Cmp(greatest) > 0 {
		c.invalid(defaultQuantity.String(), fmt.Sprintf("default is more than max: %s", greatest.String()), "default")
	}
}

// checkStep requires that v differs from minimum by a multiple of step, which is positive.
func (c *checker) checkStep(v, minimum, step resource.Quantity) {
	if (v.Value()-minimum.Value())%step.Value() != 0 {
		c.invalid(v.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", step.String(), minimum.String()), "step")
	}
}
