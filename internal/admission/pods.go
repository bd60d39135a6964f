package admission

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/objects"
)

// Pods is what the kind of pods is called in keys.
const Pods = "core/pods"

// ForPods returns what pods get that depends on other objects.
func ForPods(c *cache.Cache) objects.Extra {
	return objects.Extra{Amend: func(ctx context.Context, pod, live document.Value) (document.Value, error) {
		now := pod.Get("spec")
		spec := tolerant(now)
		if live.IsAbsent() {
			var err error
			if spec, err = prioritized(ctx, c, spec, pod.Lookup("metadata", "name").Text()); err != nil {
				return pod, err
			}
		} else {
			spec = keep(spec, live.Get("spec"), "priority", "preemptionPolicy")
		}
		if document.Same(spec, now) {
			return pod, nil
		}
		return pod.With("spec", spec), nil
	}}
}

// keep gives back fields that an update leaves out.
func keep(spec, old document.Value, names ...string) document.Value {
	for _, name := range names {
		if had := old.Get(name); spec.Get(name).IsAbsent() && !had.IsAbsent() {
			spec = spec.With(name, had)
		}
	}
	return spec
}

// tolerated are the troubles of a node that a pod bears for a while, unless it says otherwise.
var tolerated = []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}

const toleratedSeconds = 300

// tolerant has a pod stay on a node in trouble, in the hope that it does not last.
func tolerant(spec document.Value) document.Value {
	var all []document.Value
	for _, t := range spec.Get("tolerations").Items() {
		all = append(all, t)
	}
	had := len(all)
	for _, key := range tolerated {
		if tolerates(all[:had], key) {
			continue
		}
		all = append(all, document.NewMap(
			document.Field{Name: "effect", Value: document.NewString("NoExecute")},
			document.Field{Name: "key", Value: document.NewString(key)},
			document.Field{Name: "operator", Value: document.NewString("Exists")},
			document.Field{Name: "tolerationSeconds", Value: document.NewInt(toleratedSeconds)},
		))
	}
	if len(all) == had {
		return spec
	}
	return spec.With("tolerations", document.NewList(all...))
}

func tolerates(tolerations []document.Value, key string) bool {
	for _, t := range tolerations {
		k, effect := t.Get("key").Text(), t.Get("effect").Text()
		if (k == "" || k == key) && (effect == "" || effect == "NoExecute") {
			return true
		}
	}
	return false
}

// prioritized gives a new pod the priority that its class says.
func prioritized(ctx context.Context, c *cache.Cache, spec document.Value, pod string) (document.Value, error) {
	forbid := func(format string, args ...any) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, pod, fmt.Errorf(format, args...))
	}
	class, err := classOf(ctx, c, spec.Get("priorityClassName").Text())
	if err != nil {
		return spec, err
	}
	if class == nil {
		return spec, forbid("no PriorityClass with name %s was found", spec.Get("priorityClassName").Text())
	}
	if asked, ok := spec.Get("priority").Int64(); ok && asked != class.value {
		return spec, forbid("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", asked, class.value)
	}
	if asked := spec.Get("preemptionPolicy").Text(); asked != "" && class.preemption != "" && asked != class.preemption {
		return spec, forbid("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", asked, class.preemption)
	}
	if class.name != "" {
		spec = spec.With("priorityClassName", document.NewString(class.name))
	}
	if class.preemption != "" {
		spec = spec.With("preemptionPolicy", document.NewString(class.preemption))
	}
	return spec.With("priority", document.NewInt(class.value)), nil
}
