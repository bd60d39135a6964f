package kinds

import (
	"time"

	"github.com/cadastre/cadastre/document"
)

// Write says who writes an object, and when, and at which version it is sent.
type Write struct {
	Version string
	Time    time.Time
	User    User
}

// User is somebody who was authenticated.
type User struct {
	Name, UID string
	Groups    []string
	Extra     map[string][]string
}

// Prepare returns an object as a write at an endpoint leaves it: wiped, with the fields that the
// server sets, and with its generation. The live object, which is absent on create, and the object
// are at the version that is stored, folded, and without managedFields; the object has a name, and
// on create a uid. What is set here nobody owns: the engine comes first.
func (k *Kind) Prepare(endpoint string, obj, live document.Value, w Write) document.Value {
	obj = k.withoutDisabled(k.Wipe(endpoint, w.Version, obj, live), live)
	if k.prepare != nil {
		obj = k.prepare(endpoint, obj, live, w)
	}
	if p, ok := k.Definition.(Preparer); ok {
		obj = p.Prepare(endpoint, obj, live)
	}
	return k.withNextGeneration(endpoint, obj, live)
}

// Preparer is a definition that sets fields of objects, which are wiped already.
type Preparer interface {
	Prepare(endpoint string, obj, live document.Value) document.Value
}

// preparer sets what a kind's server sets, in an object that is wiped already.
type preparer func(endpoint string, obj, live document.Value, w Write) document.Value

// preparers are those of the built-in kinds that have one.
var preparers = map[string]preparer{
	"certificatesigningrequests.certificates.k8s.io": prepareSigningRequest,
	"daemonsets.apps":                prepareDaemonSet,
	"jobs.batch":                     prepareJob,
	"namespaces":                     prepareNamespace,
	"nodes":                          prepareNode,
	"persistentvolumeclaims":         prepareClaim,
	"persistentvolumes":              prepareVolume,
	"pods":                           preparePod,
	"resourceclaims.resource.k8s.io": prepareDeviceClaim,
	"resourceslices.resource.k8s.io": prepareSlice,
	"serviceaccounts":                prepareServiceAccount,
	"services":                       prepareService,
}

// text returns a string, absent if it is empty.
func text(s string) document.Value {
	if s == "" {
		return document.Value{}
	}
	return document.NewString(s)
}

// list returns a list, absent if it is empty.
func list(items []document.Value) document.Value {
	if len(items) == 0 {
		return document.Value{}
	}
	return document.NewList(items...)
}

// timestamp returns a time as Kubernetes writes it.
func timestamp(t time.Time) document.Value {
	return document.NewString(t.UTC().Format(time.RFC3339))
}

// mapItems returns a list with each item changed, or what is no list as it is.
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

// putItems changes each item of the list at a path.
func putItems(doc document.Value, change func(item document.Value) document.Value, path ...string) document.Value {
	now := doc.Lookup(path...)
	if now.Kind() != document.List {
		return doc
	}
	return put(doc, mapItems(now, change), path...)
}

// kubernetesFinalizer keeps a namespace until it is empty; nameLabel says its name.
const (
	kubernetesFinalizer = "kubernetes"
	nameLabel           = "kubernetes.io/metadata.name"
)

func prepareNamespace(_ string, obj, live document.Value, _ Write) document.Value {
	if live.IsAbsent() {
		finalizers, found := []document.Value(nil), false
		for _, f := range obj.Lookup("spec", "finalizers").Items() {
			finalizers = append(finalizers, f)
			found = found || f.Text() == kubernetesFinalizer
		}
		if !found {
			obj = put(obj, document.NewList(append(finalizers, document.NewString(kubernetesFinalizer))...), "spec", "finalizers")
		}
	}
	name := obj.Lookup("metadata", "name")
	if document.Equal(name, obj.Lookup("metadata", "labels", nameLabel)) {
		return obj
	}
	return put(obj, name, "metadata", "labels", nameLabel)
}

// prepareServiceAccount leaves of references to secrets only the name.
func prepareServiceAccount(_ string, obj, _ document.Value, _ Write) document.Value {
	return putItems(obj, func(secret document.Value) document.Value {
		if name := secret.Get("name"); secret.Len() > 1 || name.IsAbsent() {
			return document.NewMap(document.Field{Name: "name", Value: name})
		}
		return secret
	}, "secrets")
}

// prepareVolume notes when the phase last changed.
func prepareVolume(endpoint string, obj, live document.Value, w Write) document.Value {
	if live.IsAbsent() {
		return put(obj, timestamp(w.Time), "status", "lastPhaseTransitionTime")
	}
	if endpoint != "status" {
		return obj
	}
	then, now := live.Lookup("status", "lastPhaseTransitionTime"), obj.Lookup("status", "lastPhaseTransitionTime")
	switch samePhase := live.Lookup("status", "phase").Text() == obj.Lookup("status", "phase").Text(); {
	case samePhase && isNothing(now):
		return put(obj, then, "status", "lastPhaseTransitionTime")
	case !samePhase && (isNothing(now) || document.Equal(now, then)):
		return put(obj, timestamp(w.Time), "status", "lastPhaseTransitionTime")
	}
	return obj
}

// prepareClaim keeps the two ways to name a source of data the same. The older way takes only
// claims and snapshots.
func prepareClaim(endpoint string, obj, live document.Value, _ Write) document.Value {
	if endpoint != "" {
		return obj
	}
	source, reference := obj.Lookup("spec", "dataSource"), obj.Lookup("spec", "dataSourceRef")
	inUse := !isNothing(live.Lookup("spec", "dataSource")) || !isNothing(live.Lookup("spec", "dataSourceRef"))
	if !inUse && isNothing(reference) && !isNothing(source) && !isClaimOrSnapshot(source) {
		return obj.With("spec", obj.Get("spec").Without("dataSource"))
	}
	switch {
	case !isNothing(source) && isNothing(reference):
		return put(obj, source, "spec", "dataSourceRef")
	case isNothing(source) && !isNothing(reference) && reference.Get("namespace").Text() == "":
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
