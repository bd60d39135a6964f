package kinds

import (
	"github.com/cadastre/cadastre/document"
)

// podSpecs is where the kinds that make pods have the spec of one.
var podSpecs = map[string][]string{
	"cronjobs.batch":         {"spec", "jobTemplate", "spec", "template", "spec"},
	"daemonsets.apps":        {"spec", "template", "spec"},
	"deployments.apps":       {"spec", "template", "spec"},
	"jobs.batch":             {"spec", "template", "spec"},
	"pods":                   {"spec"},
	"podtemplates":           {"template", "spec"},
	"replicasets.apps":       {"spec", "template", "spec"},
	"replicationcontrollers": {"spec", "template", "spec"},
	"statefulsets.apps":      {"spec", "template", "spec"},
}

// withoutDisabled leaves out what kube-apiserver drops of a pod's spec, since it is a feature that is off unless somebody
// turns it on. Objects that have it already keep it.
func (k *Kind) withoutDisabled(obj, live document.Value) document.Value {
	if k.podSpec == nil {
		return obj
	}
	spec, old := obj.Lookup(k.podSpec...), live.Lookup(k.podSpec...)
	now := spec
	for _, name := range []string{"clusterTrustBundle", "podCertificate"} {
		if !projects(old, name) && projects(spec, name) {
			now = putItems(now, func(volume document.Value) document.Value {
				return putItems(volume, without(name), "projected", "sources")
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

// projects reports whether a volume of a pod has a source of this name.
func projects(spec document.Value, name string) bool {
	for _, volume := range spec.Get("volumes").Items() {
		for _, source := range volume.Lookup("projected", "sources").Items() {
			if !isAbsentOrNull(source.Get(name)) {
				return true
			}
		}
	}
	return false
}

// without returns a change that removes a field.
func without(name string) func(document.Value) document.Value {
	return func(v document.Value) document.Value {
		if v.Get(name).IsAbsent() {
			return v
		}
		return v.Without(name)
	}
}

// containerLists are where a pod's spec has containers.
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

// prepareNode drops the old way to configure kubelets, which nodes that have it keep.
func prepareNode(endpoint string, obj, live document.Value, _ Write) document.Value {
	obj = withoutNew(obj, live, "spec", "configSource")
	if live.IsAbsent() || endpoint == "status" {
		obj = withoutNew(obj, live, "status", "config")
	}
	return obj
}

// withoutNew leaves out a field of a field that the live object does not have.
func withoutNew(obj, live document.Value, in, name string) document.Value {
	if obj.Lookup(in, name).IsAbsent() || !isAbsentOrNull(live.Lookup(in, name)) {
		return obj
	}
	return obj.With(in, obj.Get(in).Without(name))
}
