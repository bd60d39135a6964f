package builtin

import (
	"net/netip"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

// warnIP adds a warning if value is an IP address that is not in canonical form. It ignores invalid addresses, which validation
// rejects.
func warnIP(c *checker, value, _ document.Value) {
	addr, err := netip.ParseAddr(value.Text())
	if err == nil && addr.Is4() || value.Text() == "" {
		return
	}
	if netutils.ParseIPSloppy(value.Text()) != nil {
		c.addWarnings(validation.GetWarningsForIP(nil, value.Text()))
	}
}

// warnCIDR adds a warning if value is a CIDR that is not in canonical form. It ignores invalid CIDRs, which validation rejects.
func warnCIDR(c *checker, value, _ document.Value) {
	prefix, err := netip.ParsePrefix(value.Text())
	if err == nil && prefix.Addr().Is4() && prefix == prefix.Masked() {
		return
	}
	if _, _, err := netutils.ParseCIDRSloppy(value.Text()); err == nil {
		c.addWarnings(validation.GetWarningsForCIDR(nil, value.Text()))
	}
}

// addWarnings adds warnings that a function of apimachinery returned for a nil path, and replaces their empty path with the
// path of the checked value.
func (c *checker) addWarnings(warnings []string) {
	for _, w := range warnings {
		_, text, _ := strings.Cut(w, ": ")
		c.warn(text)
	}
}

// The labels whose value is the name of the controller that manages an Endpoints object or an EndpointSlice. As in Kubernetes,
// objects that Kubernetes' own controllers manage get no warnings about addresses.
const (
	endpointsManager = "endpoints.kubernetes.io/managed-by"
	sliceManager     = "endpointslice.kubernetes.io/managed-by"
)

func warnEndpoints(c *checker, endpoints, _ document.Value) {
	if endpoints.Lookup("metadata", "labels", endpointsManager).Text() == "endpoint-controller" {
		return
	}
	for i, subset := range endpoints.Get("subsets").Items() {
		c.push("subsets")
		c.pushItem(i)
		for _, list := range [...]string{"addresses", "notReadyAddresses"} {
			c.push(list)
			for j, address := range subset.Get(list).Items() {
				c.pushItem(j)
				c.push("ip")
				warnIP(c, address.Get("ip"), document.Value{})
				c.pop()
				c.pop()
			}
			c.pop()
		}
		c.pop()
		c.pop()
	}
}

func warnSlice(c *checker, slice, _ document.Value) {
	switch slice.Lookup("metadata", "labels", sliceManager).Text() {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return
	}
	c.push("endpoints")
	for i, endpoint := range slice.Get("endpoints").Items() {
		c.pushItem(i)
		c.push("addresses")
		for j, address := range endpoint.Get("addresses").Items() {
			c.pushItem(j)
			warnIP(c, address, document.Value{})
			c.pop()
		}
		c.pop()
		c.pop()
	}
	c.pop()
}
