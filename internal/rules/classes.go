package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

// Names of priority classes with this beginning are those of the system.
const systemPriority = "system-"

// mostUserPriority is how high the priority of other classes may be.
const mostUserPriority = 1_000_000_000

// systemPriorities are the classes of the system.
var systemPriorities = map[string]int64{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}

func priorityValue(c *checker, class, _ document.Value) {
	name, value := class.Lookup("metadata", "name").Text(), number(class.Get("value"))
	if !strings.HasPrefix(name, systemPriority) {
		if value > mostUserPriority {
			c.forbidden(fmt.Sprintf("maximum allowed value of a user defined priority is %v", mostUserPriority), "value")
		}
		return
	}
	want, ok := systemPriorities[name]
	problem := ""
	switch {
	case !ok:
		problem = name + " is not a known system priority class"
	case value != want:
		problem = fmt.Sprintf("value of %v PriorityClass must be %v", name, want)
	case class.Get("globalDefault").Bool():
		problem = fmt.Sprintf("globalDefault of %v PriorityClass must be false", name)
	}
	if problem != "" {
		c.forbidden("priority class names with 'system-' prefix are reserved for system use only. error: "+problem, "metadata", "name")
	}
}

// overhead checks what a pod of a runtime class takes beyond its containers, as if it were a
// container's limits.
func overhead(c *checker, o, _ document.Value) {
	fixed := o.Get("podFixed")
	if !isNothing(fixed) {
		c.requirements(document.NewMap(document.Field{Name: "limits", Value: fixed}), c.containerResourceName)
	}
}

// uniqueTolerations refuses a toleration that is there already, for however long.
func uniqueTolerations(c *checker, tolerations, _ document.Value) {
	seen := map[[4]string]bool{}
	for i, t := range tolerations.Items() {
		key := [4]string{t.Get("key").Text(), t.Get("operator").Text(), t.Get("value").Text(), t.Get("effect").Text()}
		if seen[key] {
			c.pushItem(i)
			c.duplicate(shown(t))
			c.pop()
		}
		seen[key] = true
	}
}

// leaseStrategies are the ways to choose who holds a lease that need no domain.
var leaseStrategies = []string{"OldestEmulationVersion"}

func leaseStrategy(c *checker, now, _ document.Value) {
	text := now.Text()
	if strings.Contains(text, "/") {
		c.invalidAll(text, formats["qualified-name"].check(text))
	} else if !slices.Contains(leaseStrategies, text) {
		c.unsupported(text, leaseStrategies)
	}
}

// addressName is how addresses are named: as themselves.
var addressName = format{nil, func(s string) (problems []string) {
	for _, e := range validation.IsValidIP(nil, s) {
		problems = append(problems, e.Detail)
	}
	return problems
}}

const oneCIDREach = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"

// serviceCIDRs checks a range of each family. It may be given one of the other family later.
func serviceCIDRs(c *checker, cidrs, _ document.Value) {
	if !c.updating {
		c.newServiceCIDRs(cidrs)
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
		c.newServiceCIDRs(cidrs)
	default:
		c.invalid(shown(cidrs), "field is immutable")
	}
}

func (c *checker) newServiceCIDRs(cidrs document.Value) {
	switch n := cidrs.Len(); {
	case n == 0:
		c.required("at least one CIDR required")
		return
	case n > 2:
		c.invalid(shown(cidrs), "may only hold up to 2 values")
		return
	}
	for i, cidr := range cidrs.Items() {
		c.pushItem(i)
		c.own(validation.IsValidCIDR(nil, cidr.Text()))
		c.pop()
	}
	if cidrs.Len() < 2 {
		return
	}
	family := netutils.IPFamilyOfCIDRString(cidrs.At(0).Text())
	if family != netutils.IPFamilyUnknown && family == netutils.IPFamilyOfCIDRString(cidrs.At(1).Text()) {
		c.invalid(shown(cidrs), oneCIDREach)
	}
}
