package api

import (
	"strconv"

	"github.com/cadastre/cadastre/document"
)

// The label keys of a Job's pods. Each list contains the key with a prefix and the legacy key.
var (
	// jobNameLabels are the keys of the labels whose value is the Job's name.
	jobNameLabels = []string{"batch.kubernetes.io/job-name", "job-name"}
	// jobUIDLabels are the keys of the labels whose value is the Job's uid.
	jobUIDLabels = []string{"batch.kubernetes.io/controller-uid", "controller-uid"}
)

// prepareJobForCreate generates spec.selector and the labels of the pod template from the Job's name and uid, unless
// spec.manualSelector is true.
func prepareJobForCreate(obj, _ document.Value, _ Write) document.Value {
	if obj.Lookup("spec", "manualSelector").Bool() {
		return obj
	}
	name, uid := obj.Lookup("metadata", "name"), obj.Lookup("metadata", "uid")
	for _, label := range jobNameLabels {
		obj = putIfAbsent(obj, name, "spec", "template", "metadata", "labels", label)
	}
	for _, label := range jobUIDLabels {
		obj = putIfAbsent(obj, uid, "spec", "template", "metadata", "labels", label)
	}
	return putIfAbsent(obj, uid, "spec", "selector", "matchLabels", jobUIDLabels[0])
}

func putIfAbsent(doc, value document.Value, path ...string) document.Value {
	if doc.Lookup(path...).IsAbsent() {
		return put(doc, value, path...)
	}
	return doc
}

// templateGeneration is the path of the annotation that holds the template generation of a DaemonSet: a counter of the
// changes to spec.template.
var templateGeneration = []string{"metadata", "annotations", "deprecated.daemonset.template.generation"}

// prepareDaemonSetForCreate sets the template generation to 1, unless the request sets it to a larger number.
func prepareDaemonSetForCreate(obj, _ document.Value, _ Write) document.Value {
	return setTemplateGeneration(obj, max(1, templateGenerationOf(obj)))
}

// prepareDaemonSetForUpdate increments the template generation if the template has changed.
func prepareDaemonSetForUpdate(obj, live document.Value, _ Write) document.Value {
	n := templateGenerationOf(live)
	if !semanticEqual(obj.Lookup("spec", "template"), live.Lookup("spec", "template")) {
		n++
	}
	return setTemplateGeneration(obj, n)
}

func setTemplateGeneration(obj document.Value, n int64) document.Value {
	if text := strconv.FormatInt(n, 10); obj.Lookup(templateGeneration...).Text() != text {
		return put(obj, document.NewString(text), templateGeneration...)
	}
	return obj
}

func templateGenerationOf(set document.Value) int64 {
	n, err := strconv.ParseInt(set.Lookup(templateGeneration...).Text(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// prepareServiceForUpdate removes the fields of a Service that its previous type used and its new type does not use. Fields
// that the request changes together with the type are retained.
func prepareServiceForUpdate(obj, live document.Value, _ Write) document.Value {
	spec, old := obj.Get("spec"), live.Get("spec")
	kept := spec
	lost := func(has func(spec document.Value) bool) bool { return has(old) && !has(spec) }
	drop := func(names ...string) {
		for _, name := range names {
			if !semanticEqual(spec.Get(name), old.Get(name)) {
				return
			}
		}
		for _, name := range names {
			kept = kept.Without(name)
		}
	}
	if lost(hasClusterIP) {
		drop("clusterIP", "clusterIPs")
		drop("ipFamilies")
		drop("ipFamilyPolicy")
	}
	if lost(hasNodePorts) && !hasNewNodePorts(spec, old) {
		kept = putItems(kept, func(port document.Value) document.Value {
			if port.Get("nodePort").IsAbsent() {
				return port
			}
			return port.Without("nodePort")
		}, "ports")
	}
	if lost(hasHealthCheck) {
		drop("healthCheckNodePort")
	}
	if lost(isLoadBalancer) {
		drop("allocateLoadBalancerNodePorts")
		drop("loadBalancerClass")
	}
	if lost(isExternal) {
		drop("externalTrafficPolicy")
	}
	if !document.Same(kept, spec) {
		obj = obj.With("spec", kept)
	}
	if !isLoadBalancer(spec) && obj.Lookup("status", "loadBalancer").Len() > 0 {
		obj = put(obj, document.NewMap(), "status", "loadBalancer")
	}
	return obj
}

func isLoadBalancer(spec document.Value) bool { return spec.Get("type").Text() == "LoadBalancer" }

func hasClusterIP(spec document.Value) bool { return spec.Get("type").Text() != "ExternalName" }

func hasNodePorts(spec document.Value) bool {
	return isLoadBalancer(spec) || spec.Get("type").Text() == "NodePort"
}

func hasHealthCheck(spec document.Value) bool {
	return isLoadBalancer(spec) && spec.Get("externalTrafficPolicy").Text() == "Local"
}

func isExternal(spec document.Value) bool {
	return hasNodePorts(spec) || spec.Get("type").Text() == "ClusterIP" && spec.Get("externalIPs").Len() > 0
}

// hasNewNodePorts reports whether a Service spec has node ports that the old spec does not have.
func hasNewNodePorts(spec, old document.Value) bool {
	had := map[int64]bool{0: true}
	for _, port := range old.Get("ports").Items() {
		n, _ := port.Get("nodePort").Int64()
		had[n] = true
	}
	for _, port := range spec.Get("ports").Items() {
		if n, _ := port.Get("nodePort").Int64(); !had[n] {
			return true
		}
	}
	return false
}
