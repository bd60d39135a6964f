package builtin

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

func isHeadless(spec document.Value) bool {
	ips := spec.Get("clusterIPs")
	if ips.Len() == 0 {
		return spec.Get("clusterIP").Text() == "None"
	}
	return ips.Kind() == document.List && ips.Len() == 1 && ips.At(0).Text() == "None"
}

func checkServiceHasPorts(c *checker, spec, _ document.Value) {
	if spec.Get("ports").Len() == 0 && !isHeadless(spec) {
		c.required("", "ports")
	}
}

func checkExternalName(c *checker, value, _ document.Value) {
	name := strings.TrimSuffix(value.Text(), ".")
	if name == "" {
		c.required("")
		return
	}
	c.invalidAll(name, formats["dns-subdomain"].check(name))
}

func checkHeadlessType(c *checker, spec, _ document.Value) {
	if t := spec.Get("type").Text(); isHeadless(spec) && (t == "LoadBalancer" || t == "NodePort") {
		c.push("clusterIPs")
		c.pushItem(0)
		c.invalid("None", "may not be set to 'None' for "+t+" services")
		c.pop()
		c.pop()
	}
}

func checkServicePortName(c *checker, p, _ document.Value) {
	c.checkPortName(p, c.list.Len() > 1, "name")
}

func (c *checker) checkPortName(p document.Value, isRequired bool, below string) {
	name := p.Get("name").Text()
	if name == "" {
		if isRequired {
			c.required("", below)
		}
		return
	}
	c.invalidAll(name, formats["dns-label"].check(name), below)
	if i := c.firstIndex(c.list, "name", name, false); i >= 0 && i < c.item {
		c.duplicate(name, below)
	}
}

// checkEndpointPortName validates the name of a port in an Endpoints object. Unlike the ports of Services, names may repeat.
func checkEndpointPortName(c *checker, p, _ document.Value) {
	name := p.Get("name").Text()
	if name == "" {
		if c.list.Len() > 1 {
			c.required("", "name")
		}
		return
	}
	c.invalidAll(name, formats["dns-label"].check(name), "name")
}

func checkEndpointSubsetSize(c *checker, subset, _ document.Value) {
	if subset.Get("addresses").Len()+subset.Get("notReadyAddresses").Len() == 0 {
		c.required("must specify `addresses` or `notReadyAddresses`")
	}
}

// CheckAddresses returns the errors of the cluster IPs and IP families of a Service. old is the live Service, or absent on
// create. The server calls it before it allocates IP addresses, which requires valid fields.
func CheckAddresses(service, old document.Value) field.ErrorList {
	c := checkers.Get().(*checker)
	c.updating = !isAbsentOrNull(old)
	c.scopes = append(c.scopes, scope{value: service, old: old})
	c.push("spec")
	checkClusterIPs(c, service.Get("spec"), document.Value{})
	errs := c.errs
	c.reset()
	checkers.Put(c)
	return errs
}

// checkClusterIPs validates the cluster IPs and IP families of a Service. An empty clusterIPs is valid even if clusterIP is set,
// because kube-apiserver copies clusterIP to it.
func checkClusterIPs(c *checker, spec, _ document.Value) {
	first, ips := spec.Get("clusterIP").Text(), spec.Get("clusterIPs")
	if ips.Kind() == document.List && ips.Len() > 0 {
		switch {
		case first == "":
			c.invalid(errorValue(ips), "must be empty when `clusterIP` is not specified", "clusterIPs")
		case ips.At(0).Text() != first:
			c.invalid(errorValue(ips), "first value must match `clusterIP`", "clusterIPs")
		}
	}
	c.checkFamilies(spec)
	if c.checkAddresses(ips) {
		c.checkAddressFamilies(spec, ips)
	}
}

func (c *checker) checkFamilies(spec document.Value) {
	families := spec.Get("ipFamilies")
	c.push("ipFamilies")
	for i, family := range families.Items() {
		c.pushItem(i)
		if text := family.Text(); text != "IPv4" && text != "IPv6" {
			c.unsupported(text, []string{"IPv4", "IPv6"})
		}
		if c.firstIndex(families, "", family.Text(), false) < i {
			c.duplicate(family.Text())
		}
		c.pop()
	}
	c.pop()
	policies := []string{"PreferDualStack", "RequireDualStack", "SingleStack"}
	if policy := spec.Get("ipFamilyPolicy"); !isAbsentOrNull(policy) {
		switch policy.Text() {
		case policies[0], policies[1], policies[2]:
		default:
			c.unsupported(policy.Text(), policies, "ipFamilyPolicy")
		}
	}
}

