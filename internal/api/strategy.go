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

// strategy holds the Go functions of a kind's strategy, as Kubernetes' registry strategies do. The kind file names
// them; nil functions do nothing.
type strategy struct {
	// normalize implements Normalize.
	normalize func(obj document.Value) document.Value
	// prepareForCreate and prepareForUpdate set the fields that the server sets, after reset fields are restored.
	prepareForCreate, prepareForUpdate prepareStep
	convert                            map[conversion]convertStep
	// podSpec is the path of the pod spec; nil if the kind has none.
	podSpec []string
}

// prepareStep returns an object with the fields that the server sets. The live object is absent on create.
type prepareStep func(endpoint string, obj, live document.Value, w Write) document.Value

// conversion identifies a conversion from one apiVersion to another.
type conversion struct{ from, to string }

// convertStep converts an object to another version, except for its apiVersion.
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
		"prepareJobForCreate":              prepareJobForCreate,
		"prepareNamespaceForCreate":        prepareNamespaceForCreate,
		"prepareNamespaceForUpdate":        prepareNamespaceForUpdate,
		"prepareNode":                      prepareNode,
		"preparePersistentVolumeClaim":     preparePersistentVolumeClaim,
		"preparePersistentVolumeForCreate": preparePersistentVolumeForCreate,
		"preparePersistentVolumeForUpdate": preparePersistentVolumeForUpdate,
		"preparePodForCreate":              preparePodForCreate,
		"preparePodForUpdate":              preparePodForUpdate,
		"prepareResourceClaimForUpdate":    prepareResourceClaimForUpdate,
		"prepareResourceSlice":             prepareResourceSlice,
		"prepareServiceAccount":            prepareServiceAccount,
		"prepareServiceForUpdate":          prepareServiceForUpdate,
		"prepareSigningRequestForCreate":   prepareSigningRequestForCreate,
		"prepareSigningRequestForUpdate":   prepareSigningRequestForUpdate,
	}
	convertSteps = map[string]convertStep{
		"autoscalerV1ToV2":  autoscalerV1ToV2,
		"autoscalerV2ToV1":  autoscalerV2ToV1,
		"coreEventToEvents": coreEventToEvents,
		"eventsEventToCore": eventsEventToCore,
	}
)

// setStrategy reads the strategy section of a kind file.
func (k *Kind) setStrategy(d *kinds.Declaration) error {
	for _, s := range d.Sections(kinds.Strategy) {
		steps, err := s.Properties()
		if err != nil {
			return err
		}
		for _, step := range steps {
			if !k.setStep(step.Name, step.Value) {
				return s.Errorf(step.Line, "expected normalize, prepare for create, prepare for update or convert VERSION to VERSION with a function listed in strategy.go, received %q: %q", step.Name, step.Value)
			}
		}
	}
	return nil
}

