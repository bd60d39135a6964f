package builtin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// deviceChecks returns the checks of dynamic resource allocation (resource.k8s.io) that are Go functions, by their names in
// rules.
func deviceChecks() map[string]func(c *checker, value, old document.Value) {
	return map[string]func(c *checker, value, old document.Value){
		"extended-resource":   withOrigin("format=k8s-extended-resource-name", checkExtendedResourceName),
		"full-attribute-name": withOrigin("format=k8s-resource-fully-qualified-name", checkFullAttributeName),
		"pool-name":           withOrigin("format=k8s-resource-pool-name", checkPoolName),
		"normal-uid":          withOrigin("format=k8s-uuid", checkNormalUID),
		"device-expression":   checkDeviceExpression, "request-reference": checkRequestReference, "device-parameters": checkDeviceParameters,
		"single-term": checkSingleTerm, "slice-nodes": checkSliceNodes, "slice-devices": checkSliceDevices, "counters": checkCounters,
		"device-size": checkDeviceSize, "device-attributes": checkDeviceAttributes, "device-capacities": checkDeviceCapacities,
		"device-taints": checkDeviceTaints, "device-nodes": checkDeviceNodes, "no-device-nodes": checkNoDeviceNodes,
		"binding-conditions": checkBindingConditions, "single-attribute": checkSingleAttribute,
		"reserved-claim": checkReservedClaim, "allocated-device": checkAllocatedDevice,
		"interface-address": checkInterfaceAddress,
	}
}

// makeItems returns a check of a list, whose arguments are MAX TYPE [KEY]. If the list has more than MAX items (-1 for no
// limit), the check reports only this error. Otherwise it validates each item with the rules of the block TYPE, and then
// rejects items with duplicate keys. KEY is a field, a dot for the item itself, or device for the fields that identify a
// device.
func (book *rulebook) makeItems(args []string) (check, error) {
	if len(args) != 2 && len(args) != 3 || book.blocks[args[1]] == nil {
		return nil, fmt.Errorf("expected MAX TYPE [KEY], received %q", args)
	}
	maximum, err := strconv.Atoi(args[0])
	key := append(args, "")[2]
	return func(c *checker, list, _ document.Value) bool {
		c.checkItems(list, maximum, book.blocks[args[1]], key)
		return true
	}, err
}

func (c *checker) checkItems(list document.Value, maximum int, rules *block, key string) {
	if maximum >= 0 && list.Len() > maximum {
		e := field.TooMany(nil, list.Len(), maximum)
		c.fail(e.Type, e.BadValue, e.Detail)
		return
	}
	outer, place := c.list, c.item
	for i, item := range list.Items() {
		c.list, c.item = list, i
		c.pushItem(i)
		c.run(rules, item, document.Value{})
		c.pop()
	}
	c.list, c.item = outer, place
	if key == "" {
		return
	}
	seen := make(map[any]bool, list.Len())
	for i, item := range list.Items() {
		k := itemKey(item, key)
		if seen[k] {
			c.pushItem(i)
			c.duplicate(k)
			c.pop()
		}
		seen[k] = true
	}
}

// itemKey returns the key of a list item; key is the argument KEY of makeItems.
func itemKey(item document.Value, key string) any {
	switch key {
	case ".":
		return item.Text()
	case "device":
		return deviceOf(item)
	}
	return item.Get(key).Text()
}

// device identifies a device, or a share of a device. Its fields have the names that kube-apiserver's errors show.
type device struct{ Driver, Pool, Device, ShareID string }

func deviceOf(v document.Value) device {
	return device{v.Get("driver").Text(), v.Get("pool").Text(), v.Get("device").Text(), v.Get("shareID").Text()}
}

// checkRequestReference requires the name of a request in the enclosing ResourceClaim, or REQUEST/SUBREQUEST.
func checkRequestReference(c *checker, value, _ document.Value) {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	text := value.Text()
	segments := strings.Split(text, "/")
	if len(segments) > 2 {
		c.invalid(text, detail)
		return
	}
	for _, segment := range segments {
		c.invalidAll(segment, formats["dns-label"].check(segment))
	}
	claim, _, ok := c.enclosing("DeviceClaim")
	if !ok {
		claim = c.scopes[0].value.Lookup("spec", "devices")
	}
	if !isRequested(claim.Get("requests"), segments) {
		c.invalid(text, detail)
	}
}

// isRequested reports whether a ResourceClaim's requests contain the request, or the request and subrequest, that segments
// name. Of several requests with the same name, the last request is used, as in kube-apiserver.
func isRequested(requests document.Value, segments []string) bool {
	for i := requests.Len() - 1; i >= 0; i-- {
		request := requests.At(i)
		if request.Get("name").Text() != segments[0] {
			continue
		}
		return len(segments) == 1 || slices.ContainsFunc(sortedFieldTexts(request.Get("firstAvailable"), "name"), func(name string) bool { return name == segments[1] })
	}
	return false
}

// checkDeviceExpression rejects an empty CEL expression with the message of Kubernetes' CEL compiler. It does not compile
// other expressions, so it does not find their errors.
func checkDeviceExpression(c *checker, value, _ document.Value) {
	if value.Text() == "" {
		c.invalid("", "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting "+
			"{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}")
	}
}

