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

// deviceChecks are the checks that only the rules of devices name.
func deviceChecks() map[string]func(c *checker, now, old document.Value) {
	return map[string]func(c *checker, now, old document.Value){
		"extended-resource": extendedResourceName, "full-attribute-name": fullAttributeName, "pool-name": poolName,
		"device-expression": deviceExpression, "request-reference": requestReference, "device-parameters": deviceParameters,
		"single-term": singleTerm, "slice-nodes": sliceNodes, "slice-devices": sliceDevices, "counters": counters,
		"device-size": deviceSize, "device-attributes": deviceAttributes, "device-capacities": deviceCapacities,
		"device-taints": deviceTaints, "device-nodes": deviceNodes, "no-device-nodes": noDeviceNodes,
		"binding-conditions": bindingConditions, "single-attribute": singleAttribute,
		"reserved-claim": reservedClaim, "normal-uid": normalUID, "allocated-device": allocatedDevice,
		"interface-address": interfaceAddress,
	}
}

// makeItems reads MOST TYPE [KEY]: a list has at most so many items, if that is not -1, and nothing more is said if
// it has more; each follows the rules of a type; and no two have the same key, of which kube-apiserver speaks last. A
// key is a field, a dot for the item itself, or device for the fields that name one.
func (book *rulebook) makeItems(args []string) (check, error) {
	if len(args) != 2 && len(args) != 3 || book.blocks[args[1]] == nil {
		return nil, fmt.Errorf("expected MOST TYPE [KEY], received %q", args)
	}
	most, err := strconv.Atoi(args[0])
	key := append(args, "")[2]
	return func(c *checker, list, _ document.Value) bool {
		c.items(list, most, book.blocks[args[1]], key)
		return true
	}, err
}

func (c *checker) items(list document.Value, most int, rules *block, key string) {
	if most >= 0 && list.Len() > most {
		e := field.TooMany(nil, list.Len(), most)
		c.fail(e.Type, e.BadValue, e.Detail)
		return
	}
	around, place := c.list, c.item
	for i, item := range list.Items() {
		c.list, c.item = list, i
		c.pushItem(i)
		c.run(rules, item, document.Value{})
		c.pop()
	}
	c.list, c.item = around, place
	if key == "" {
		return
	}
	seen := make(map[any]bool, list.Len())
	for i, item := range list.Items() {
		is := itemKey(item, key)
		if seen[is] {
			c.pushItem(i)
			c.duplicate(is)
			c.pop()
		}
		seen[is] = true
	}
}

// itemKey returns what tells an item from others.
func itemKey(item document.Value, key string) any {
	switch key {
	case ".":
		return item.Text()
	case "device":
		return deviceOf(item)
	}
	return item.Get(key).Text()
}

// device is what tells a device from others, or a share of it from other shares, as errors show it.
type device struct{ Driver, Pool, Device, ShareID string }

func deviceOf(v document.Value) device {
	return device{v.Get("driver").Text(), v.Get("pool").Text(), v.Get("device").Text(), v.Get("shareID").Text()}
}

// requestReference wants the name of a request of the claim, or of a request and one of its subrequests.
func requestReference(c *checker, now, _ document.Value) {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	text := now.Text()
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
		claim = c.scopes[0].now.Lookup("spec", "devices")
	}
	if !isRequested(claim.Get("requests"), segments) {
		c.invalid(text, detail)
	}
}

// isRequested reports whether there is such a request. Of two with the same name the last counts.
func isRequested(requests document.Value, segments []string) bool {
	for i := requests.Len() - 1; i >= 0; i-- {
		request := requests.At(i)
		if request.Get("name").Text() != segments[0] {
			continue
		}
		return len(segments) == 1 || slices.ContainsFunc(names(request.Get("firstAvailable"), "name"), func(name string) bool { return name == segments[1] })
	}
	return false
}

// deviceExpression wants an expression. Kubernetes' compiler says so of one that is empty; others are not compiled.
func deviceExpression(c *checker, now, _ document.Value) {
	if now.Text() == "" {
		c.invalid("", "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting "+
			"{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}")
	}
}

// longestParameters is how many bytes a driver can be sent, or can send.
const longestParameters = 10 * 1024

