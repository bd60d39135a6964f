package api

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// qosClass returns the QoS class of a pod: Guaranteed if all limits equal the requests, BestEffort without requests and
// limits, Burstable otherwise. Only CPU and memory count.
func qosClass(spec document.Value) string {
	requests, limits := amounts{}, amounts{}
	guaranteed := true
	if whole := spec.Get("resources"); whole.Kind() == document.Map {
		requests.add(whole.Get("requests"))
		if declared := whole.Get("limits"); declared.Len() > 0 {
			guaranteed = limits.add(declared) == len(countedResources)
		}
	} else {
		for _, list := range []string{"containers", "initContainers"} {
			for _, c := range spec.Get(list).Items() {
				requests.add(c.Lookup("resources", "requests"))
				guaranteed = limits.add(c.Lookup("resources", "limits")) == len(countedResources) && guaranteed
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

var countedResources = []string{"cpu", "memory"}

// amounts are the quantities of the counted resources.
type amounts map[string]resource.Quantity

// add adds the positive quantities of a resource list, and returns their number.
func (a amounts) add(quantities document.Value) (added int) {
	for _, name := range countedResources {
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
