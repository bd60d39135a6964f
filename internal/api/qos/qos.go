// Package qos computes the quality of service class of pods.
package qos

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// Class returns the QoS class of a pod with the given spec: Guaranteed if every container has CPU and memory limits that equal
// its requests, BestEffort if no container has requests or limits, and Burstable for all other pods. Only CPU and memory are
// considered. Resources of the whole pod (spec.resources) take precedence over those of its containers.
func Class(spec document.Value) string {
	requests, limits := amounts{}, amounts{}
	guaranteed := true
	if whole := spec.Get("resources"); whole.Kind() == document.Map {
		requests.add(whole.Get("requests"))
		if declared := whole.Get("limits"); declared.Len() > 0 {
			guaranteed = limits.add(declared) == len(Resources)
		}
	} else {
		for _, list := range []string{"containers", "initContainers"} {
			for _, c := range spec.Get(list).Items() {
				requests.add(c.Lookup("resources", "requests"))
				guaranteed = limits.add(c.Lookup("resources", "limits")) == len(Resources) && guaranteed
			}
		}
	}
	switch {
	case len(requests) == 0 && len(limits) == 0:
		return "BestEffort"
	case guaranteed && requests.equal(limits):
		return "Guaranteed"
	}
	return "Burstable"
}

// Resources are the names of the resources that determine the QoS class.
var Resources = []string{"cpu", "memory"}

// amounts maps the name of a resource in Resources to the sum of its quantities.
type amounts map[string]resource.Quantity

// add adds the positive quantities of a ResourceList to the sums and returns the number of quantities that it added.
func (a amounts) add(quantities document.Value) (added int) {
	for _, name := range Resources {
		q, err := resource.ParseQuantity(quantities.Get(name).Text())
		if err != nil || q.Sign() <= 0 {
			continue
		}
		sum := a[name]
		sum.Add(q)
		a[name] = sum
		added++
	}
	return added
}

func (a amounts) equal(b amounts) bool {
	for name, q := range a {
		if other, ok := b[name]; !ok || q.Cmp(other) != 0 {
			return false
		}
	}
	return len(a) == len(b)
}
