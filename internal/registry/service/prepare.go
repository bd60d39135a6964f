package service

import (
	"slices"

	"github.com/cadastre/cadastre/document"
)

// prepare returns the service with the live addresses and node ports that an update omits, with consistent clusterIP and
// clusterIPs, and with default IP families. It is the Prepare function of the strategy.
func prepare(obj, live document.Value) document.Value {
	sent := obj.Get("spec")
	spec := sent
	if old := live.Get("spec"); !live.IsAbsent() {
		spec = retainNodePorts(retainAddress(spec, old), old)
		spec = syncClusterIPs(spec, old)
	} else if ip := spec.Get("clusterIP"); ip.Text() != "" && spec.Get("clusterIPs").Len() == 0 {
		spec = spec.With("clusterIPs", document.NewList(ip))
	}
	if hasClusterIPs(spec) {
		spec = withFamilies(spec, live.Get("spec"))
	} else if !spec.Get("internalTrafficPolicy").IsAbsent() {
		spec = spec.Without("internalTrafficPolicy")
	}
	if document.Same(spec, sent) {
		return obj
	}
	return obj.With("spec", spec)
}

// retainAddress returns the spec with clusterIP and clusterIPs of the live service, if the update omits them.
func retainAddress(spec, old document.Value) document.Value {
	if !hasClusterIPs(spec) || !hasClusterIPs(old) {
		return spec
	}
	if ip := old.Get("clusterIP"); spec.Get("clusterIP").Text() == "" && ip.Text() != "" {
		spec = spec.With("clusterIP", ip)
	}
	if ips := old.Get("clusterIPs"); spec.Get("clusterIPs").Len() == 0 && ips.Len() > 0 {
		spec = spec.With("clusterIPs", ips)
	}
	return spec
}

// syncClusterIPs returns the spec with clusterIPs set from clusterIP, if the update changes only clusterIP.
func syncClusterIPs(spec, old document.Value) document.Value {
	ip, was := spec.Get("clusterIP").Text(), old.Get("clusterIP").Text()
	if ip == was || !slices.Equal(stringsOf(spec.Get("clusterIPs")), stringsOf(old.Get("clusterIPs"))) {
		return spec
	}
	if ip == "" {
		return spec.Without("clusterIPs")
	}
	return spec.With("clusterIPs", document.NewList(document.NewString(ip)))
}

// retainNodePorts returns the spec in which each port without a node port has the node port of the live port with the same name,
// and healthCheckNodePort is retained.
func retainNodePorts(spec, old document.Value) document.Value {
	if allocatesNodePorts(spec) && allocatesNodePorts(old) {
		var used []int64
		for _, port := range spec.Get("ports").Items() {
			used = append(used, intField(port, "nodePort"))
		}
		spec = withPorts(spec, func(_ int, port document.Value) document.Value {
			had := nodePortOf(old, port.Get("name").Text())
			if intField(port, "nodePort") != 0 || had == 0 || slices.Contains(used, had) {
				return port
			}
			return port.With("nodePort", document.NewInt(had))
		})
	}
	if had := intField(old, "healthCheckNodePort"); had != 0 && intField(spec, "healthCheckNodePort") == 0 && hasHealthCheck(spec) && hasHealthCheck(old) {
		spec = spec.With("healthCheckNodePort", document.NewInt(had))
	}
	return spec
}

// nodePortOf returns the node port of the last port with the given name; 0 if there is none.
func nodePortOf(spec document.Value, name string) (found int64) {
	for _, port := range spec.Get("ports").Items() {
		if port.Get("name").Text() == name {
			found = intField(port, "nodePort")
		}
	}
	return found
}

// withPorts returns the spec in which each port is replaced with the result of change.
func withPorts(spec document.Value, change func(i int, port document.Value) document.Value) document.Value {
	ports := spec.Get("ports")
	if ports.Kind() != document.List {
		return spec
	}
	var items []document.Value
	same := true
	for i, port := range ports.Items() {
		changed := change(i, port)
		same = same && document.Same(port, changed)
		items = append(items, changed)
	}
	if same {
		return spec
	}
	return spec.With("ports", document.NewList(items...))
}

// hasClusterIPs reports whether services of this type have cluster IPs: all types except ExternalName.
func hasClusterIPs(spec document.Value) bool {
	return !spec.IsAbsent() && spec.Get("type").Text() != "ExternalName"
}

func isHeadless(spec document.Value) bool { return firstString(spec.Get("clusterIPs")) == "None" }

// hasNodePorts reports whether services of this type can have node ports: NodePort and LoadBalancer.
func hasNodePorts(spec document.Value) bool {
	t := spec.Get("type").Text()
	return t == "NodePort" || t == "LoadBalancer"
}

// allocatesNodePorts reports whether the server allocates a node port for each port: for the type NodePort, and for LoadBalancer
// unless allocateLoadBalancerNodePorts is false.
func allocatesNodePorts(spec document.Value) bool {
	if spec.Get("type").Text() != "LoadBalancer" {
		return hasNodePorts(spec)
	}
	allocate := spec.Get("allocateLoadBalancerNodePorts")
	return allocate.Kind() != document.Bool || allocate.Bool()
}

// hasHealthCheck reports whether the service has a health check node port.
func hasHealthCheck(spec document.Value) bool {
	return spec.Get("type").Text() == "LoadBalancer" && spec.Get("externalTrafficPolicy").Text() == "Local"
}

// intField returns the integer field of v with the given name; 0 if it is absent.
func intField(v document.Value, name string) int64 {
	n, _ := v.Get(name).Int64()
	return n
}

// stringsOf returns the items of a list of strings; nil if it is absent.
func stringsOf(list document.Value) []string {
	var all []string
	for _, item := range list.Items() {
		all = append(all, item.Text())
	}
	return all
}

// firstString returns the first item of a list of strings; "" if there is none.
func firstString(list document.Value) string {
	if list.Kind() != document.List || list.Len() == 0 {
		return ""
	}
	return list.At(0).Text()
}
