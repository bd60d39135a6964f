package builtin

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// This file defaults and validates pod-level resources (spec.resources). If a pod has pod-level limits or requests, those that
// are absent are derived from its containers: limits only for huge pages; requests from the containers' requests or, if the
// containers have none, from the pod-level limits.

// setPodLevelResources sets the absent pod-level limits and requests of a pod that has at least one pod-level limit or
// request.
func setPodLevelResources(s *structUpdate) {
	spec := s.get("spec")
	whole := spec.Get("resources")
	limits, requests := whole.Get("limits"), whole.Get("requests")
	if limits.Len() == 0 && requests.Len() == 0 {
		return
	}
	oldLimits := limits
	for _, n := range containerNeeds(spec, "limits") {
		if isHugePages(n.name) && limits.Get(n.name).IsAbsent() && requests.Get(n.name).IsAbsent() {
			limits = limits.With(n.name, document.NewString(n.quantity.String()))
		}
	}
	if limits.Len() > 0 {
		whole = setIfChanged(whole, "limits", oldLimits, limits)
		whole = setIfChanged(whole, "requests", requests, podRequests(spec, limits, requests))
	}
	if !document.Same(whole, spec.Get("resources")) {
		s.set("spec", spec.With("resources", whole))
	}
}

// setIfChanged returns v with the field name set to value; v itself if value is identical to old, the current value of the
// field.
func setIfChanged(v document.Value, name string, old, value document.Value) document.Value {
	if document.Same(old, value) {
		return v
	}
	return v.With(name, value)
}

func podRequests(spec, limits, requests document.Value) document.Value {
	for _, n := range containerNeeds(spec, "requests") {
		if isPlainPodResource(n.name) && requests.Get(n.name).IsAbsent() {
			requests = requests.With(n.name, document.NewString(n.quantity.String()))
		}
	}
	for name, limit := range limits.Fields() {
		if (isPlainPodResource(name) || isHugePages(name)) && requests.Get(name).IsAbsent() {
			requests = requests.With(name, limit)
		}
	}
	return requests
}

func isHugePages(name string) bool        { return strings.HasPrefix(name, "hugepages-") }
func isPlainPodResource(name string) bool { return name == "cpu" || name == "memory" }

// resourceNeed is the total quantity of a resource that a pod's containers need.
type resourceNeed struct {
	name     string
	quantity resource.Quantity
}

// containerNeeds returns, for each resource, the maximum total quantity of the containers that run at the same time. list is
// "limits" or "requests": the quantities that are added up. Init containers run one after the other before the main containers,
// except for sidecars (restartPolicy Always), which continue to run.
func containerNeeds(spec document.Value, list string) []resourceNeed {
	var total, sidecars, peak []resourceNeed
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

func addNeeds(needs []resourceNeed, resources document.Value) []resourceNeed {
	for name, value := range resources.Fields() {
		quantity, err := ParseQuantity(value.Text())
		if err == nil { // decoding rejects invalid quantities
			needs = addNeed(needs, resourceNeed{name, quantity})
		}
	}
	return needs
}

func addNeed(needs []resourceNeed, n resourceNeed) []resourceNeed {
	if i := indexOfNeed(needs, n.name); i >= 0 {
		needs[i].quantity.Add(n.quantity)
		return needs
	}
	n.quantity = n.quantity.DeepCopy()
	return append(needs, n)
}

func maxNeeds(needs, candidates []resourceNeed) []resourceNeed {
	for _, n := range candidates {
		i := indexOfNeed(needs, n.name)
		switch {
		case i < 0:
			needs = append(needs, resourceNeed{n.name, n.quantity.DeepCopy()})
		case n.quantity.Cmp(needs[i].quantity) > 0:
			needs[i].quantity = n.quantity.DeepCopy()
		}
	}
	return needs
}

func indexOfNeed(needs []resourceNeed, name string) int {
	return slices.IndexFunc(needs, func(n resourceNeed) bool { return n.name == name })
}

// checkSufficientResources rejects pod-level requests and huge page limits that are less than the containers need, and container
// limits that exceed the pod-level limits.
func (c *checker) checkSufficientResources(whole document.Value) {
	spec, _, _ := c.enclosing("PodSpec")
	for _, list := range []string{"requests", "limits"} {
		for _, n := range containerNeeds(spec, list) {
			declared := whole.Lookup(list, n.name)
			if isEmpty(declared) || list == "limits" && !isHugePages(n.name) {
				continue
			}
			if q := quantityValue(declared); n.quantity.Cmp(q) > 0 {
				c.push(list)
				c.pushKey(n.name)
				c.invalid(q.String(), fmt.Sprintf("must be greater than or equal to aggregate container %s of %s", list, n.quantity.String()))
				c.pop()
				c.pop()
			}
		}
	}
	c.push("containers")
	for i, container := range spec.Get("containers").Items() {
		for name, limit := range container.Lookup("resources", "limits").Fields() {
			declared := whole.Lookup("limits", name)
			if isEmpty(declared) {
				continue
			}
			if q, most := quantityValue(limit), quantityValue(declared); q.Cmp(most) > 0 {
				c.pushItem(i)
				c.pushKey(name)
				c.invalid(q.String(), "must be less than or equal to pod limits of "+most.String(), "limits")
				c.pop()
				c.pop()
			}
		}
	}
	c.pop()
}