// deviceParameters wants an object, which is a driver's own. What a class has already may be as long as it is.
func deviceParameters(c *checker, now, _ document.Value) {
	switch {
	case len(now.JSON()) > longestParameters && !c.hasSameConfig():
		c.tooLong(longestParameters)
	case now.Kind() != document.Map:
		c.invalid("<value omitted>", "must be a valid JSON object")
	}
}

func (c *checker) hasSameConfig() bool {
	whole := &c.scopes[0]
	if !c.updating || whole.block.name != "resource.v1.DeviceClass" {
		return false
	}
	spec, _ := below(c.kind, "spec")
	config, _ := below(spec, "config")
	return same(config, false, whole.now.Lookup("spec", "config"), whole.old.Lookup("spec", "config"))
}

func extendedResourceName(c *checker, now, _ document.Value) {
	if !isExtendedResource(now.Text()) {
		c.invalid(now.Text(), "must be a valid extended resource name")
	}
}

// longestPool is the length of a name of a node, which a pool may have.
const longestPool = 253

func poolName(c *checker, now, _ document.Value) {
	name := now.Text()
	if name == "" {
		c.required("")
		return
	}
	if len(name) > longestPool {
		c.tooLong(longestPool)
	}
	for part := range strings.SplitSeq(name, "/") {
		c.invalidAll(part, formats["dns-subdomain"].check(part))
	}
}

// fullAttributeName wants the name of an attribute with the domain that it is of.
func fullAttributeName(c *checker, now, _ document.Value) {
	c.attributeName(now.Text())
	if !strings.Contains(now.Text(), "/") {
		c.invalid(now.Text(), "a fully qualified name must be a domain and a name separated by a slash")
	}
}

// longestID is how long a name of an attribute may be that has no domain.
const longestID = 32

// attributeName checks [DOMAIN/]ID. kube-apiserver lets pass what has more slashes.
func (c *checker) attributeName(name string) {
	parts := strings.Split(name, "/")
	id := parts[len(parts)-1]
	if len(parts) > 2 {
		return
	}
	if len(parts) == 2 && parts[0] == "" {
		c.invalid("", "the domain must not be empty")
	} else if len(parts) == 2 {
		csiDriver(c, document.NewString(parts[0]), document.Value{})
	}
	if len(parts) == 2 && id == "" {
		c.invalid("", "the name must not be empty")
		return
	}
	if len(id) > longestID {
		c.tooLong(longestID)
	}
	c.invalidAll(id, content.IsCIdentifier(id))
}

// reservedClaim wants that only what is allocated is reserved, and by nobody else once it is being deleted.
func reservedClaim(c *checker, claim, old document.Value) {
	reserved := claim.Lookup("status", "reservedFor")
	if reserved.Len() == 0 {
		return
	}
	if isNothing(claim.Lookup("status", "allocation")) {
		c.forbidden("may not be specified when `allocated` is not set", "status", "reservedFor")
		return
	}
	if isNothing(claim.Lookup("metadata", "deletionTimestamp")) {
		return
	}
	before := old.Lookup("status", "reservedFor")
	for _, consumer := range reserved.Items() {
		if !hasSame(before, consumer) {
			c.forbidden("new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set", "status", "reservedFor")
			return
		}
	}
}

// hasSame reports whether a list has an item that is the same.
func hasSame(list, item document.Value) bool {
	for _, other := range list.Items() {
		if same(nil, false, item, other) {
			return true
		}
	}
	return false
}

// allocatedDevice wants the status of a device that is allocated.
func allocatedDevice(c *checker, status, _ document.Value) {
	is := deviceOf(status)
	for _, result := range c.scopes[0].now.Lookup("status", "allocation", "devices", "results").Items() {
		if deviceOf(result) == is {
			return
		}
	}
	c.invalid(is, "must be an allocated device in the claim")
}

// normalUID wants a UID as it is written usually.
func normalUID(c *checker, now, _ document.Value) {
	text := now.Text()
	if err := uuid.Validate(text); err != nil {
		c.invalid(text, fmt.Sprintf("error validating uid: %v", err))
	} else if len(text) != 36 || text != strings.ToLower(text) {
		c.invalid(text, "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")
	}
}

func interfaceAddress(c *checker, now, _ document.Value) {
	c.own(validation.IsValidInterfaceAddress(nil, now.Text()))
}
