// Package podresources derives the resources of whole pods (spec.resources) from those of their containers.
package podresources

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// SetDefaults returns a pod spec in which the absent pod-level limits and requests are set, if it has at least one pod-level
// limit or request:
//
//   - limits of huge pages that have no pod-level request, to the sum of the containers' limits;
//   - requests, to the sum of the containers' requests or, if the containers have none, to the pod-level limit;
//   - limits of the resources that are requested and for which all containers have a limit, to the sum of these limits, or to the pod-level request if the request is greater.
//
// It returns the spec itself if nothing changes.
func SetDefaults(spec document.Value) document.Value {
	whole := spec.Get("resources")
	limits, requests := whole.Get("limits"), whole.Get("requests")
	if limits.Len() == 0 && requests.Len() == 0 {
		return spec
	}
	needs := ContainerNeeds(spec, "limits")
	newLimits := limits
	for _, n := range needs {
		if IsHugePages(n.Name) && limits.Get(n.Name).IsAbsent() && requests.Get(n.Name).IsAbsent() {
			newLimits = newLimits.With(n.Name, document.NewString(n.Quantity.String()))
		}
	}
	newRequests := podRequests(spec, newLimits, requests)
	newLimits = podLimits(spec, newLimits, newRequests, needs)
	whole = setIfChanged(whole, "limits", limits, newLimits)
	whole = setIfChanged(whole, "requests", requests, newRequests)
	return setIfChanged(spec, "resources", spec.Get("resources"), whole)
}

// setIfChanged returns v with the field name set to value; v itself if value is identical to old, the current value of the
// field.
func setIfChanged(v document.Value, name string, old, value document.Value) document.Value {
	if document.Same(old, value) {
		return v
	}
	return v.With(name, value)
}

// podRequests returns requests with the absent requests set from the containers and from limits, the pod-level limits.
func podRequests(spec, limits, requests document.Value) document.Value {
	for _, n := range ContainerNeeds(spec, "requests") {
		if isOvercommitted(n.Name) && requests.Get(n.Name).IsAbsent() {
			requests = requests.With(n.Name, document.NewString(n.Quantity.String()))
		}
	}
	for name, limit := range limits.Fields() {
		if isSupported(name) && requests.Get(name).IsAbsent() {
			requests = requests.With(name, limit)
		}
	}
	return requests
}

// podLimits returns limits with the absent limits set for the resources in requests for which all containers have limits. needs
// are the sums of the containers' limits.
func podLimits(spec, limits, requests document.Value, needs []Need) document.Value {
	for name, request := range requests.Fields() {
		i := indexOfNeed(needs, name)
		if !isSupported(name) || !limits.Get(name).IsAbsent() || i < 0 || !allContainersLimit(spec, name) {
			continue
		}
		limit := document.NewString(needs[i].Quantity.String())
		if requested, err := resource.ParseQuantity(request.Text()); err == nil && requested.Cmp(needs[i].Quantity) > 0 {
			limit = request
		}
		limits = limits.With(name, limit)
	}
	return limits
}

// allContainersLimit reports whether all containers of a pod have a limit for the named resource.
func allContainersLimit(spec document.Value, name string) bool {
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range spec.Get(list).Items() {
			if container.Lookup("resources", "limits", name).IsAbsent() {
				return false
			}
		}
	}
	return true
}

// IsSet reports whether resources, those of a whole pod, contain a request or limit of a resource that can be requested for
// whole pods.
func IsSet(resources document.Value) bool {
	for _, list := range []string{"requests", "limits"} {
		for name := range resources.Get(list).Fields() {
			if isSupported(name) {
				return true
			}
		}
	}
	return false
}

// IsHugePages reports whether a resource is huge pages of some size.
func IsHugePages(name string) bool { return strings.HasPrefix(name, "hugepages-") }

// isOvercommitted reports whether a pod-level resource can be overcommitted: its limit can exceed its request.
func isOvercommitted(name string) bool { return name == "cpu" || name == "memory" }

// isSupported reports whether a resource can be requested for a whole pod.
func isSupported(name string) bool { return isOvercommitted(name) || IsHugePages(name) }

// Need is the total quantity of a resource that a pod's containers need.
type Need struct {
	Name     string
	Quantity resource.Quantity
}

// ContainerNeeds returns, for each resource, the maximum total quantity of the containers that run at the same time. list is
// "limits" or "requests": the quantities that are added up. Init containers run one after the other before the main containers,
// except for sidecars (restartPolicy Always), which continue to run.
func ContainerNeeds(spec document.Value, list string) []Need {
	var total, sidecars, peak []Need
	for _, container := range spec.Get("containers").Items() {
		total = addNeeds(total, container.Lookup("resources", list))
	}
	for _, container := range spec.Get("initContainers").Items() {
		own := container.Lookup("resources", list)
		if container.Get("restartPolicy").Text() == "Always" {
			total = addNeeds(total, own)
			sidecars = addNeeds(sidecars, own)
			peak = maxNeeds(peak, sidecars)
			continue
		}
		current := addNeeds(nil, own)
		for _, n := range sidecars {
			current = addNeed(current, n)
		}
		peak = maxNeeds(peak, current)
	}
	return maxNeeds(total, peak)
}

func addNeeds(needs []Need, resources document.Value) []Need {
	for name, value := range resources.Fields() {
		quantity, err := resource.ParseQuantity(value.Text())
		if err == nil { // decoding rejects invalid quantities
			needs = addNeed(needs, Need{name, quantity})
		}
	}
	return needs
}

func addNeed(needs []Need, n Need) []Need {
	if i := indexOfNeed(needs, n.Name); i >= 0 {
		needs[i].Quantity.Add(n.Quantity)
		return needs
	}
	n.Quantity = n.Quantity.DeepCopy()
	return append(needs, n)
}

func maxNeeds(needs, candidates []Need) []Need {
	for _, n := range candidates {
		i := indexOfNeed(needs, n.Name)
		switch {
		case i < 0:
			needs = append(needs, Need{n.Name, n.Quantity.DeepCopy()})
		case n.Quantity.Cmp(needs[i].Quantity) > 0:
			needs[i].Quantity = n.Quantity.DeepCopy()
		}
	}
	return needs
}

func indexOfNeed(needs []Need, name string) int {
	return slices.IndexFunc(needs, func(n Need) bool { return n.Name == name })
}