func (c *checker) checkAddresses(ips document.Value) (valid bool) {
	before := len(c.errs)
	if ips.Kind() == document.List && ips.Len() > 1 && ips.At(0).Text() == "None" {
		c.invalid(errorValue(ips), "'None' must be the first and only value", "clusterIPs")
	}
	c.push("clusterIPs")
	for i, address := range ips.Items() {
		if i == 0 && address.Text() == "None" {
			continue
		}
		c.pushItem(i)
		checkNewIP(c, address, document.Value{})
		c.pop()
	}
	c.pop()
	valid = len(c.errs) == before
	if ips.Len() > 2 {
		c.invalid(errorValue(ips), "may only hold up to 2 values", "clusterIPs")
	}
	return valid
}

func (c *checker) checkAddressFamilies(spec, ips document.Value) {
	if ips.Len() > 1 {
		if dual, err := netutils.IsDualStackIPStrings(stringItems(ips)); err == nil && !dual {
			c.invalid(errorValue(ips), "may specify no more than one IP for each IP family", "clusterIPs")
		}
	}
	families := spec.Get("ipFamilies")
	if isHeadless(spec) || families.Kind() != document.List {
		return
	}
	c.push("clusterIPs")
	for i, address := range ips.Items() {
		if i >= families.Len() {
			break
		}
		family := families.At(i).Text()
		if isSix := netutils.IsIPv6String(address.Text()); isSix && family == "IPv4" || !isSix && family == "IPv6" {
			c.pushItem(i)
			c.invalid(address.Text(), fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%v]`", family, i))
			c.pop()
		}
	}
	c.pop()
}

func checkNodePortsUnique(c *checker, ports, _ document.Value) {
	c.reportDuplicatePairs(ports, "nodePort", func(p document.Value) { c.duplicate(intValue(p.Get("nodePort")), "nodePort") })
}

func checkPortsUnique(c *checker, ports, _ document.Value) {
	c.reportDuplicatePairs(ports, "port", func(p document.Value) { c.duplicate(errorPort(p)) })
}

func (c *checker) reportDuplicatePairs(ports document.Value, name string, report func(document.Value)) {
	if ports.Kind() != document.List || ports.Len() < 2 {
		return
	}
	type pair struct {
		protocol string
		number   int64
	}
	seen := make(map[pair]bool, ports.Len())
	for i, p := range ports.Items() {
		key := pair{p.Get("protocol").Text(), intValue(p.Get(name))}
		if key.number == 0 && name == "nodePort" {
			continue
		}
		if seen[key] {
			c.pushItem(i)
			report(p)
			c.pop()
		}
		seen[key] = true
	}
}

// errorPort returns the bad value that kube-apiserver's error shows for p, a duplicate port of a Service.
func errorPort(p document.Value) any {
	text, _ := json.Marshal(struct {
		Name        string
		Protocol    string
		AppProtocol *string
		Port        int64
		TargetPort  int
		NodePort    int
	}{Protocol: p.Get("protocol").Text(), Port: intValue(p.Get("port"))})
	return json.RawMessage(text)
}

// checkExternalTraffic validates externalTrafficPolicy and healthCheckNodePort, which only externally accessible Services have.
func checkExternalTraffic(c *checker, spec, _ document.Value) {
	kind, policy := spec.Get("type").Text(), spec.Get("externalTrafficPolicy").Text()
	isExternal := kind == "LoadBalancer" || kind == "NodePort" || kind == "ClusterIP" && spec.Get("externalIPs").Len() > 0
	switch {
	case !isExternal && policy != "" && !(c.updating && policy == c.scopes[0].old.Lookup("spec", "externalTrafficPolicy").Text()):
		c.invalid(policy, "may only be set for externally-accessible services", "externalTrafficPolicy")
	case !isExternal:
	case policy == "":
		c.required("", "externalTrafficPolicy")
	case policy != "Cluster" && policy != "Local":
		c.unsupported(policy, []string{"Cluster", "Local"}, "externalTrafficPolicy")
	}
	n := intValue(spec.Get("healthCheckNodePort"))
	switch needed := kind == "LoadBalancer" && policy == "Local"; {
	case !needed && n != 0 && !(c.updating && n == intValue(c.scopes[0].old.Lookup("spec", "healthCheckNodePort"))):
		c.invalid(n, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'", "healthCheckNodePort")
	case needed && n != 0:
		c.push("healthCheckNodePort")
		checkPort(c, spec.Get("healthCheckNodePort"), document.Value{})
		c.pop()
	}
}

// checkServiceUpdate rejects updates of a Service that change the cluster IPs, the IP families, loadBalancerClass or
// healthCheckNodePort, unless the type of the Service changes.
func checkServiceUpdate(c *checker, service, oldService document.Value) {
	spec, old := service.Get("spec"), oldService.Get("spec")
	kind, oldValue := spec.Get("type").Text(), old.Get("type").Text()
	c.push("spec")
	if kind != "ExternalName" && oldValue != "ExternalName" {
		c.checkChangedAddresses(spec, old)
		c.checkChangedFamilies(spec, old)
	}
	c.checkChangedClass(spec, old)
	if n := intValue(spec.Get("healthCheckNodePort")); needsHealthCheck(spec) && needsHealthCheck(old) && n != 0 && n != intValue(old.Get("healthCheckNodePort")) {
		c.forbidden("field is immutable", "healthCheckNodePort")
	}
	c.pop()
}

// checkChangedClass validates a change of a Service's loadBalancerClass. Like kube-apiserver, it repeats checks of the spec's
// validation.
func (c *checker) checkChangedClass(spec, old document.Value) {
	class, isLoadBalancer := spec.Get("loadBalancerClass"), spec.Get("type").Text() == "LoadBalancer"
	if class.Text() == old.Get("loadBalancerClass").Text() {
		return // the validation of the spec checks an unchanged class
	}
	if isLoadBalancer && old.Get("type").Text() == "LoadBalancer" {
		c.invalid(errorValue(class), "may not change once set", "loadBalancerClass")
	}
	switch {
	case isAbsentOrNull(class):
	case isLoadBalancer:
		c.invalidAll(class.Text(), formats["qualified-name"].check(class.Text()), "loadBalancerClass")
	default:
		c.forbidden("may only be used when `type` is 'LoadBalancer'", "loadBalancerClass")
	}
}

func needsHealthCheck(spec document.Value) bool {
	return spec.Get("type").Text() == "LoadBalancer" && spec.Get("externalTrafficPolicy").Text() == "Local"
}

func (c *checker) checkChangedAddresses(spec, old document.Value) {
	if isHeadless(spec) && isHeadless(old) {
		return
	}
	value, oldValue := stringItems(spec.Get("clusterIPs")), stringItems(old.Get("clusterIPs"))
	c.push("clusterIPs")
	defer c.pop()
	report := func(i int) {
		c.pushItem(i)
		c.invalid(value, "may not change once set")
		c.pop()
	}
	switch {
	case len(value) == len(oldValue):
		for i := range oldValue {
			if value[i] != oldValue[i] {
				report(i)
			}
		}
	case len(value) > 0 && len(oldValue) > 0 && value[0] != oldValue[0]:
		report(0)
	}
	if len(value) == 1 && len(oldValue) > 1 && spec.Get("ipFamilyPolicy").Text() != "SingleStack" {
		c.pop()
		c.invalid(errorValue(spec.Get("ipFamilyPolicy")), "must be set to 'SingleStack' when releasing the secondary clusterIP", "ipFamilyPolicy")
		c.push("clusterIPs")
	}
}

func (c *checker) checkChangedFamilies(spec, old document.Value) {
	if isHeadless(spec) || isHeadless(old) {
		return
	}
	value, oldValue := stringItems(spec.Get("ipFamilies")), stringItems(old.Get("ipFamilies"))
	if len(value) == 0 || len(oldValue) == 0 {
		return
	}
	c.push("ipFamilies")
	c.pushItem(0)
	if len(value) == len(oldValue) {
		for i := range oldValue {
			if value[i] != oldValue[i] {
				c.invalid(value, "may not change once set")
			}
		}
	} else if value[0] != oldValue[0] {
		c.invalid(stringItems(spec.Get("clusterIPs")), "may not change once set")
	}
	c.pop()
	c.pop()
	if len(value) == 1 && len(oldValue) > 1 && spec.Get("ipFamilyPolicy").Text() != "SingleStack" {
		c.invalid(errorValue(spec.Get("ipFamilyPolicy")), "must be set to 'SingleStack' when releasing the secondary ipFamily", "ipFamilyPolicy")
	}
}
