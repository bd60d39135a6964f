package builtin

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

// Limits of an EndpointSlice.
const (
	maxEndpoints = 1000 // maxEndpoints is the maximum number of endpoints in an EndpointSlice.
	maxAddresses = 100  // maxAddresses is the maximum number of addresses in an endpoint.
	maxHints     = 8    // maxHints is the maximum number of zones, and of nodes, in the hints of an endpoint.
)

// checkEndpointIP requires an IP address that is not unspecified, loopback or link-local.
func checkEndpointIP(c *checker, value, _ document.Value) { c.checkReachable(value.Text()) }

func (c *checker) checkReachable(address string) {
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

// checkSliceEndpoints validates the endpoints of an EndpointSlice. It skips the validation if an update changes no endpoint.
func checkSliceEndpoints(c *checker, endpoints, _ document.Value) {
	before := len(c.errs)
	if endpoints.Len() > maxEndpoints {
		c.tooMany(endpoints.Len(), maxEndpoints)
	} else {
		kind := c.scopes[0].value.Get("addressType").Text()
		for i, endpoint := range endpoints.Items() {
			c.pushItem(i)
			c.checkSliceEndpoint(endpoint, kind)
			c.pop()
		}
	}
	if len(c.errs) > before && c.updating && c.isUnchanged(endpoints) {
		c.errs = c.errs[:before]
	}
}

func (c *checker) tooMany(n, maximum int, below ...string) {
	e := field.TooMany(nil, n, maximum)
	c.fail(e.Type, e.BadValue, e.Detail, below...)
}

func (c *checker) checkSliceEndpoint(endpoint document.Value, kind string) {
	c.push("addresses")
	addresses := endpoint.Get("addresses")
	if addresses.Len() == 0 {
		c.required("must contain at least 1 address")
	} else if addresses.Len() > maxAddresses {
		c.tooMany(addresses.Len(), maxAddresses)
	}
	for i, address := range addresses.Items() {
		c.checkSliceAddress(i, address.Text(), kind)
	}
	c.pop()
	if node := endpoint.Get("nodeName"); !isAbsentOrNull(node) {
		c.invalidAll(node.Text(), formats["dns-subdomain"].check(node.Text()), "nodeName")
	}
	if name := endpoint.Get("hostname"); !isAbsentOrNull(name) {
		c.invalidAll(name.Text(), formats["dns-label"].check(name.Text()), "hostname")
	}
	c.push("hints")
	if c.validateHints(endpoint.Lookup("hints", "forZones"), "forZones", formats["label-value"]) {
		c.validateHints(endpoint.Lookup("hints", "forNodes"), "forNodes", formats["dns-subdomain"])
	}
	c.pop()
}

// checkSliceAddress validates address, which has the index i among the addresses of an endpoint; kind is the addressType of the
// EndpointSlice. Like kube-apiserver, it reports an address of the wrong IP family at the path of the list.
func (c *checker) checkSliceAddress(i int, address, kind string) {
	var errs field.ErrorList
	isOfFamily := true
	switch kind {
	case "IPv4":
		errs, isOfFamily = validation.IsValidIPForLegacyField(nil, address, true, nil), netutils.IsIPv4String(address)
	case "IPv6":
		errs, isOfFamily = validation.IsValidIP(nil, address), netutils.IsIPv6String(address)
	case "FQDN":
		errs = validation.IsFullyQualifiedDomainName(nil, address)
	}
	if len(errs) == 0 && !isOfFamily {
		c.invalid(address, "must be an "+kind+" address")
	}
	c.pushItem(i)
	c.addErrors(errs)
	if len(errs) == 0 && (kind == "IPv4" || kind == "IPv6") {
		c.checkReachable(address)
	}
	c.pop()
}

// validateHints validates the list forZones or forNodes of endpoint hints; listName is the name of the list, and nameFormat is
// the format of the zone or node names. It reports whether the number of items is within the limit.
func (c *checker) validateHints(list document.Value, listName string, nameFormat format) bool {
	if list.Len() > maxHints {
		c.tooMany(list.Len(), maxHints, listName)
		return false
	}
	c.push(listName)
	for i, hint := range list.Items() {
		name := hint.Get("name").Text()
		c.pushItem(i)
		if c.firstIndex(list, "name", name, false) < i {
			c.duplicate(name, "name")
		}
		c.invalidAll(name, nameFormat.check(name), "name")
		c.pop()
	}
	c.pop()
	return true
}
