package builtin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// singleTerm wants one term of a selector: those of several slices are merged.
func singleTerm(c *checker, terms, _ document.Value) {
	if terms.Len() != 1 {
		c.invalid(shown(terms), "must have exactly one node selector term")
	}
}

// sliceNodes wants one way to say which nodes have the devices of a slice.
func sliceNodes(c *checker, spec, _ document.Value) {
	const detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	switch given := givenWays(spec, "nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"); len(given) {
	case 0:
		c.required(detail)
	case 1:
	default:
		c.invalid("{"+strings.Join(given, ", ")+"}", detail+", but multiple fields are set")
	}
}

// deviceNodes wants one way to say which nodes have a device.
func deviceNodes(c *checker, device, _ document.Value) {
	const detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	switch given := givenWays(device, "nodeName", "nodeSelector", "allNodes"); len(given) {
	case 0:
		c.required(detail)
	case 1:
	default:
		c.invalid("{"+strings.Join(given, ", ")+"}", detail)
	}
}

// givenWays returns the names of fields that say something: neither "" nor false does, but an empty map.
func givenWays(v document.Value, names ...string) (given []string) {
	for _, name := range names {
		if value := v.Get(name); !isNothing(value) && (value.Kind() == document.Map || !isEmpty(value)) {
			given = append(given, "`"+name+"`")
		}
	}
	return given
}

func noDeviceNodes(c *checker, device, _ document.Value) {
	if present(device, "nodeName", "nodeSelector", "allNodes") > 0 {
		c.invalid(nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")
	}
}

// A slice has at most so many devices; fewer if more is said about some of them.
const (
	mostDevices         = 128
	mostAdvancedDevices = 64
)

func sliceDevices(c *checker, spec, _ document.Value) {
	devices, most := spec.Get("devices"), mostDevices
	for _, device := range devices.Items() {
		if device.Get("taints").Len()+device.Get("consumesCounters").Len() > 0 {
			most = mostAdvancedDevices
		}
	}
	c.push("devices")
	c.items(devices, most, c.blocks["Device"], "name")
	c.pop()
}

// mostCounters is how many counters are in a set, and are consumed of one.
const mostCounters = 32

func counters(c *checker, counters, _ document.Value) {
	if n := counters.Len(); n > mostCounters {
		e := field.TooMany(nil, n, mostCounters)
		c.fail(e.Type, e.BadValue, e.Detail)
		return
	}
	for key := range counters.Fields() {
		c.invalidAll(key, formats["dns-label"].check(key))
	}
}

// What a device can have.
const (
	mostAttributesAndCapacities = 32
	mostAttributes              = 48
	mostTaints                  = 16
	mostConditions              = 4
)

func deviceSize(c *checker, device, _ document.Value) {
	attributes := device.Get("attributes").Len()
	if n := attributes + device.Get("capacity").Len(); n > mostAttributesAndCapacities {
		c.invalid(int64(n), fmt.Sprintf("the total number of attributes and capacities must not exceed %d", mostAttributesAndCapacities))
	}
	if attributes > mostAttributes {
		c.invalid(int64(attributes), fmt.Sprintf("the total number of attribute values must not exceed %d", mostAttributes))
	}
}

func deviceAttributes(c *checker, device, _ document.Value) {
	c.push("attributes")
	for key, attribute := range device.Get("attributes").Fields() {
		c.attributeName(key)
		c.pushKey(shortKey(key))
		c.run(c.blocks["DeviceAttribute"], attribute, document.Value{})
		c.pop()
	}
	c.pop()
}

// shortKey leaves out the middle of a name that is too long to be shown.
func shortKey(key string) string {
	const (
		longest  = 63 + 1 + longestID
		ellipsis = "..."
		shown    = longest - len(ellipsis)
	)
	if len(key) <= longest {
		return key
	}
	return key[:(shown+1)/2] + ellipsis + key[len(key)-shown/2:]
}

// singleAttribute wants an attribute to have one value.
func singleAttribute(c *checker, attribute, _ document.Value) {
	const detail = "exactly one value must be specified"
	switch n := present(attribute, "bool", "int", "string", "version"); {
	case n == 0:
		c.invalid("", detail)
	case n > 1:
		c.invalid(shown(attribute), detail)
	}
}

// deviceTaints looks at the taints of a device, unless it had the same before.
func deviceTaints(c *checker, device, _ document.Value) {
	taints, old := device.Get("taints"), c.deviceBefore(device.Get("name").Text())
	if same(nil, false, taints, old.Get("taints")) {
		return
	}
	c.push("taints")
	c.items(taints, mostTaints, c.blocks["DeviceTaint"], "")
	c.pop()
}

// deviceBefore returns the device of that name that the live slice has.
func (c *checker) deviceBefore(name string) document.Value {
	for _, device := range c.scopes[0].old.Lookup("spec", "devices").Items() {
		if device.Get("name").Text() == name {
			return device
		}
	}
	return document.Value{}
}

// bindingConditions wants the conditions that a pod waits for, and those that tell it not to, to be others, and neither
// without the other.
func bindingConditions(c *checker, device, _ document.Value) {
	waits, fails := device.Get("bindingConditions"), device.Get("bindingFailureConditions")
	c.conditionNames("bindingConditions", waits)
	c.conditionNames("bindingFailureConditions", fails)
	c.conditionsOnce("bindingConditions", waits, document.Value{})
	c.conditionsOnce("bindingFailureConditions", fails, waits)
	if waits.Len() == 0 && fails.Len() > 0 {
		c.invalid(shown(waits), "bindingConditions are required to use bindingFailureConditions", "bindingConditions")
	}
	if fails.Len() == 0 && waits.Len() > 0 {
		c.invalid(shown(fails), "bindingFailureConditions are required to use bindingConditions", "bindingFailureConditions")
	}
}

func (c *checker) conditionNames(field string, list document.Value) {
	c.push(field)
	c.items(list, mostConditions, c.blocks["ConditionName"], "")
	c.pop()
}

// conditionsOnce refuses a condition that is in the list twice, or in the other one.
func (c *checker) conditionsOnce(field string, list, other document.Value) {
	all, others := texts(list), texts(other)
	c.push(field)
	for i, name := range all {
		c.pushItem(i)
		if slices.Contains(all[:i], name) {
			c.duplicate(name)
		}
		if slices.Contains(others, name) {
			c.invalid(name, "bindingFailureConditions must not overlap with bindingConditions")
		}
		c.pop()
	}
	c.pop()
}
