// Package priorityclass is the registry strategy of PriorityClasses: those of the system cannot be deleted.
package priorityclass

import (
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/registry"
)

// Resource is the name of PriorityClasses in keys.
const Resource = "scheduling.k8s.io/priorityclasses"

// SystemClass is a PriorityClass that every server has.
type SystemClass struct {
	Name, Description string
	Value             int64
}

// SystemClasses are above all classes that users may create.
var SystemClasses = []SystemClass{
	{"system-cluster-critical", "For pods that are critical to the cluster and may run on any node.", 2000000000},
	{"system-node-critical", "For pods that are critical to their node.", 2000001000},
}

// Strategy returns the strategy of PriorityClasses.
func Strategy() registry.Strategy {
	return registry.Strategy{CheckDelete: func(name string) error {
		if !slices.ContainsFunc(SystemClasses, func(c SystemClass) bool { return c.Name == name }) {
			return nil
		}
		resource := schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}
		return apierrors.NewForbidden(resource, name, errors.New("this is a system priority class and cannot be deleted"))
	}}
}
