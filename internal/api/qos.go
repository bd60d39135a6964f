package kinds

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
)

// serviceClass returns the class of service of a pod: Guaranteed if everything in it is limited to
// what it requests, BestEffort if nothing is requested or limited, or else Burstable. Only CPU and
// memory count.
func serviceClass(spec document.Value) string {
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

// amounts are how much there is of each counted resource.
type amounts map[string]resource.Quantity

// add adds those of a map that are more than zero, and returns how many these are.
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
