// Package priorityclass is the registry strategy of PriorityClasses: it rejects the deletion of system PriorityClasses.
package priorityclass

import (
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/registry"
)

// Resource is the GROUP/RESOURCE of PriorityClasses in watch cache keys.
const Resource = "scheduling.k8s.io/priorityclasses"

// SystemClass is a PriorityClass that exists in every cluster, such as system-node-critical.
type SystemClass struct {
	Name, Description string
	Value             int64
}

// SystemClasses are the PriorityClasses that the server creates. Their values are higher than those that users may set.
var SystemClasses = []SystemClass{
	{"system-cluster-critical", "For pods that are critical to the cluster and may run on any node.", 2000000000},
	{"system-node-critical", "For pods that are critical to their node.", 2000001000},
}

// Strategy returns the strategy of PriorityClasses. Its CheckDelete returns a 403 for system PriorityClasses.
func Strategy() registry.Strategy {
	return registry.Strategy{CheckDelete: func(name string) error {
		if !slices.ContainsFunc(SystemClasses, func(c SystemClass) bool { return c.Name == name }) {
			return nil
		}
		resource := schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}
		return apierrors.NewForbidden(resource, name, errors.New("this is a system priority class and cannot be deleted"))
	}}
}
