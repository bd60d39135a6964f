// Package priority implements the admission plugin Priority: it sets the priority and preemption policy of pods from
// their PriorityClass, and rejects a second PriorityClass that is the global default.
package priority

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// Plugin is the admission plugin Priority.
type Plugin struct{}

// Name implements admission.Plugin.
func (Plugin) Name() string { return "Priority" }

// Handles implements admission.Plugin.
func (Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	switch {
	case operation == admission.Delete:
		return 0
	case r.Is("", "pods"):
		return admission.Mutating
	case r.Is(classes.Group, classes.Resource):
		return admission.Validating
	}
	return 0
}

var classes = schema.GroupResource{Group: "scheduling.k8s.io", Resource: "priorityclasses"}

// Admit implements admission.Plugin. An update that omits priority or preemptionPolicy retains the stored values.
func (Plugin) Admit(ctx context.Context, a *admission.Attributes) (err error) {
	spec := a.Object.Get("spec")
	changed := spec
	if a.Operation == admission.Create {
		if changed, err = withPriority(ctx, a, spec); err != nil {
			return err
		}
	} else {
		changed = retainFields(spec, a.OldObject.Get("spec"), "priority", "preemptionPolicy")
	}
	if !document.Same(changed, spec) {
		a.Object = a.Object.With("spec", changed)
	}
	return nil
}

// retainFields returns spec with the named fields copied from old if spec lacks them.
func retainFields(spec, old document.Value, names ...string) document.Value {
	for _, name := range names {
		if had := old.Get(name); spec.Get(name).IsAbsent() && !had.IsAbsent() {
			spec = spec.With(name, had)
		}
	}
	return spec
}

// withPriority returns the spec of a new pod with the name, priority and preemption policy of its PriorityClass. A priority
// or policy in the spec that differs from the class is an error.
func withPriority(ctx context.Context, a *admission.Attributes, spec document.Value) (document.Value, error) {
	name := spec.Get("priorityClassName").Text()
	class, err := findClass(ctx, a.Reader, name)
	if err != nil {
		return spec, err
	}
	if class == nil {
		return spec, a.Forbidden(fmt.Errorf("no PriorityClass with name %s was found", name))
	}
	if sent, ok := spec.Get("priority").Int64(); ok && sent != class.value {
		return spec, a.Forbidden(fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", sent, class.value))
	}
	if sent := spec.Get("preemptionPolicy").Text(); sent != "" && class.preemption != "" && sent != class.preemption {
		return spec, a.Forbidden(fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", sent, class.preemption))
	}
	if class.name != "" {
		spec = spec.With("priorityClassName", document.NewString(class.name))
	}
	if class.preemption != "" {
		spec = spec.With("preemptionPolicy", document.NewString(class.preemption))
	}
	return spec.With("priority", document.NewInt(class.value)), nil
}

// Validate implements admission.Plugin. It rejects a PriorityClass with globalDefault if another PriorityClass is the global
// default.
func (Plugin) Validate(ctx context.Context, a *admission.Attributes) error {
	if !a.Object.Get("globalDefault").Bool() {
		return nil
	}
	current, err := defaultClass(ctx, a.Reader)
	if err != nil {
		return err
	}
	isCurrent := a.Operation == admission.Update && current.name == a.Object.Lookup("metadata", "name").Text()
	if current.name != "" && !isCurrent {
		return a.Forbidden(fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", current.name))
	}
	return nil
}

// class contains the fields of a PriorityClass that are copied to pods.
type class struct {
	name, preemption string
	value            int64
	isDefault        bool
}

// findClass returns the PriorityClass with the given name, or the default class if the name is ""; nil if there is no class
// with that name.
func findClass(ctx context.Context, reader admission.Reader, name string) (*class, error) {
	if name == "" {
		return defaultClass(ctx, reader)
	}
	object, err := reader.Get(ctx, classes, "", name)
	if err != nil || !object.Exists() {
		return nil, err
	}
	return newClass(object.Document), nil
}

// defaultClass returns the PriorityClass for pods that do not name one: the global default, or the global default with the
// lowest value if there are several. If there is none, it returns a class without a name and with the value 0.
func defaultClass(ctx context.Context, reader admission.Reader) (*class, error) {
	all, err := reader.List(ctx, classes, "")
	if err != nil {
		return nil, err
	}
	lowest := &class{preemption: "PreemptLowerPriority"}
	for _, object := range all {
		c := newClass(object.Document)
		if c.isDefault && (!lowest.isDefault || c.value < lowest.value) {
			lowest = c
		}
	}
	return lowest, nil
}

func newClass(doc document.Value) *class {
	c := &class{
		name:       doc.Lookup("metadata", "name").Text(),
		preemption: doc.Get("preemptionPolicy").Text(),
		isDefault:  doc.Get("globalDefault").Bool(),
	}
	c.value, _ = doc.Get("value").Int64()
	return c
}
