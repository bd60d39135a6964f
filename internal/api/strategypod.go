package kinds

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

func preparePod(endpoint string, obj, live document.Value, w Write) document.Value {
	switch {
	case live.IsAbsent():
		return createPod(obj, w)
	case endpoint == "status":
		return observePod(obj, live)
	}
	return obj
}

// createPod says how the pod will be served, and why it is not scheduled, makes its labels part of the
// selectors that ask for their values, and fields of old annotations.
func createPod(obj document.Value, w Write) document.Value {
	obj = put(obj, document.NewString(serviceClass(obj.Get("spec"))), "status", "qosClass")
	if obj.Lookup("spec", "schedulingGates").Len() > 0 {
		obj = put(obj, document.NewList(gatedCondition(w)), "status", "conditions")
	}
	labels := obj.Lookup("metadata", "labels")
	term := func(t document.Value) document.Value { return selectOwn(t, labels) }
	for _, affinity := range []string{"podAffinity", "podAntiAffinity"} {
		obj = putItems(obj, term, "spec", "affinity", affinity, "requiredDuringSchedulingIgnoredDuringExecution")
		obj = putItems(obj, func(weighted document.Value) document.Value {
			now := weighted.Get("podAffinityTerm")
			if changed := term(now); !document.Same(now, changed) {
				return weighted.With("podAffinityTerm", changed)
			}
			return weighted
		}, "spec", "affinity", affinity, "preferredDuringSchedulingIgnoredDuringExecution")
	}
	return confineContainers(putItems(obj, term, "spec", "topologySpreadConstraints"))
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

// selectOwn adds to a selector the values that the pod itself has for the labels that are asked
// for.
func selectOwn(term, labels document.Value) document.Value {
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

// observePod keeps what older kubelets leave out: the class of service, and which generation was
// observed.
func observePod(obj, live document.Value) document.Value {
	if obj.Lookup("status", "qosClass").Text() == "" {
		obj = put(obj, live.Lookup("status", "qosClass"), "status", "qosClass")
	}
	if !hasObserved(obj.Get("status")) {
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
		if hasObserved(c) || then.IsAbsent() {
			return c
		}
		return c.With("observedGeneration", then)
	}, "status", "conditions")
}

func hasObserved(v document.Value) bool {
	n, _ := v.Get("observedGeneration").Int64()
	return n != 0
}

// appArmorAnnotation, with the name of a container after it, said what is a field by now.
const appArmorAnnotation = "container.apparmor.security.beta.kubernetes.io/"

// confineContainers gives the containers of a new pod the profiles of AppArmor that annotations name, unless they have
// one, or the pod has the same. Containers of Windows have none.
func confineContainers(obj document.Value) document.Value {
	annotations, spec := obj.Lookup("metadata", "annotations"), obj.Get("spec")
	if annotations.Len() == 0 || spec.Lookup("os", "name").Text() == "windows" {
		return obj
	}
	ofPod, now := spec.Lookup("securityContext", "appArmorProfile"), spec
	for _, list := range containerLists {
		now = putItems(now, func(container document.Value) document.Value {
			profile := annotatedProfile(annotations.Get(appArmorAnnotation + container.Get("name").Text()).Text())
			if profile.IsAbsent() || document.Equal(profile, ofPod) || !isAbsentOrNull(container.Lookup("securityContext", "appArmorProfile")) {
				return container
			}
			return put(container, profile, "securityContext", "appArmorProfile")
		}, list)
	}
	if document.Same(now, spec) {
		return obj
	}
	return obj.With("spec", now)
}

// longestProfile is how long the path of a file may be.
const longestProfile = 4095

// annotatedProfile returns the field that says the same as an annotation, absent if there is none that is right.
func annotatedProfile(annotation string) document.Value {
	profile := func(sort string) document.Value {
		return document.NewMap(document.Field{Name: "type", Value: document.NewString(sort)})
	}
	file, isLocal := strings.CutPrefix(annotation, "localhost/")
	switch {
	case annotation == "unconfined":
		return profile("Unconfined")
	case annotation == "runtime/default":
		return profile("RuntimeDefault")
	case isLocal && file != "" && file == strings.TrimSpace(file) && len(file) <= longestProfile:
		return profile("Localhost").With("localhostProfile", document.NewString(file))
	}
	return document.Value{}
}
