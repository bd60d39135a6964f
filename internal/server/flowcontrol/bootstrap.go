package flowcontrol

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fcboot "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

// The resources of priority and fairness, and the field managers of the server's own writes.
const (
	Group          = "flowcontrol.apiserver.k8s.io"
	Schemas        = Group + "/flowschemas"
	Levels         = Group + "/prioritylevelconfigurations"
	SpecManager    = "api-priority-and-fairness-config-producer-v1"
	StatusManager  = "api-priority-and-fairness-config-consumer-v1"
	schemaKind     = "FlowSchema"
	levelKind      = "PriorityLevelConfiguration"
	schemaResource = "flowschemas"
	levelResource  = "prioritylevelconfigurations"
)

// Change is a write that creates or restores a bootstrap object, or deletes one of an earlier release.
type Change struct {
	Resource, Name string
	// Document is the whole object as JSON; nil deletes the object.
	Document []byte
	// Exists reports whether the object exists.
	Exists bool
	// Level is the level to which a FlowSchema that is created refers.
	Level string
}

// Reconcile returns the writes that create missing bootstrap objects and restore changed ones, as kube-apiserver does: the
// mandatory objects are always restored; the suggested ones only if the annotation apf.kubernetes.io/autoupdate-spec is true or,
// without that annotation, if their spec was never changed. Objects with the annotation that are no longer bootstrap objects are
// deleted. The arguments are the stored objects.
func Reconcile(schemas []*flowcontrolv1.FlowSchema, levels []*flowcontrolv1.PriorityLevelConfiguration) []Change {
	levelObjects := bootstrapObjects[*flowcontrolv1.PriorityLevelConfiguration, flowcontrolv1.PriorityLevelConfigurationSpec]{
		resource: levelResource, kind: levelKind,
		suggested: fcboot.SuggestedPriorityLevelConfigurations, mandatory: fcboot.MandatoryPriorityLevelConfigurations,
		spec: func(o *flowcontrolv1.PriorityLevelConfiguration) *flowcontrolv1.PriorityLevelConfigurationSpec {
			return &o.Spec
		},
		keep: func(wanted, stored *flowcontrolv1.PriorityLevelConfigurationSpec) {
			if stored.Exempt != nil {
				wanted.Exempt = stored.Exempt // spec.exempt of a mandatory level may be configured
			}
		},
		level: func(*flowcontrolv1.PriorityLevelConfiguration) string { return "" },
	}
	schemaObjects := bootstrapObjects[*flowcontrolv1.FlowSchema, flowcontrolv1.FlowSchemaSpec]{
		resource: schemaResource, kind: schemaKind,
		suggested: fcboot.SuggestedFlowSchemas, mandatory: fcboot.MandatoryFlowSchemas,
		spec:  func(o *flowcontrolv1.FlowSchema) *flowcontrolv1.FlowSchemaSpec { return &o.Spec },
		keep:  func(_, _ *flowcontrolv1.FlowSchemaSpec) {},
		level: func(o *flowcontrolv1.FlowSchema) string { return o.Spec.PriorityLevelConfiguration.Name },
	}
	return append(levelObjects.reconcile(levels), schemaObjects.reconcile(schemas)...)
}

// bootstrapObjects describes the bootstrap objects of a resource. T is the type of an object, S the type of its spec.
type bootstrapObjects[T bootstrapObject[T], S any] struct {
	resource, kind       string
	suggested, mandatory []T
	spec                 func(T) *S
	// keep copies the fields of the stored spec that users may configure in a mandatory object to the wanted spec.
	keep func(wanted, stored *S)
	// level returns the level to which an object refers; "" for a level.
	level func(T) string
}

// bootstrapObject is a FlowSchema or a PriorityLevelConfiguration.
type bootstrapObject[T any] interface {
	runtime.Object
	metav1.Object
	DeepCopy() T
}

func (b *bootstrapObjects[T, S]) reconcile(stored []T) (changes []Change) {
	wanted := slices.Concat(b.suggested, b.mandatory)
	for i, w := range wanted {
		w := w.DeepCopy()
		at := slices.IndexFunc(stored, func(o T) bool { return o.GetName() == w.GetName() })
		if at < 0 {
			changes = append(changes, Change{Resource: b.resource, Name: w.GetName(), Document: b.encode(w), Level: b.level(w)})
			continue
		}
		o, isMandatory := stored[at].DeepCopy(), i >= len(b.suggested)
		if isMandatory {
			b.keep(b.spec(w), b.spec(o))
		}
		if b.revise(o, b.spec(w), isMandatory) {
			changes = append(changes, Change{Resource: b.resource, Name: o.GetName(), Document: b.encode(o), Exists: true})
		}
	}
	for _, o := range stored {
		isWanted := slices.ContainsFunc(wanted, func(w T) bool { return o.GetName() == w.GetName() })
		if automatic, _ := autoUpdate(o); automatic && !isWanted {
			changes = append(changes, Change{Resource: b.resource, Name: o.GetName(), Exists: true})
		}
	}
	return changes
}

// revise updates the spec and the annotation of a stored bootstrap object, and reports whether it changed.
func (b *bootstrapObjects[T, S]) revise(o T, wanted *S, isMandatory bool) (changed bool) {
	automatic, hasAnnotation := autoUpdate(o)
	update := isMandatory || automatic || !hasAnnotation && o.GetGeneration() == 1
	if spec := b.spec(o); update && !equality.Semantic.DeepEqual(spec, wanted) {
		*spec, changed = *wanted, true
	}
	if !hasAnnotation || automatic != update {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[flowcontrolv1.AutoUpdateAnnotationKey] = strconv.FormatBool(update)
		o.SetAnnotations(annotations)
		changed = true
	}
	return changed
}

// encode returns an object as JSON. It sets the TypeMeta of the object.
func (b *bootstrapObjects[T, S]) encode(o T) []byte {
	o.GetObjectKind().SetGroupVersionKind(flowcontrolv1.SchemeGroupVersion.WithKind(b.kind))
	text, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("encoding a Go type of Kubernetes: %v", err)) // unreachable: these types contain no channels and functions
	}
	return text
}

// autoUpdate returns the value of the annotation apf.kubernetes.io/autoupdate-spec, with which the server maintains the spec of an
// object, and reports whether the object has a valid one.
func autoUpdate(o metav1.Object) (automatic, ok bool) {
	automatic, err := strconv.ParseBool(o.GetAnnotations()[flowcontrolv1.AutoUpdateAnnotationKey])
	return automatic, err == nil
}
