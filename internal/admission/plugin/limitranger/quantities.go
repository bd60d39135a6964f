package limitranger

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// quantities are amounts by resource name.
type quantities map[string]resource.Quantity

// readQuantities reads a ResourceList.
func readQuantities(list document.Value) quantities {
	all := make(quantities, list.Len())
	for name, text := range list.Fields() {
		if quantity, err := builtin.ParseQuantity(text.Text()); err == nil { // others are rejected when they are decoded
			all[name] = quantity
		}
	}
	return all
}

// names returns the resource names in order.
func (q quantities) names() []string { return slices.Sorted(maps.Keys(q)) }

// add adds others to q.
func (q quantities) add(others quantities) {
	for name, other := range others {
		sum, ok := q[name]
		if ok {
			sum.Add(other)
		} else {
			sum = other.DeepCopy()
		}
		q[name] = sum
	}
}

// raise sets each quantity of q to the one of others that is greater.
func (q quantities) raise(others quantities) {
	for name, other := range others {
		if own, ok := q[name]; !ok || other.Cmp(own) > 0 {
			q[name] = other.DeepCopy()
		}
	}
}

// podTotal returns the requests or the limits of a pod as LimitRanges count them: those that run at the same time are
// added, and resources of the pod itself take precedence. The overhead of the pod's RuntimeClass does not count.
func podTotal(spec document.Value, field string) quantities {
	total := quantities{}
	for _, container := range spec.Get("containers").Items() {
		total.add(readQuantities(container.Lookup("resources", field)))
	}
	sidecars, starting := quantities{}, quantities{} // starting is the most that is needed while init containers run
	for _, container := range spec.Get("initContainers").Items() {
		own := readQuantities(container.Lookup("resources", field))
		if container.Get("restartPolicy").Text() == "Always" {
			total.add(own)
			sidecars.add(own)
			starting.raise(sidecars)
			continue
		}
		own.add(sidecars)
		starting.raise(own)
	}
	total.raise(starting)
	for name, quantity := range readQuantities(spec.Lookup("resources", field)) {
		if name == "cpu" || name == "memory" {
			total[name] = quantity
		}
	}
	return total
}