// setStep sets the function of a role; ok is false if the role or the function is unknown.
func (k *Kind) setStep(role, name string) (ok bool) {
	switch role {
	case "normalize":
		k.normalize, ok = normalizeSteps[name]
	case "prepare for create":
		k.prepareForCreate, ok = prepareSteps[name]
	case "prepare for update":
		k.prepareForUpdate, ok = prepareSteps[name]
	default:
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

// Prepare returns the object that a write at an endpoint stores: with reset fields restored, the fields that the server
// sets, and its generation. Both the object and the live object, which is absent on create, are at the storage version,
// normalized, and without managedFields; the object has a name, and on create a uid. Fields that Prepare sets have no
// owner, because the apply engine runs before.
func (k *Kind) Prepare(endpoint string, obj, live document.Value, w Write) document.Value {
	obj = k.dropDisabledFields(k.restoreResetFields(endpoint, w.Version, obj, live), live)
	step := k.prepareForUpdate
	if live.IsAbsent() {
		step = k.prepareForCreate
	}
	if step != nil {
		obj = step(endpoint, obj, live, w)
	}
	if p, ok := k.Definition.(Preparer); ok {
		obj = p.Prepare(endpoint, obj, live)
	}
	return k.withNextGeneration(endpoint, obj, live)
}

// Preparer is a Definition with a prepare step.
type Preparer interface {
	// Prepare sets fields of an object whose reset fields have been restored.
	Prepare(endpoint string, obj, live document.Value) document.Value
}

// text returns a string value; absent for "".
func text(s string) document.Value {
	if s == "" {
		return document.Value{}
	}
	return document.NewString(s)
}

// list returns a list value; absent for an empty list.
func list(items []document.Value) document.Value {
	if len(items) == 0 {
		return document.Value{}
	}
	return document.NewList(items...)
}

// timestamp returns a time in the format of metav1.Time.
func timestamp(t time.Time) document.Value {
	return document.NewString(t.UTC().Format(time.RFC3339))
}

// mapItems returns a list with each item replaced by the result of change. Values that are not lists are returned
// unchanged.
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

// putItems applies change to each item of the list at a path.
func putItems(doc document.Value, change func(item document.Value) document.Value, path ...string) document.Value {
	now := doc.Lookup(path...)
	if now.Kind() != document.List {
		return doc
	}
	return put(doc, mapItems(now, change), path...)
}

// kubernetesFinalizer is the finalizer of the namespace controller in spec.finalizers; nameLabel is the label with the
// name of the namespace.
const (
	kubernetesFinalizer = "kubernetes"
	nameLabel           = "kubernetes.io/metadata.name"
)

// prepareNamespaceForCreate adds the finalizer of the namespace controller and the name label.
func prepareNamespaceForCreate(endpoint string, obj, live document.Value, w Write) document.Value {
	isFinalizer := func(f document.Value) bool { return f.Text() == kubernetesFinalizer }
	var finalizers []document.Value
	for _, f := range obj.Lookup("spec", "finalizers").Items() {
		finalizers = append(finalizers, f)
	}
	if !slices.ContainsFunc(finalizers, isFinalizer) {
		obj = put(obj, document.NewList(append(finalizers, document.NewString(kubernetesFinalizer))...), "spec", "finalizers")
	}
	return prepareNamespaceForUpdate(endpoint, obj, live, w)
}

// prepareNamespaceForUpdate sets the name label.
func prepareNamespaceForUpdate(_ string, obj, _ document.Value, _ Write) document.Value {
	name := obj.Lookup("metadata", "name")
	if document.Equal(name, obj.Lookup("metadata", "labels", nameLabel)) {
		return obj
	}
	return put(obj, name, "metadata", "labels", nameLabel)
}

// prepareServiceAccount removes all fields except the name from references to secrets.
func prepareServiceAccount(_ string, obj, _ document.Value, _ Write) document.Value {
	return putItems(obj, func(secret document.Value) document.Value {
		if name := secret.Get("name"); secret.Len() > 1 || name.IsAbsent() {
			return document.NewMap(document.Field{Name: "name", Value: name})
		}
		return secret
	}, "secrets")
}

// preparePersistentVolumeForCreate sets lastPhaseTransitionTime to the time of the request.
func preparePersistentVolumeForCreate(_ string, obj, _ document.Value, w Write) document.Value {
	return put(obj, timestamp(w.Time), "status", "lastPhaseTransitionTime")
}

// preparePersistentVolumeForUpdate sets lastPhaseTransitionTime if the phase changes.
func preparePersistentVolumeForUpdate(endpoint string, obj, live document.Value, w Write) document.Value {
	if endpoint != StatusSubresource {
		return obj
	}
	then, now := live.Lookup("status", "lastPhaseTransitionTime"), obj.Lookup("status", "lastPhaseTransitionTime")
	switch samePhase := live.Lookup("status", "phase").Text() == obj.Lookup("status", "phase").Text(); {
	case samePhase && isEmpty(now):
		return put(obj, then, "status", "lastPhaseTransitionTime")
	case !samePhase && (isEmpty(now) || document.Equal(now, then)):
		return put(obj, timestamp(w.Time), "status", "lastPhaseTransitionTime")
	}
	return obj
}

// preparePersistentVolumeClaim copies spec.dataSource to spec.dataSourceRef or the reverse. The older dataSource
// supports claims and snapshots only.
func preparePersistentVolumeClaim(endpoint string, obj, live document.Value, _ Write) document.Value {
	if endpoint != "" {
		return obj
	}
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
