package api

import (
	"github.com/cadastre/cadastre/document"
)

// dropDisabledFields removes the fields of a pod spec whose feature gates are off by default, as kube-apiserver does.
// Fields that the live object has are retained.
func (k *Kind) dropDisabledFields(obj, live document.Value) document.Value {
	if k.podSpec == nil {
		return obj
	}
	spec, old := obj.Lookup(k.podSpec...), live.Lookup(k.podSpec...)
	now := spec
	for _, name := range []string{"clusterTrustBundle", "podCertificate"} {
		if !hasProjectedSource(old, name) && hasProjectedSource(spec, name) {
			now = putItems(now, func(volume document.Value) document.Value {
				return putItems(volume, removeField(name), "projected", "sources")
			}, "volumes")
		}
	}
	if !isAbsentOrNull(now.Get("schedulingGroup")) && isAbsentOrNull(old.Get("schedulingGroup")) {
		now = now.Without("schedulingGroup")
	}
	if hasStopSignal(spec) && !hasStopSignal(old) {
		now = withoutStopSignals(now)
	}
	if document.Same(now, spec) {
		return obj
	}
	return put(obj, now, k.podSpec...)
}

// hasProjectedSource reports whether a projected volume of a pod spec has a source of a name.
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

// removeField returns a function that removes a field from a map.
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

func withoutStopSignals(spec document.Value) document.Value {
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

// prepareNode removes the fields of dynamic kubelet configuration, which is no longer supported, unless the live node
// has them.
func prepareNode(endpoint string, obj, live document.Value, _ Write) document.Value {
	obj = withoutNew(obj, live, "spec", "configSource")
	if live.IsAbsent() || endpoint == StatusSubresource {
		obj = withoutNew(obj, live, "status", "config")
	}
	return obj
}

// withoutNew removes the field in.name, unless the live object has it.
func withoutNew(obj, live document.Value, in, name string) document.Value {
	if obj.Lookup(in, name).IsAbsent() || !isAbsentOrNull(live.Lookup(in, name)) {
		return obj
	}
	return obj.With(in, obj.Get(in).Without(name))
}
