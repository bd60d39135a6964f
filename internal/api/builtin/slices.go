package builtin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// checkSingleTerm requires that the node selector of a ResourceSlice or device has exactly one term, because the scheduler
// merges the node selectors of several ResourceSlices.
func checkSingleTerm(c *checker, terms, _ document.Value) {
	if terms.Len() != 1 {
		c.invalid(errorValue(terms), "must have exactly one node selector term")
	}
}

// checkSliceNodes requires that the spec of a ResourceSlice has exactly one of the fields that select its nodes.
func checkSliceNodes(c *checker, spec, _ document.Value) {
	const detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	switch names := quotePresentFields(spec, "nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"); len(names) {
	case 0:
		c.required(detail)
	case 1:
	default:
		c.invalid("{"+strings.Join(names, ", ")+"}", detail+", but multiple fields are set")
	}
}

// checkDeviceNodes requires that a device has exactly one of the fields that select its nodes.
func checkDeviceNodes(c *checker, device, _ document.Value) {
	const detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	switch names := quotePresentFields(device, "nodeName", "nodeSelector", "allNodes"); len(names) {
	case 0:
		c.required(detail)
	case 1:
	default:
		c.invalid("{"+strings.Join(names, ", ")+"}", detail)
	}
}

// quotePresentFields returns, in backquotes, the names whose fields in v are set. "" and false count as not set, an empty map
// counts as set.
func quotePresentFields(v document.Value, names ...string) (quoted []string) {
	for _, name := range names {
		if value := v.Get(name); !isAbsentOrNull(value) && (value.Kind() == document.Map || !isEmpty(value)) {
			quoted = append(quoted, "`"+name+"`")
		}
	}
	return quoted
}

func checkNoDeviceNodes(c *checker, device, _ document.Value) {
	if countPresent(device, "nodeName", "nodeSelector", "allNodes") > 0 {
		c.invalid(nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")
	}
}

// The maximum number of devices of a ResourceSlice.
const (
	maxDevices         = 128 // maxDevices applies if no device has taints or consumes counters.
	maxAdvancedDevices = 64  // maxAdvancedDevices applies if a device has taints or consumes counters.
)

func checkSliceDevices(c *checker, spec, _ document.Value) {
	devices, maximum := spec.Get("devices"), maxDevices
	for _, device := range devices.Items() {
		if device.Get("taints").Len()+device.Get("consumesCounters").Len() > 0 {
			maximum = maxAdvancedDevices
		}
	}
	c.push("devices")
	c.checkItems(devices, maximum, c.blocks["Device"], "name")
	c.pop()
}

// maxCounters is the maximum number of counters in a counter set of a ResourceSlice.
const maxCounters = 32

func checkCounters(c *checker, counters, _ document.Value) {
	if n := counters.Len(); n > maxCounters {
		e := field.TooMany(nil, n, maxCounters)
		c.fail(e.Type, e.BadValue, e.Detail)
		return
	}
	for key := range counters.Fields() {
		c.invalidFormat(formats["dns-label"], key)
	}
}

// Limits of a device in a ResourceSlice.
const (
	maxAttributesAndCapacities = 32 // maxAttributesAndCapacities is the maximum number of attributes plus capacities.
	maxAttributes              = 48 // maxAttributes is the maximum number of attributes.
	maxTaints                  = 16 // maxTaints is the maximum number of taints.
	maxConditions              = 4  // maxConditions is the maximum number of binding conditions.
)

func checkDeviceSize(c *checker, device, _ document.Value) {
	attributes := device.Get("attributes").Len()
	if n := attributes + device.Get("capacity").Len(); n > maxAttributesAndCapacities {
		c.invalid(int64(n), fmt.Sprintf("the total number of attributes and capacities must not exceed %d", maxAttributesAndCapacities))
	}
	if attributes > maxAttributes {
		c.invalid(int64(attributes), fmt.Sprintf("the total number of attribute values must not exceed %d", maxAttributes))
	}
}

func checkDeviceAttributes(c *checker, device, _ document.Value) {
	c.push("attributes")
	for key, attribute := range device.Get("attributes").Fields() {
		c.checkAttributeName(key)
		c.pushKey(shortenKey(key))
		c.run(c.blocks["DeviceAttribute"], attribute, document.Value{})
		c.pop()
	}
	c.pop()
}

// shortenKey returns key, an attribute name, as in paths of errors: "..." replaces the middle of a long name.
func shortenKey(key string) string {
	const (
		maxLength = 63 + 1 + maxIDLength
		ellipsis  = "..."
		shown     = maxLength - len(ellipsis)
	)
	if len(key) <= maxLength {
		return key
	}
	return key[:(shown+1)/2] + ellipsis + key[len(key)-shown/2:]
}

// checkSingleAttribute requires that an attribute of a device has exactly one of the fields bool, int, string and version.
func checkSingleAttribute(c *checker, attribute, _ document.Value) {
	const detail = "exactly one value must be specified"
	switch n := countPresent(attribute, "bool", "int", "string", "version"); {
	case n == 0:
		c.invalidBy(originUnion, "", detail)
	case n > 1:
		c.invalidBy(originUnion, errorValue(attribute), detail)
	}
}

// checkDeviceTaints validates the taints of a device, unless the device in the live ResourceSlice has the same taints.
func checkDeviceTaints(c *checker, device, _ document.Value) {
	taints, old := device.Get("taints"), c.liveDevice(device.Get("name").Text())
	if semanticEqual(nil, false, taints, old.Get("taints")) {
		return
	}
	c.push("taints")
	c.checkItems(taints, maxTaints, c.blocks["DeviceTaint"], "")
	c.pop()
}

// liveDevice returns the device with the given name in the live ResourceSlice; an absent value if there is none.
func (c *checker) liveDevice(name string) document.Value {
	for _, device := range c.scopes[0].old.Lookup("spec", "devices").Items() {
		if device.Get("name").Text() == name {
			return device
		}
	}
	return document.Value{}
}

// checkBindingConditions requires that bindingConditions and bindingFailureConditions of a device are disjoint, and that either
// both or neither are set.
func checkBindingConditions(c *checker, device, _ document.Value) {
	waits, fails := device.Get("bindingConditions"), device.Get("bindingFailureConditions")
	c.checkConditionNames("bindingConditions", waits)
	c.checkConditionNames("bindingFailureConditions", fails)
	c.checkDuplicateConditions("bindingConditions", waits, document.Value{})
	c.checkDuplicateConditions("bindingFailureConditions", fails, waits)
	if waits.Len() == 0 && fails.Len() > 0 {
		c.invalid(errorValue(waits), "bindingConditions are required to use bindingFailureConditions", "bindingConditions")
	}
	if fails.Len() == 0 && waits.Len() > 0 {
		c.invalid(errorValue(fails), "bindingFailureConditions are required to use bindingConditions", "bindingFailureConditions")
	}
}

func (c *checker) checkConditionNames(field string, list document.Value) {
	c.push(field)
	c.checkItems(list, maxConditions, c.blocks["ConditionName"], "")
	c.pop()
}

// checkDuplicateConditions rejects each item of list, the value of the given field, that equals an earlier item of list or any
// item of otherList.
func (c *checker) checkDuplicateConditions(field string, list, otherList document.Value) {
	names, otherNames := stringItems(list), stringItems(otherList)
	c.push(field)
	for i, name := range names {
		c.pushItem(i)
		if slices.Contains(names[:i], name) {
			c.duplicate(name)
		}
		if slices.Contains(otherNames, name) {
			c.invalid(name, "bindingFailureConditions must not overlap with bindingConditions")
		}
		c.pop()
	}
	c.pop()
}
