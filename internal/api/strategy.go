package api

import (
	"slices"
	"strings"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin/kinds"
)

// Write describes the request that writes an object.
type Write struct {
	// Version is the version of the request.
	Version string
	Time    time.Time
	User    User
}

// User is an authenticated user.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// strategy holds the Go functions of a built-in kind's strategy, like a registry strategy in Kubernetes. The kind file
// selects them by name; a nil function does nothing.
type strategy struct {
	// normalize implements Normalize.
	normalize func(obj document.Value) document.Value
	// prepareForCreate and prepareForUpdate set the fields that the server sets. They run after reset fields are restored.
	// prepareForSubresource maps the name of a subresource to the step for its updates.
	prepareForCreate, prepareForUpdate prepareStep
	prepareForSubresource              map[string]prepareStep
	convert                            map[conversion]convertStep
	// podSpec is the path of the pod spec; nil if the kind has none.
	podSpec []string
	// disabled are the features of the section "disabled fields".
	disabled []disabledFeature
}

// prepareStep returns an object in which the fields that the server controls are set. The live object is absent on create.
type prepareStep func(obj, live document.Value, w Write) document.Value

// conversion identifies a conversion from one apiVersion to another.
type conversion struct{ from, to string }

// convertStep returns obj converted to another version, but with the apiVersion of obj; the caller replaces the apiVersion.
type convertStep func(obj document.Value) document.Value

// The functions that the strategy section of kind files can name.
var (
	normalizeSteps = map[string]func(document.Value) document.Value{
		"normalizeDaemonSet": normalizeDaemonSet,
		"normalizeNode":      normalizeNode,
		"normalizePod":       normalizePod,
		"normalizeSecret":    normalizeSecret,
	}
	prepareSteps = map[string]prepareStep{
		"prepareDaemonSetForCreate":        prepareDaemonSetForCreate,
		"prepareDaemonSetForUpdate":        prepareDaemonSetForUpdate,
		"prepareDeviceTaintRule":           prepareDeviceTaintRule,
		"prepareJobForCreate":              prepareJobForCreate,
		"prepareNamespaceForCreate":        prepareNamespaceForCreate,
		"prepareNamespaceForUpdate":        prepareNamespaceForUpdate,
		"prepareNode":                      prepareNode,
		"prepareNodeStatus":                prepareNodeStatus,
		"preparePersistentVolumeClaim":     preparePersistentVolumeClaim,
		"preparePersistentVolumeForCreate": preparePersistentVolumeForCreate,
		"preparePersistentVolumeStatus":    preparePersistentVolumeStatus,
		"preparePodForCreate":              preparePodForCreate,
		"preparePodForUpdate":              preparePodForUpdate,
		"preparePodResize":                 preparePodResize,
		"preparePodStatus":                 preparePodStatus,
		"prepareResourceClaimStatus":       prepareResourceClaimStatus,
		"prepareServiceAccount":            prepareServiceAccount,
		"prepareServiceForUpdate":          prepareServiceForUpdate,
		"prepareSigningRequestForCreate":   prepareSigningRequestForCreate,
		"prepareSigningRequestApproval":    prepareSigningRequestApproval,
		"prepareSigningRequestStatus":      prepareSigningRequestStatus,
	}
	convertSteps = map[string]convertStep{
		"autoscalerV1ToV2":  autoscalerV1ToV2,
		"autoscalerV2ToV1":  autoscalerV2ToV1,
		"coreEventToEvents": coreEventToEvents,
		"eventsEventToCore": eventsEventToCore,
	}
)

// setStrategy sets the kind's strategy from the section "strategy" of a kind file.
func (k *Kind) setStrategy(d *kinds.Declaration) error {
	for _, s := range d.Sections(kinds.Strategy) {
		steps, err := s.Properties()
		if err != nil {
			return err
		}
		for _, step := range steps {
			if !k.setStep(step.Name, step.Value) {
				return s.Errorf(step.Line, "expected normalize, prepare for create, update or a SUBRESOURCE, or convert VERSION to VERSION, and a step that strategy.go lists, received %q: %q", step.Name, step.Value)
			}
		}
	}
	return nil
}

