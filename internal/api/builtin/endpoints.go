package builtin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

// Limits of an endpoint slice.
const (
	mostEndpoints = 1000
	mostAddresses = 100
	mostHints     = 8
)

// endpointIP refuses addresses at which nobody else can be reached.
func endpointIP(c *checker, now, _ document.Value) { c.reachable(now.Text()) }

func (c *checker) reachable(address string) {
	ip := netutils.ParseIPSloppy(address)
	if ip == nil {
		c.invalid(address, "must be a valid IP address")
		return
	}
	if ip.IsUnspecified() {
		c.invalid(address, fmt.Sprintf("may not be unspecified (%v)", address))
	}
	if ip.IsLoopback() {
		c.invalid(address, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	}
	if ip.IsLinkLocalUnicast() {
		c.invalid(address, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	}
	if ip.IsLinkLocalMulticast() {
		c.invalid(address, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	}
}

// sliceEndpoints leaves endpoints alone that are as they were, whatever the type of addresses.
func sliceEndpoints(c *checker, endpoints, _ document.Value) {
	before := len(c.errs)
	if endpoints.Len() > mostEndpoints {
		c.tooMany(endpoints.Len(), mostEndpoints)
	} else {
		kind := c.scopes[0].now.Get("addressType").Text()
		for i, endpoint := range endpoints.Items() {
			c.pushItem(i)
			c.sliceEndpoint(endpoint, kind)
			c.pop()
		}
	}
	if len(c.errs) > before && c.updating && c.isAsBefore(endpoints) {
		c.errs = c.errs[:before]
	}
}

func (c *checker) tooMany(n, most int, below ...string) {
	e := field.TooMany(nil, n, most)
	c.fail(e.Type, e.BadValue, e.Detail, below...)
}

func (c *checker) sliceEndpoint(endpoint document.Value, kind string) {
	c.push("addresses")
	addresses := endpoint.Get("addresses")
	if addresses.Len() == 0 {
		c.required("must contain at least 1 address")
	} else if addresses.Len() > mostAddresses {
		c.tooMany(addresses.Len(), mostAddresses)
	}
	for i, address := range addresses.Items() {
		c.sliceAddress(i, address.Text(), kind)
	}
	c.pop()
	if node := endpoint.Get("nodeName"); !isNothing(node) {
		c.invalidAll(node.Text(), formats["dns-subdomain"].check(node.Text()), "nodeName")
	}
	if name := endpoint.Get("hostname"); !isNothing(name) {
		c.invalidAll(name.Text(), formats["dns-label"].check(name.Text()), "hostname")
	}
	c.push("hints")
	if c.hints(endpoint.Lookup("hints", "forZones"), "forZones", formats["label-value"]) {
		c.hints(endpoint.Lookup("hints", "forNodes"), "forNodes", formats["dns-subdomain"])
	}
	c.pop()
}

// sliceAddress checks an address by its type. That it is of another family than the slice is
// reported for all of the endpoint's addresses.
func (c *checker) sliceAddress(i int, address, kind string) {
	var wrong field.ErrorList
	isOfFamily := true
	switch kind {
	case "IPv4":
		wrong, isOfFamily = validation.IsValidIPForLegacyField(nil, address, true, nil), netutils.IsIPv4String(address)
	case "IPv6":
		wrong, isOfFamily = validation.IsValidIP(nil, address), netutils.IsIPv6String(address)
	case "FQDN":
		wrong = validation.IsFullyQualifiedDomainName(nil, address)
	}
	if len(wrong) == 0 && !isOfFamily {
		c.invalid(address, "must be an "+kind+" address")
	}
	c.pushItem(i)
	c.own(wrong)
	if len(wrong) == 0 && (kind == "IPv4" || kind == "IPv6") {
		c.reachable(address)
	}
	c.pop()
}

// hints checks whom endpoints are meant for. It reports whether there are few enough.
func (c *checker) hints(list document.Value, at string, names format) bool {
	if list.Len() > mostHints {
		c.tooMany(list.Len(), mostHints, at)
		return false
	}
	c.push(at)
	for i, hint := range list.Items() {
		name := hint.Get("name").Text()
		c.pushItem(i)
		if c.first(list, "name", name, false) < i {
			c.duplicate(name, "name")
		}
		c.invalidAll(name, names.check(name), "name")
		c.pop()
	}
	c.pop()
	return true
}
