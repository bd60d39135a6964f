package kinds

import (
	"strconv"

	"github.com/cadastre/cadastre/document"
)

// The labels by which a job finds its pods: name and uid, each with the name that it had before
// labels had prefixes.
var (
	jobNameLabels = []string{"batch.kubernetes.io/job-name", "job-name"}
	jobUIDLabels  = []string{"batch.kubernetes.io/controller-uid", "controller-uid"}
)

// prepareJob makes a job select the pods that it makes, by its uid, unless it says that it does
// so itself.
func prepareJob(endpoint string, obj, live document.Value, _ Write) document.Value {
	if !live.IsAbsent() || obj.Lookup("spec", "manualSelector").Bool() {
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

// templateGeneration is where a daemon set counts the changes of its template.
var templateGeneration = []string{"metadata", "annotations", "deprecated.daemonset.template.generation"}

func prepareDaemonSet(endpoint string, obj, live document.Value, _ Write) document.Value {
	var n int64
	if live.IsAbsent() {
		n = max(1, countAt(obj))
	} else {
		n = countAt(live)
		if endpoint == "" && !means(obj.Lookup("spec", "template"), live.Lookup("spec", "template")) {
			n++
		}
	}
	if text := strconv.FormatInt(n, 10); obj.Lookup(templateGeneration...).Text() != text {
		return put(obj, document.NewString(text), templateGeneration...)
	}
	return obj
}

func countAt(set document.Value) int64 {
	n, err := strconv.ParseInt(set.Lookup(templateGeneration...).Text(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// prepareService lets go of what a service had only because of the type that it no longer has,
// unless it was changed with the type.
func prepareService(endpoint string, obj, live document.Value, _ Write) document.Value {
	if endpoint != "" || live.IsAbsent() {
		return obj
	}
	spec, old := obj.Get("spec"), live.Get("spec")
	kept := spec
	lost := func(has func(spec document.Value) bool) bool { return has(old) && !has(spec) }
	drop := func(names ...string) {
		for _, name := range names {
			if !means(spec.Get(name), old.Get(name)) {
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
	if lost(hasNodePorts) && !newNodePorts(spec, old) {
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

// newNodePorts reports whether a service has node ports that it did not have.
func newNodePorts(spec, old document.Value) bool {
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