// setStep sets the strategy function for role, such as "prepare for create", to the function with the given name; ok is false
// if the role or the name is unknown.
func (k *Kind) setStep(role, name string) (ok bool) {
	switch role {
	case "normalize":
		k.normalize, ok = normalizeSteps[name]
	case "prepare for create":
		k.prepareForCreate, ok = prepareSteps[name]
	case "prepare for update":
		k.prepareForUpdate, ok = prepareSteps[name]
	default:
		if subresource, isPrepare := strings.CutPrefix(role, "prepare for "); isPrepare {
			return k.setSubresourceStep(subresource, name)
		}
		words := strings.Fields(role)
		if len(words) != 4 || words[0] != "convert" || words[2] != "to" {
			return false
		}
		if k.convert == nil {
			k.convert = map[conversion]convertStep{}
		}
		k.convert[conversion{words[1], words[3]}], ok = convertSteps[name], convertSteps[name] != nil
	}
	return ok
}

// setSubresourceStep sets the prepare step for updates of subresource to the step with the given name. It reports whether the
// kind has the subresource and the step exists.
func (k *Kind) setSubresourceStep(subresource, name string) bool {
	if k.prepareForSubresource == nil {
		k.prepareForSubresource = map[string]prepareStep{}
	}
	k.prepareForSubresource[subresource] = prepareSteps[name]
	return slices.Contains(k.Subresources, subresource) && prepareSteps[name] != nil
}

// Prepare returns obj as a write at endpoint stores it: with reset fields restored, with the fields that the server sets, and
// with the next generation. The live object, which is absent on create, and the object are at the storage version,
// normalized, and without managedFields; the object has a name, and on create a uid. No field manager owns the fields that
// Prepare sets, because the apply engine computes managedFields before Prepare runs.
func (k *Kind) Prepare(endpoint string, obj, live document.Value, w Write) document.Value {
	obj = k.dropDisabledFields(k.restoreResetFields(endpoint, w.Version, obj, live), live)
	step := k.prepareForUpdate
	switch {
	case live.IsAbsent():
		step = k.prepareForCreate
	case endpoint != "":
		step = k.prepareForSubresource[endpoint]
	}
	if step != nil {
		obj = step(obj, live, w)
	}
	if p, ok := k.Definition.(Preparer); ok {
		obj = p.Prepare(endpoint, obj, live)
	}
	return k.setNextGeneration(endpoint, w.Version, obj, live)
}

// Preparer is implemented by a Definition that sets fields of its objects before they are stored.
type Preparer interface {
	// Prepare returns obj, whose reset fields are restored already, with the fields that the server sets. The live object is
	// absent on create.
	Prepare(endpoint string, obj, live document.Value) document.Value
}

// stringOrAbsent returns a string value, or an absent value for "".
func stringOrAbsent(s string) document.Value {
	if s == "" {
		return document.Value{}
	}
	return document.NewString(s)
}

// listOrAbsent returns a list value, or an absent value if there are no items.
func listOrAbsent(items []document.Value) document.Value {
	if len(items) == 0 {
		return document.Value{}
	}
	return document.NewList(items...)
}

// timestamp returns a time as a string in the format of metav1.Time: RFC 3339 in UTC, with seconds.
func timestamp(t time.Time) document.Value {
	return document.NewString(t.UTC().Format(time.RFC3339))
}

// mapItems returns v, a list, with each item replaced with the result of change. It returns v unchanged if it is not a list.
func mapItems(v document.Value, change func(item document.Value) document.Value) document.Value {
	if v.Kind() != document.List {
		return v
	}
	items := make([]document.Value, 0, v.Len())
	same := true
	for _, item := range v.Items() {
		changed := change(item)
		same = same && document.Same(item, changed)
		items = append(items, changed)
	}
	if same {
		return v
	}
	return document.NewList(items...)
}

// putItems returns doc with each item of the list at path replaced with the result of change. It returns doc unchanged if there
// is no list at path.
func putItems(doc document.Value, change func(item document.Value) document.Value, path ...string) document.Value {
	value := doc.Lookup(path...)
	if value.Kind() != document.List {
		return doc
	}
	return put(doc, mapItems(value, change), path...)
}

// kubernetesFinalizer is the namespace controller's finalizer in spec.finalizers of a namespace.
const kubernetesFinalizer = "kubernetes"

