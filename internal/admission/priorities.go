package admission

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

// PriorityClasses is what the kind of classes of priority is called in keys.
const PriorityClasses = "scheduling.k8s.io/priorityclasses"

var priorityClasses = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}

// SystemClass is a class of priority that is there from the beginning.
type SystemClass struct {
	Name, Description string
	Value             int64
}

// SystemClasses are above all that users may make, and can't be deleted.
var SystemClasses = []SystemClass{
	{"system-cluster-critical", "For pods that the cluster can't do without, on whichever node.", 2000000000},
	{"system-node-critical", "For pods that their node can't do without.", 2000001000},
}

// ForPriorityClasses returns what classes of priority get beside what all kinds get: there is one
// default, and those of the system stay.
func ForPriorityClasses(c *cache.Cache) objects.Extra {
	return objects.Extra{
		Amend: func(ctx context.Context, class, _ document.Value) (document.Value, error) {
			name := class.Lookup("metadata", "name").Text()
			if !class.Get("globalDefault").Bool() {
				return class, nil
			}
			there, err := defaultClass(ctx, c)
			if err == nil && there.name != "" && there.name != name {
				err = apierrors.NewForbidden(priorityClasses, name, fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", there.name))
			}
			return class, err
		},
		MayDelete: func(name string) error {
			for _, class := range SystemClasses {
				if class.Name == name {
					return apierrors.NewForbidden(priorityClasses, name, errors.New("this is a system priority class and cannot be deleted"))
				}
			}
			return nil
		},
	}
}

// priorityClass is what a class says about pods.
type priorityClass struct {
	name, preemption string
	value            int64
	isDefault        bool
}

// classOf returns a class, or the default one for no name; nil if there is none of that name.
func classOf(ctx context.Context, c *cache.Cache, name string) (*priorityClass, error) {
	if name == "" {
		return defaultClass(ctx, c)
	}
	object, err := c.Get(ctx, cache.Key{Kind: PriorityClasses, Name: name}, cache.Latest)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, objects.StoreError(err)
	}
	return readClass(object)
}

// defaultClass returns the class of pods that name none: the lowest that says that it is the default,
// or else one without a name.
func defaultClass(ctx context.Context, c *cache.Cache) (*priorityClass, error) {
	list, err := c.List(ctx, cache.Query{Selection: cache.Selection{Kind: PriorityClasses}, Freshness: cache.Latest})
	if err != nil {
		return nil, objects.StoreError(err)
	}
	lowest := &priorityClass{preemption: "PreemptLowerPriority"}
	for _, object := range list.Objects {
		class, err := readClass(object)
		if err != nil {
			return nil, err
		}
		if class.isDefault && (!lowest.isDefault || class.value < lowest.value) {
			lowest = class
		}
	}
	return lowest, nil
}

func readClass(object *cache.Object) (*priorityClass, error) {
	parsed, err := object.Parsed()
	if err != nil {
		return nil, objects.StoreError(err)
	}
	class := &priorityClass{
		name:       object.Name(),
		preemption: parsed.Document.Get("preemptionPolicy").Text(),
		isDefault:  parsed.Document.Get("globalDefault").Bool(),
	}
	class.value, _ = parsed.Document.Get("value").Int64()
	return class, nil
}
