package limitranger

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
)

// quantities is a parsed ResourceList: quantities by resource name.
type quantities map[string]resource.Quantity

// readQuantities parses a ResourceList. It skips quantities that cannot be parsed.
func readQuantities(list document.Value) quantities {
	all := make(quantities, list.Len())
	for name, text := range list.Fields() {
		if quantity, err := builtin.ParseQuantity(text.Text()); err == nil { // invalid quantities were rejected when the object was decoded
			all[name] = quantity
		}
	}
	return all
}

// names returns the resource names, sorted.
func (q quantities) names() []string { return slices.Sorted(maps.Keys(q)) }

// add adds the quantities of other to q, resource by resource.
func (q quantities) add(other quantities) {
	for name, quantity := range other {
		sum, ok := q[name]
		if ok {
			sum.Add(quantity)
		} else {
			sum = quantity.DeepCopy()
		}
		q[name] = sum
	}
}

// raise sets each quantity of q to the maximum of q and other; a missing quantity counts as less than any other.
func (q quantities) raise(other quantities) {
	for name, quantity := range other {
		if own, ok := q[name]; !ok || quantity.Cmp(own) > 0 {
			q[name] = quantity.DeepCopy()
		}
	}
}

// podTotal returns the requests or the limits of a whole pod as LimitRanges count them: the maximum over time of the sum
// over containers that run at the same time. CPU and memory of the pod itself (spec.resources) take precedence. The overhead
// of the pod's RuntimeClass does not count.
func podTotal(spec document.Value, field string) quantities {
	total := quantities{}
	for _, container := range spec.Get("containers").Items() {
		total.add(readQuantities(container.Lookup("resources", field)))
	}
	sidecars, starting := quantities{}, quantities{} // starting is the maximum over the times at which init containers run
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