// maxParametersLength is the maximum size of a driver's opaque parameters in bytes.
const maxParametersLength = 10 * 1024

// checkDeviceParameters requires a JSON object of at most maxParametersLength bytes. An update of a DeviceClass that does not
// change spec.config is accepted even if the object is longer.
func checkDeviceParameters(c *checker, value, _ document.Value) {
	switch {
	case len(value.JSON()) > maxParametersLength && !c.hasSameConfig():
		c.tooLong(maxParametersLength)
	case value.Kind() != document.Map:
		c.invalid("<value omitted>", "must be a valid JSON object")
	}
}

func (c *checker) hasSameConfig() bool {
	whole := &c.scopes[0]
	if !c.updating || whole.block.name != "resource.v1.DeviceClass" {
		return false
	}
	spec, _ := fieldType(c.kind, "spec")
	config, _ := fieldType(spec, "config")
	return semanticEqual(config, false, whole.value.Lookup("spec", "config"), whole.old.Lookup("spec", "config"))
}

func checkExtendedResourceName(c *checker, value, _ document.Value) {
	if !isExtendedResource(value.Text()) {
		c.invalid(value.Text(), "must be a valid extended resource name")
	}
}

// maxPoolLength is the maximum length of a pool name, which equals the maximum length of a node name.
const maxPoolLength = 253

func checkPoolName(c *checker, value, _ document.Value) {
	name := value.Text()
	if name == "" {
		c.required("")
		return
	}
	if len(name) > maxPoolLength {
		c.tooLong(maxPoolLength)
	}
	for part := range strings.SplitSeq(name, "/") {
		c.invalidAll(part, formats["dns-subdomain"].check(part))
	}
}

// checkFullAttributeName requires a valid attribute name with a domain: DOMAIN/ID.
func checkFullAttributeName(c *checker, value, _ document.Value) {
	c.checkAttributeName(value.Text())
	if !strings.Contains(value.Text(), "/") {
		c.invalid(value.Text(), "a fully qualified name must be a domain and a name separated by a slash")
	}
}

// maxIDLength is the maximum length of an attribute name without its domain.
const maxIDLength = 32

// checkAttributeName requires an attribute name of the form [DOMAIN/]ID. As in kube-apiserver, names with more than one slash
// are not checked.
func (c *checker) checkAttributeName(name string) {
	parts := strings.Split(name, "/")
	id := parts[len(parts)-1]
	if len(parts) > 2 {
		return
	}
	if len(parts) == 2 && parts[0] == "" {
		c.invalid("", "the domain must not be empty")
	} else if len(parts) == 2 {
		checkCSIDriver(c, document.NewString(parts[0]), document.Value{})
	}
	if len(parts) == 2 && id == "" {
		c.invalid("", "the name must not be empty")
		return
	}
	if len(id) > maxIDLength {
		c.tooLong(maxIDLength)
	}
	c.invalidAll(id, content.IsCIdentifier(id))
}

// checkReservedClaim requires that status.reservedFor of a ResourceClaim is set only if the claim is allocated, and that no
// consumer is added to it while the claim is being deleted.
func checkReservedClaim(c *checker, claim, old document.Value) {
	reserved := claim.Lookup("status", "reservedFor")
	if reserved.Len() == 0 {
		return
	}
	if isAbsentOrNull(claim.Lookup("status", "allocation")) {
		c.forbidden("may not be specified when `allocated` is not set", "status", "reservedFor")
		return
	}
	if isAbsentOrNull(claim.Lookup("metadata", "deletionTimestamp")) {
		return
	}
	before := old.Lookup("status", "reservedFor")
	for _, consumer := range reserved.Items() {
		if !containsEqual(before, consumer) {
			c.forbidden("new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set", "status", "reservedFor")
			return
		}
	}
}

// containsEqual reports whether list contains an item that is semantically equal to item.
func containsEqual(list, item document.Value) bool {
	for _, other := range list.Items() {
		if semanticEqual(nil, false, item, other) {
			return true
		}
	}
	return false
}

// checkAllocatedDevice requires that the device of a device status is allocated to the claim.
func checkAllocatedDevice(c *checker, status, _ document.Value) {
	id := deviceOf(status)
	for _, result := range c.scopes[0].value.Lookup("status", "allocation", "devices", "results").Items() {
		if deviceOf(result) == id {
			return
		}
	}
	c.invalid(id, "must be an allocated device in the claim")
}

// checkNormalUID requires a UUID in its canonical form.
func checkNormalUID(c *checker, value, _ document.Value) {
	text := value.Text()
	if err := uuid.Validate(text); err != nil {
		c.invalid(text, fmt.Sprintf("error validating uid: %v", err))
	} else if len(text) != 36 || text != strings.ToLower(text) {
		c.invalid(text, "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")
	}
}

func checkInterfaceAddress(c *checker, value, _ document.Value) {
	c.addErrors(validation.IsValidInterfaceAddress(nil, value.Text()))
}