// nameLabel is the label of a namespace whose value is the namespace's name.
const nameLabel = "kubernetes.io/metadata.name"

// prepareNamespaceForCreate adds the finalizer "kubernetes" and sets the label kubernetes.io/metadata.name.
func prepareNamespaceForCreate(obj, live document.Value, w Write) document.Value {
	isFinalizer := func(f document.Value) bool { return f.Text() == kubernetesFinalizer }
	var finalizers []document.Value
	for _, f := range obj.Lookup("spec", "finalizers").Items() {
		finalizers = append(finalizers, f)
	}
	if !slices.ContainsFunc(finalizers, isFinalizer) {
		obj = put(obj, document.NewList(append(finalizers, document.NewString(kubernetesFinalizer))...), "spec", "finalizers")
	}
	return prepareNamespaceForUpdate(obj, live, w)
}

// prepareNamespaceForUpdate sets the label kubernetes.io/metadata.name to the name of the namespace.
func prepareNamespaceForUpdate(obj, _ document.Value, _ Write) document.Value {
	name := obj.Lookup("metadata", "name")
	if document.Equal(name, obj.Lookup("metadata", "labels", nameLabel)) {
		return obj
	}
	return put(obj, name, "metadata", "labels", nameLabel)
}

// prepareServiceAccount removes all fields except name from the references in secrets.
func prepareServiceAccount(obj, _ document.Value, _ Write) document.Value {
	return putItems(obj, func(secret document.Value) document.Value {
		if name := secret.Get("name"); secret.Len() > 1 || name.IsAbsent() {
			return document.NewMap(document.Field{Name: "name", Value: name})
		}
		return secret
	}, "secrets")
}

// preparePersistentVolumeForCreate sets status.lastPhaseTransitionTime to the time of the request.
func preparePersistentVolumeForCreate(obj, _ document.Value, w Write) document.Value {
	return put(obj, timestamp(w.Time), "status", "lastPhaseTransitionTime")
}

// preparePersistentVolumeStatus sets status.lastPhaseTransitionTime: to the time of the request if the phase changes, and to
// its value in the live object if the phase does not change. A time in the request that differs from the live object's time
// takes precedence.
func preparePersistentVolumeStatus(obj, live document.Value, w Write) document.Value {
	then, value := live.Lookup("status", "lastPhaseTransitionTime"), obj.Lookup("status", "lastPhaseTransitionTime")
	switch samePhase := live.Lookup("status", "phase").Text() == obj.Lookup("status", "phase").Text(); {
	case samePhase && isEmpty(value):
		return put(obj, then, "status", "lastPhaseTransitionTime")
	case !samePhase && (isEmpty(value) || document.Equal(value, then)):
		return put(obj, timestamp(w.Time), "status", "lastPhaseTransitionTime")
	}
	return obj
}

// preparePersistentVolumeClaim copies spec.dataSource to spec.dataSourceRef or the reverse if only one of them is set. It
// drops a dataSource of a new claim that references neither a PersistentVolumeClaim nor a VolumeSnapshot.
func preparePersistentVolumeClaim(obj, live document.Value, _ Write) document.Value {
	source, reference := obj.Lookup("spec", "dataSource"), obj.Lookup("spec", "dataSourceRef")
	inUse := !isEmpty(live.Lookup("spec", "dataSource")) || !isEmpty(live.Lookup("spec", "dataSourceRef"))
	if !inUse && isEmpty(reference) && !isEmpty(source) && !isClaimOrSnapshot(source) {
		return obj.With("spec", obj.Get("spec").Without("dataSource"))
	}
	switch {
	case !isEmpty(source) && isEmpty(reference):
		return put(obj, source, "spec", "dataSourceRef")
	case isEmpty(source) && !isEmpty(reference) && reference.Get("namespace").Text() == "":
		return put(obj, reference.Without("namespace"), "spec", "dataSource")
	}
	return obj
}

func isClaimOrSnapshot(source document.Value) bool {
	switch group := source.Get("apiGroup").Text(); source.Get("kind").Text() {
	case "PersistentVolumeClaim":
		return group == ""
	case "VolumeSnapshot":
		return group == "snapshot.storage.k8s.io"
	}
	return false
}
