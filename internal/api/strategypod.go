package api

import (
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/podresources"
	"github.com/cadastre/cadastre/internal/api/qos"
)

// preparePodForCreate sets absent pod-level resources, status.qosClass, the condition PodScheduled of a pod with scheduling gates, the label selectors
// that follow from matchLabelKeys and mismatchLabelKeys, and AppArmor profiles from legacy annotations.
func preparePodForCreate(obj, _ document.Value, w Write) document.Value {
	obj = put(obj, podresources.SetDefaults(obj.Get("spec")), "spec")
	obj = put(obj, document.NewString(qos.Class(obj.Get("spec"))), "status", "qosClass")
	if obj.Lookup("spec", "schedulingGates").Len() > 0 {
		obj = put(obj, document.NewList(gatedCondition(w)), "status", "conditions")
	}
	labels := obj.Lookup("metadata", "labels")
	term := func(t document.Value) document.Value { return addMatchLabelKeys(t, labels) }
	for _, affinity := range []string{"podAffinity", "podAntiAffinity"} {
		obj = putItems(obj, term, "spec", "affinity", affinity, "requiredDuringSchedulingIgnoredDuringExecution")
		obj = putItems(obj, func(weighted document.Value) document.Value {
			podAffinityTerm := weighted.Get("podAffinityTerm")
			if changed := term(podAffinityTerm); !document.Same(podAffinityTerm, changed) {
				return weighted.With("podAffinityTerm", changed)
			}
			return weighted
		}, "spec", "affinity", affinity, "preferredDuringSchedulingIgnoredDuringExecution")
	}
	return setAppArmorProfiles(putItems(obj, term, "spec", "topologySpreadConstraints"))
}

func gatedCondition(w Write) document.Value {
	return document.NewMap(
		document.Field{Name: "type", Value: document.NewString("PodScheduled")},
		document.Field{Name: "status", Value: document.NewString("False")},
		document.Field{Name: "lastProbeTime", Value: document.NewNull()},
		document.Field{Name: "lastTransitionTime", Value: timestamp(w.Time)},
		document.Field{Name: "reason", Value: document.NewString("SchedulingGated")},
		document.Field{Name: "message", Value: document.NewString("Scheduling is blocked due to non-empty scheduling gates")},
	)
}

// addMatchLabelKeys returns a pod affinity term or topology spread constraint whose labelSelector has a requirement for each
// key in matchLabelKeys and mismatchLabelKeys, with the value of the pod's own label. Keys that are not labels of the pod are
// ignored.
func addMatchLabelKeys(term, labels document.Value) document.Value {
	selector := term.Get("labelSelector")
	if isAbsentOrNull(selector) {
		return term
	}
	var added []document.Value
	for _, keys := range [][2]string{{"matchLabelKeys", "In"}, {"mismatchLabelKeys", "NotIn"}} {
		for _, key := range term.Get(keys[0]).Items() {
			if value := labels.Get(key.Text()); !value.IsAbsent() {
				added = append(added, document.NewMap(
					document.Field{Name: "key", Value: key},
					document.Field{Name: "operator", Value: document.NewString(keys[1])},
					document.Field{Name: "values", Value: document.NewList(value)},
				))
			}
		}
	}
	if len(added) == 0 {
		return term
	}
	var all []document.Value
	for _, e := range selector.Get("matchExpressions").Items() {
		all = append(all, e)
	}
	return put(term, document.NewList(append(all, added...)...), "labelSelector", "matchExpressions")
}

func isAbsentOrNull(v document.Value) bool { return v.IsAbsent() || v.IsNull() }

// preparePodForUpdate restores spec.resources if the update removes it, because clients that do not know the field drop it.
func preparePodForUpdate(obj, live document.Value, _ Write) document.Value {
	if old := live.Lookup("spec", "resources"); !isAbsentOrNull(old) && isAbsentOrNull(obj.Lookup("spec", "resources")) {
		return put(obj, old, "spec", "resources")
	}
	return obj
}

