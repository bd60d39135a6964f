// Package qos computes the quality of service class of pods.
package qos

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/podresources"
)

// The quality of service classes.
const (
	bestEffort = "BestEffort"
	burstable  = "Burstable"
	guaranteed = "Guaranteed"
)

// Resources are the names of the resources that determine the QoS class.
var Resources = []string{"cpu", "memory"}

// Class returns the QoS class of a pod with the given spec: Guaranteed if every container has CPU and memory limits that equal
// its requests, BestEffort if no container has CPU or memory requests or limits, Burstable otherwise. Resources of the whole
// pod (spec.resources) take precedence over those of its containers.
func Class(spec document.Value) string {
	if whole := spec.Get("resources"); podresources.IsSet(whole) {
		return classOf(whole)
	}
	class := ""
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range spec.Get(list).Items() {
			class = combine(class, classOf(c.Get("resources")))
		}
	}
	if class == "" {
		return bestEffort
	}
	return class
}

// combine returns the class of a pod from the classes of two parts of the pod; a is "" before the first part.
func combine(a, b string) string {
	if a == "" || a == b {
		return b
	}
	return burstable
}

// classOf returns the class of the limits and requests of one container, or of a whole pod.
func classOf(resources document.Value) string {
	class := ""
	for _, name := range Resources {
		request, limit := quantity(resources.Lookup("requests", name)), quantity(resources.Lookup("limits", name))
		switch {
		case request.Cmp(limit) != 0:
			return burstable
		case request.IsZero():
			class = combine(class, bestEffort)
		default:
			class = combine(class, guaranteed)
		}
	}
	return class
}

// quantity parses a quantity; the result is zero for an absent or invalid value.
func quantity(v document.Value) resource.Quantity {
	q, err := resource.ParseQuantity(v.Text())
	if err != nil {
		return resource.Quantity{}
	}
	return q
}
