package api

import (
	"github.com/cadastre/cadastre/document"
)

// dropDisabledFields removes the fields of a pod spec whose feature gates are off by default, as kube-apiserver does. A
// field that is set in the live object is retained.
func (k *Kind) dropDisabledFields(obj, live document.Value) document.Value {
	if k.podSpec == nil {
		return obj
	}
	spec, old := obj.Lookup(k.podSpec...), live.Lookup(k.podSpec...)
	changed := spec
	for _, name := range []string{"clusterTrustBundle", "podCertificate"} {
		if !hasProjectedSource(old, name) && hasProjectedSource(spec, name) {
			changed = putItems(changed, func(volume document.Value) document.Value {
				return putItems(volume, removeField(name), "projected", "sources")
			}, "volumes")
		}
	}
	if !isAbsentOrNull(changed.Get("schedulingGroup")) && isAbsentOrNull(old.Get("schedulingGroup")) {
		changed = changed.Without("schedulingGroup")
	}
	if hasStopSignal(spec) && !hasStopSignal(old) {
		changed = removeStopSignals(changed)
	}
	if document.Same(changed, spec) {
		return obj
	}
	return put(obj, changed, k.podSpec...)
}

// hasProjectedSource reports whether a projected volume of spec, a pod spec, has a source of the type name, such as
// clusterTrustBundle.
func hasProjectedSource(spec document.Value, name string) bool {
	for _, volume := range spec.Get("volumes").Items() {
		for _, source := range volume.Lookup("projected", "sources").Items() {
			if !isAbsentOrNull(source.Get(name)) {
				return true
			}
		}
	}
	return false
}

// removeField returns a function that returns its argument, a map, without the field name.
func removeField(name string) func(document.Value) document.Value {
	return func(v document.Value) document.Value {
		if v.Get(name).IsAbsent() {
			return v
		}
		return v.Without(name)
	}
}

// containerLists are the fields of a pod spec that hold containers.
var containerLists = []string{"initContainers", "containers", "ephemeralContainers"}

func hasStopSignal(spec document.Value) bool {
	for _, list := range containerLists {
		for _, container := range spec.Get(list).Items() {
			if !isAbsentOrNull(container.Lookup("lifecycle", "stopSignal")) {
				return true
			}
		}
	}
	return false
}

func removeStopSignals(spec document.Value) document.Value {
	for _, list := range containerLists {
		spec = putItems(spec, func(container document.Value) document.Value {
			lifecycle := container.Get("lifecycle")
			switch rest := lifecycle.Without("stopSignal"); {
			case isAbsentOrNull(lifecycle.Get("stopSignal")):
				return container
			case rest.Len() == 0:
				return container.Without("lifecycle")
			default:
				return container.With("lifecycle", rest)
			}
		}, list)
	}
	return spec
}

// prepareNode removes spec.configSource, the source of dynamic kubelet configuration, which Kubernetes no longer supports.
// It is retained if it is set in the live node.
func prepareNode(obj, live document.Value, _ Write) document.Value {
	return dropNewField(obj, live, "spec", "configSource")
}

// prepareNodeStatus removes spec.configSource as prepareNode does, and status.config, the status of dynamic kubelet
// configuration. Each of the two fields is retained if it is set in the live node.
func prepareNodeStatus(obj, live document.Value, w Write) document.Value {
	return dropNewField(prepareNode(obj, live, w), live, "status", "config")
}

// dropNewField returns obj without the field parent.name, unless live has that field.
func dropNewField(obj, live document.Value, parent, name string) document.Value {
	if obj.Lookup(parent, name).IsAbsent() || !isAbsentOrNull(live.Lookup(parent, name)) {
		return obj
	}
	return obj.With(parent, obj.Get(parent).Without(name))
}