// preparePodResize restores spec.resources like preparePodForUpdate and sets absent pod-level resources.
func preparePodResize(obj, live document.Value, w Write) document.Value {
	obj = preparePodForUpdate(obj, live, w)
	return put(obj, podresources.SetDefaults(obj.Get("spec")), "spec")
}

// preparePodStatus restores the status fields that older kubelets do not send: qosClass, the statuses of claimed devices,
// observedGeneration, and observedGeneration of the conditions.
func preparePodStatus(obj, live document.Value, _ Write) document.Value {
	if obj.Lookup("status", "qosClass").Text() == "" {
		obj = put(obj, live.Lookup("status", "qosClass"), "status", "qosClass")
	}
	for _, name := range []string{"resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses"} {
		if old := live.Lookup("status", name); !isAbsentOrNull(old) && isAbsentOrNull(obj.Lookup("status", name)) {
			obj = put(obj, old, "status", name)
		}
	}
	if !hasObservedGeneration(obj.Get("status")) {
		obj = put(obj, live.Lookup("status", "observedGeneration"), "status", "observedGeneration")
	}
	observed := map[string][]document.Value{}
	for _, c := range live.Lookup("status", "conditions").Items() {
		name := c.Get("type").Text()
		observed[name] = append(observed[name], c.Get("observedGeneration"))
	}
	return putItems(obj, func(c document.Value) document.Value {
		name := c.Get("type").Text()
		if len(observed[name]) == 0 {
			return c
		}
		then := observed[name][0]
		observed[name] = observed[name][1:]
		if hasObservedGeneration(c) || then.IsAbsent() {
			return c
		}
		return c.With("observedGeneration", then)
	}, "status", "conditions")
}

func hasObservedGeneration(v document.Value) bool {
	n, _ := v.Get("observedGeneration").Int64()
	return n != 0
}

// appArmorAnnotation is the prefix of the legacy annotation for the AppArmor profile of a container. The container's name
// follows it.
const appArmorAnnotation = "container.apparmor.security.beta.kubernetes.io/"

// setAppArmorProfiles sets securityContext.appArmorProfile of each container from the container's legacy annotation, unless
// the container has an appArmorProfile, or the profile of the pod's securityContext equals the annotation's. Windows pods are
// not changed.
func setAppArmorProfiles(obj document.Value) document.Value {
	annotations, spec := obj.Lookup("metadata", "annotations"), obj.Get("spec")
	if annotations.Len() == 0 || spec.Lookup("os", "name").Text() == "windows" {
		return obj
	}
	ofPod, result := spec.Lookup("securityContext", "appArmorProfile"), spec
	for _, list := range containerLists {
		result = putItems(result, func(container document.Value) document.Value {
			profile := annotatedProfile(annotations.Get(appArmorAnnotation + container.Get("name").Text()).Text())
			if profile.IsAbsent() || document.Equal(profile, ofPod) || !isAbsentOrNull(container.Lookup("securityContext", "appArmorProfile")) {
				return container
			}
			return put(container, profile, "securityContext", "appArmorProfile")
		}, list)
	}
	if document.Same(result, spec) {
		return obj
	}
	return obj.With("spec", result)
}

// maxProfileLength is the maximum length of localhostProfile, in bytes.
const maxProfileLength = 4095

// annotatedProfile returns the appArmorProfile that the value of a legacy annotation describes; an absent value if the
// annotation is invalid.
func annotatedProfile(annotation string) document.Value {
	profile := func(of string) document.Value {
		return document.NewMap(document.Field{Name: "type", Value: document.NewString(of)})
	}
	file, isLocal := strings.CutPrefix(annotation, "localhost/")
	switch {
	case annotation == "unconfined":
		return profile("Unconfined")
	case annotation == "runtime/default":
		return profile("RuntimeDefault")
	case isLocal && file != "" && file == strings.TrimSpace(file) && len(file) <= maxProfileLength:
		return profile("Localhost").With("localhostProfile", document.NewString(file))
	}
	return document.Value{}
}
