package service

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// The families of addresses, and how many of them a service has. The network has addresses of one
// family only.
const (
	ipv4 = "IPv4"
	ipv6 = "IPv6"

	single  = "SingleStack"
	prefer  = "PreferDualStack"
	require = "RequireDualStack"
)

func familyOf(address string) string {
	if strings.Contains(address, ":") {
		return ipv6
	}
	return ipv4
}

// withFamilies says of which families a service's addresses are, unless it says so itself.
func withFamilies(spec, old document.Value) document.Value {
	policy := spec.Get("ipFamilyPolicy").Text()
	if policy == "" {
		policy = familyPolicy(spec, old)
		spec = spec.With("ipFamilyPolicy", document.NewString(policy))
	}
	if policy == single && !old.IsAbsent() {
		spec = firstOnly(firstOnly(spec, old, "clusterIPs"), old, "ipFamilies")
	}
	families := texts(spec.Get("ipFamilies"))
	before := len(families)
	for i, address := range texts(spec.Get("clusterIPs")) {
		if i < len(families) || address == "None" {
			continue
		}
		if familyOf(address) == ipv6 || slices.Contains(families, ipv4) {
			return spec // it will be refused, and not for what would be said here
		}
		families = append(families, ipv4)
	}
	if len(families) == 0 {
		if policy == require && !isEverywhere(spec) {
			return spec // as above
		}
		families = append(families, ipv4)
	}
	if isEverywhere(spec) && len(families) == 1 && policy != single {
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

func familyPolicy(spec, old document.Value) string {
	if was := old.Get("ipFamilyPolicy").Text(); was != "" {
		return was
	}
	if isEverywhere(spec) {
		return require
	}
	return single
}

// firstOnly drops the second of two values that are as they were.
func firstOnly(spec, old document.Value, name string) document.Value {
	values := spec.Get(name)
	if values.Len() < 2 || !document.Equal(values, old.Get(name)) {
		return spec
	}
	return spec.With(name, document.NewList(values.At(0)))
}

// isEverywhere reports whether a service has neither an address nor a selector: its endpoints can
// be anywhere, also in families that the network does not have.
func isEverywhere(spec document.Value) bool {
	return spec.Get("clusterIP").Text() == "None" && spec.Get("selector").Len() == 0
}

// checkFamilies refuses what can't be had here.
func checkFamilies(spec, old document.Value) (errs field.ErrorList) {
	policy, path := spec.Get("ipFamilyPolicy").Text(), field.NewPath("spec", "ipFamilyPolicy")
	addresses, families := texts(spec.Get("clusterIPs")), texts(spec.Get("ipFamilies"))
	refuse := func(isWrong bool, text string) {
		if isWrong {
			errs = append(errs, field.Invalid(path, policy, text))
		}
	}
	if policy == single {
		refuse(len(addresses) == 2, "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified")
		refuse(len(families) == 2, "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified")
	} else {
		refuse(len(addresses) == 1 && old.Get("clusterIPs").Len() == 2, "must be 'SingleStack' to release the secondary cluster IP")
		refuse(len(families) == 1 && old.Get("ipFamilies").Len() == 2, "must be 'SingleStack' to release the secondary IP family")
	}
	for i, address := range addresses {
		if familyOf(address) == ipv6 && (i >= len(families) || families[i] != ipv6) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "clusterIPs").Index(i), addresses, fmt.Sprintf("%s is not configured on this cluster", ipv6)))
		}
	}
	if len(errs) > 0 || isEverywhere(spec) {
		return errs
	}
	refuse(policy == require, "this cluster is not configured for dual-stack services")
	for i, family := range families {
		if family != ipv4 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ipFamilies").Index(i), family, "not configured on this cluster"))
		}
	}
	return errs
}

// keepsPreference reports whether nothing changes for a service that takes what there is.
func keepsPreference(spec, old document.Value) bool {
	same := func(name string) bool { return slices.Equal(texts(spec.Get(name)), texts(old.Get(name))) }
	return hasAddress(old) && spec.Get("ipFamilyPolicy").Text() == prefer && old.Get("ipFamilyPolicy").Text() == prefer &&
		same("clusterIPs") && same("ipFamilies")
}
