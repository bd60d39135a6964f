package builtin

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// Pod-level resources: if a pod has limits or requests, missing ones follow from its containers. Limits of huge pages
// are summed; requests are the peak of the containers' requests or, without any, the pod's limits.

// setPodLevelResources sets the missing pod-level resources.
func setPodLevelResources(s *structUpdate) {
	spec := s.get("spec")
	whole := spec.Get("resources")
	limits, requests := whole.Get("limits"), whole.Get("requests")
	if limits.Len() == 0 && requests.Len() == 0 {
		return
	}
	given := limits
	for _, n := range needs(spec, "limits") {
		if isHugePages(n.name) && limits.Get(n.name).IsAbsent() && requests.Get(n.name).IsAbsent() {
			limits = limits.With(n.name, document.NewString(n.quantity.String()))
		}
	}
	if limits.Len() > 0 {
		whole = withChanged(whole, "limits", given, limits)
		whole = withChanged(whole, "requests", requests, podRequests(spec, limits, requests))
	}
	if !document.Same(whole, spec.Get("resources")) {
		s.set("spec", spec.With("resources", whole))
	}
}

// withChanged returns v with a field set, if the field changes.
func withChanged(v document.Value, name string, old, value document.Value) document.Value {
	if document.Same(old, value) {
		return v
	}
	return v.With(name, value)
}

func podRequests(spec, limits, requests document.Value) document.Value {
	for _, n := range needs(spec, "requests") {
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

// need is the required quantity of a resource.
type need struct {
	name     string
	quantity resource.Quantity
}

// needs returns the peak limits or requests of a pod's containers. Init containers run in sequence before the main
// containers, except for sidecars (restartPolicy Always), which keep running alongside all later ones.
func needs(spec document.Value, which string) []need {
	var total, sidecars, peak []need
	for _, container := range spec.Get("containers").Items() {
		total = addNeeds(total, container.Lookup("resources", which))
	}
	for _, container := range spec.Get("initContainers").Items() {
		own := container.Lookup("resources", which)
		if container.Get("restartPolicy").Text() == "Always" {
			total = addNeeds(total, own)
			sidecars = addNeeds(sidecars, own)
			peak = maxNeeds(peak, sidecars)
			continue
		}
		now := addNeeds(nil, own)
		for _, n := range sidecars {
			now = addNeed(now, n)
		}
		peak = maxNeeds(peak, now)
	}
	return maxNeeds(total, peak)
}

func addNeeds(to []need, resources document.Value) []need {
	for name, value := range resources.Fields() {
		quantity, err := ParseQuantity(value.Text())
		if err == nil { // decoding rejects invalid quantities
			to = addNeed(to, need{name, quantity})
		}
	}
	return to
}

func addNeed(to []need, n need) []need {
	if i := indexOfNeed(to, n.name); i >= 0 {
		to[i].quantity.Add(n.quantity)
		return to
	}
	n.quantity = n.quantity.DeepCopy()
	return append(to, n)
}

func maxNeeds(to, other []need) []need {
	for _, n := range other {
		i := indexOfNeed(to, n.name)
		switch {
		case i < 0:
			to = append(to, need{n.name, n.quantity.DeepCopy()})
		case n.quantity.Cmp(to[i].quantity) > 0:
			to[i].quantity = n.quantity.DeepCopy()
		}
	}
	return to
}

func indexOfNeed(all []need, name string) int {
	return slices.IndexFunc(all, func(n need) bool { return n.name == name })
}
