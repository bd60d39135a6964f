package builtin

import (
	"k8s.io/apimachinery/pkg/util/validation"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

// addressName is the format of the names of IPAddress objects, which are IP addresses in canonical form.
var addressName = format{problems: func(s string) (problems []string) {
	for _, e := range validation.IsValidIP(nil, s) {
		problems = append(problems, e.Detail)
	}
	return problems
}}

const oneCIDRPerFamilyDetail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"

// checkServiceCIDRs requires that a ServiceCIDR has one CIDR, or one of each IP family. An update may only add a second family.
func checkServiceCIDRs(c *checker, cidrs, _ document.Value) {
	if !c.updating {
		c.checkNewServiceCIDRs(cidrs)
		return
	}
	old := c.scopes[0].old.Lookup("spec", "cidrs")
	switch {
	case old.Len() == cidrs.Len():
		for i, cidr := range cidrs.Items() {
			if cidr.Text() != old.At(i).Text() {
				c.pushItem(i)
				c.invalid(cidr.Text(), "field is immutable")
				c.pop()
			}
		}
	case old.Len() == 1 && cidrs.Len() == 2:
		if cidrs.At(0).Text() != old.At(0).Text() {
			c.pushItem(0)
			c.invalid(cidrs.At(0).Text(), "field is immutable")
			c.pop()
		}
		c.checkNewServiceCIDRs(cidrs)
	default:
		c.invalid(errorValue(cidrs), "field is immutable")
	}
}

func (c *checker) checkNewServiceCIDRs(cidrs document.Value) {
	switch n := cidrs.Len(); {
	case n == 0:
		c.required("at least one CIDR required")
		return
	case n > 2:
		c.invalid(errorValue(cidrs), "may only hold up to 2 values")
		return
	}
	for i, cidr := range cidrs.Items() {
		c.pushItem(i)
		c.addErrors(validation.IsValidCIDR(nil, cidr.Text()))
		c.pop()
	}
	if cidrs.Len() < 2 {
		return
	}
	family := netutils.IPFamilyOfCIDRString(cidrs.At(0).Text())
	if family != netutils.IPFamilyUnknown && family == netutils.IPFamilyOfCIDRString(cidrs.At(1).Text()) {
		c.invalid(errorValue(cidrs), oneCIDRPerFamilyDetail)
	}
}
