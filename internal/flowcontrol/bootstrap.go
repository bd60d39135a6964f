package flowcontrol

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fcboot "k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
)

// The resources of priority and fairness, and the field managers of the server's own writes.
const (
	Group          = "flowcontrol.apiserver.k8s.io"
	Schemas        = Group + "/flowschemas"
	Levels         = Group + "/prioritylevelconfigurations"
	SpecManager    = "api-priority-and-fairness-config-producer-v1"
	StatusManager  = "api-priority-and-fairness-config-consumer-v1"
	apiVersion     = Group + "/v1"
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
	var changes []Change
	wanted := slices.Concat(fcboot.SuggestedPriorityLevelConfigurations, fcboot.MandatoryPriorityLevelConfigurations)
	for i, w := range wanted {
		isMandatory := i >= len(fcboot.SuggestedPriorityLevelConfigurations)
		at := slices.IndexFunc(levels, func(o *flowcontrolv1.PriorityLevelConfiguration) bool { return o.Name == w.Name })
		if at < 0 {
			changes = append(changes, Change{Resource: levelResource, Name: w.Name, Document: encodeLevel(w)})
			continue
		}
		o := levels[at].DeepCopy()
		spec := w.DeepCopy().Spec
		if isMandatory && o.Spec.Exempt != nil {
			spec.Exempt = o.Spec.Exempt // spec.exempt may be configured
		}
		if revise(&o.ObjectMeta, isMandatory, equality.Semantic.DeepEqual(o.Spec, spec), func() { o.Spec = spec }) {
			changes = append(changes, Change{Resource: levelResource, Name: o.Name, Document: encodeLevel(o), Exists: true})
		}
	}
	for _, o := range levels {
		isWanted := slices.ContainsFunc(wanted, func(w *flowcontrolv1.PriorityLevelConfiguration) bool { return o.Name == w.Name })
		if !isWanted && isAutomatic(&o.ObjectMeta) {
			changes = append(changes, Change{Resource: levelResource, Name: o.Name, Exists: true})
		}
	}
	return append(changes, reconcileSchemas(schemas)...)
}

func reconcileSchemas(schemas []*flowcontrolv1.FlowSchema) (changes []Change) {
	wanted := slices.Concat(fcboot.SuggestedFlowSchemas, fcboot.MandatoryFlowSchemas)
	for i, w := range wanted {
		isMandatory := i >= len(fcboot.SuggestedFlowSchemas)
		at := slices.IndexFunc(schemas, func(o *flowcontrolv1.FlowSchema) bool { return o.Name == w.Name })
		if at < 0 {
			changes = append(changes, Change{Resource: schemaResource, Name: w.Name, Document: encodeSchema(w), Level: w.Spec.PriorityLevelConfiguration.Name})
			continue
		}
		o := schemas[at].DeepCopy()
		if revise(&o.ObjectMeta, isMandatory, equality.Semantic.DeepEqual(o.Spec, w.Spec), func() { o.Spec = w.DeepCopy().Spec }) {
			changes = append(changes, Change{Resource: schemaResource, Name: o.Name, Document: encodeSchema(o), Exists: true})
		}
	}
	for _, o := range schemas {
		isWanted := slices.ContainsFunc(wanted, func(w *flowcontrolv1.FlowSchema) bool { return o.Name == w.Name })
		if !isWanted && isAutomatic(&o.ObjectMeta) {
			changes = append(changes, Change{Resource: schemaResource, Name: o.Name, Exists: true})
		}
	}
	return changes
}

// revise updates the spec and the annotation of a stored bootstrap object, and reports whether it changed.
func revise(meta *metav1.ObjectMeta, isMandatory, hasWantedSpec bool, setSpec func()) (changed bool) {
	automatic, err := strconv.ParseBool(meta.Annotations[flowcontrolv1.AutoUpdateAnnotationKey])
	hasAnnotation := err == nil
	update := isMandatory || hasAnnotation && automatic || !hasAnnotation && meta.Generation == 1
	if update && !hasWantedSpec {
		setSpec()
		changed = true
	}
	if !hasAnnotation || automatic != update {
		if meta.Annotations == nil {
			meta.Annotations = map[string]string{}
		}
		meta.Annotations[flowcontrolv1.AutoUpdateAnnotationKey] = strconv.FormatBool(update)
		changed = true
	}
	return changed
}

// isAutomatic reports whether the server maintains the spec of an object.
func isAutomatic(meta *metav1.ObjectMeta) bool {
	automatic, err := strconv.ParseBool(meta.Annotations[flowcontrolv1.AutoUpdateAnnotationKey])
	return err == nil && automatic
}

func encodeLevel(o *flowcontrolv1.PriorityLevelConfiguration) []byte {
	o = o.DeepCopy()
	o.TypeMeta = metav1.TypeMeta{APIVersion: apiVersion, Kind: levelKind}
	return encode(o)
}

func encodeSchema(o *flowcontrolv1.FlowSchema) []byte {
	o = o.DeepCopy()
	o.TypeMeta = metav1.TypeMeta{APIVersion: apiVersion, Kind: schemaKind}
	return encode(o)
}

func encode(o any) []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("encoding a Go type of Kubernetes: %v", err)) // unreachable: these types contain no channels and functions
	}
	return text
}
