package service

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// Values of the fields ipFamilies and ipFamilyPolicy of a Service.
const (
	ipv4 = "IPv4"
	ipv6 = "IPv6"

	singleStack      = "SingleStack"
	preferDualStack  = "PreferDualStack"
	requireDualStack = "RequireDualStack"
)

// familyOf returns the IP family of an address.
func familyOf(address string) string {
	if strings.Contains(address, ":") {
		return ipv6
	}
	return ipv4
}

// withFamilies returns the spec with defaults for ipFamilyPolicy and ipFamilies. If validation will reject the spec, it sets no
// default that would change the error.
func withFamilies(spec, old document.Value) document.Value {
	policy := spec.Get("ipFamilyPolicy").Text()
	if policy == "" {
		policy = familyPolicy(spec, old)
		spec = spec.With("ipFamilyPolicy", document.NewString(policy))
	}
	if policy == singleStack && !old.IsAbsent() {
		spec = keepFirst(keepFirst(spec, old, "clusterIPs"), old, "ipFamilies")
	}
	families := stringsOf(spec.Get("ipFamilies"))
	before := len(families)
	for i, address := range stringsOf(spec.Get("clusterIPs")) {
		if i < len(families) || address == "None" {
			continue
		}
		if familyOf(address) == ipv6 || slices.Contains(families, ipv4) {
			return spec // validation rejects the spec; a default would change the error
		}
		families = append(families, ipv4)
	}
	if len(families) == 0 {
		if policy == requireDualStack && !isHeadlessWithoutSelector(spec) {
			return spec // validation rejects the spec; a default would change the error
		}
		families = append(families, ipv4)
	}
	if isHeadlessWithoutSelector(spec) && len(families) == 1 && policy != singleStack {
		families = append(families, map[string]string{ipv4: ipv6, ipv6: ipv4}[families[0]])
	}
	if len(families) == before {
		return spec
	}
	var items []document.Value
	for _, family := range families {
		items = append(items, document.NewString(family))
	}
	return spec.With("ipFamilies", document.NewList(items...))
}

// familyPolicy returns the default ipFamilyPolicy: that of the live service, RequireDualStack for a headless service without
// selector, and otherwise SingleStack.
func familyPolicy(spec, old document.Value) string {
	if was := old.Get("ipFamilyPolicy").Text(); was != "" {
		return was
	}
	if isHeadlessWithoutSelector(spec) {
		return requireDualStack
	}
	return singleStack
}

// keepFirst returns the spec with only the first of two values of a list field, if the update does not change the field. It
// implements the change of a service to SingleStack.
func keepFirst(spec, old document.Value, name string) document.Value {
	values := spec.Get(name)
	if values.Len() < 2 || !document.Equal(values, old.Get(name)) {
		return spec
	}
	return spec.With(name, document.NewList(values.At(0)))
}

// isHeadlessWithoutSelector reports whether a service is headless and has no selector: its endpoints may have any IP family.
func isHeadlessWithoutSelector(spec document.Value) bool {
	return spec.Get("clusterIP").Text() == "None" && spec.Get("selector").Len() == 0
}

// checkFamilies returns the validation errors of ipFamilyPolicy, ipFamilies and clusterIPs that follow from the service network,
// which is IPv4 only.
func checkFamilies(spec, old document.Value) (errs field.ErrorList) {
	policy, path := spec.Get("ipFamilyPolicy").Text(), field.NewPath("spec", "ipFamilyPolicy")
	addresses, families := stringsOf(spec.Get("clusterIPs")), stringsOf(spec.Get("ipFamilies"))
	reject := func(isInvalid bool, text string) {
		if isInvalid {
			errs = append(errs, field.Invalid(path, policy, text))
		}
	}
	if policy == singleStack {
		reject(len(addresses) == 2, "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified")
		reject(len(families) == 2, "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified")
	} else {
		reject(len(addresses) == 1 && old.Get("clusterIPs").Len() == 2, "must be 'SingleStack' to release the secondary cluster IP")
		reject(len(families) == 1 && old.Get("ipFamilies").Len() == 2, "must be 'SingleStack' to release the secondary IP family")
	}
	for i, address := range addresses {
		if familyOf(address) == ipv6 && (i >= len(families) || families[i] != ipv6) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "clusterIPs").Index(i), addresses, fmt.Sprintf("%s is not configured on this cluster", ipv6)))
		}
	}
	if len(errs) > 0 || isHeadlessWithoutSelector(spec) {
		return errs
	}
	reject(policy == requireDualStack, "this cluster is not configured for dual-stack services")
	for i, family := range families {
		if family != ipv4 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilies").Index(i), family, "not configured on this cluster"))
		}
	}
	return errs
}

// keepsPreferDualStack reports whether an update leaves the policy PreferDualStack, the cluster IPs and the IP families of a
// service unchanged. Then the IP families are not validated again.
func keepsPreferDualStack(spec, old document.Value) bool {
	same := func(name string) bool { return slices.Equal(stringsOf(spec.Get(name)), stringsOf(old.Get(name))) }
	return hasClusterIPs(old) && spec.Get("ipFamilyPolicy").Text() == preferDualStack && old.Get("ipFamilyPolicy").Text() == preferDualStack &&
		same("clusterIPs") && same("ipFamilies")
}
