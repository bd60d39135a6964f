package service

import (
	"slices"

	"github.com/cadastre/cadastre/document"
)

// prepare retains the addresses and ports that an update leaves out, and makes clusterIP and clusterIPs consistent.
func prepare(obj, live document.Value) document.Value {
	now := obj.Get("spec")
	spec := now
	if old := live.Get("spec"); !live.IsAbsent() {
		spec = retainNodePorts(retainAddress(spec, old), old)
		spec = syncClusterIPs(spec, old)
	} else if ip := spec.Get("clusterIP"); ip.Text() != "" && spec.Get("clusterIPs").Len() == 0 {
		spec = spec.With("clusterIPs", document.NewList(ip))
	}
	if hasAddress(spec) {
		spec = withFamilies(spec, live.Get("spec"))
	} else if !spec.Get("internalTrafficPolicy").IsAbsent() {
		spec = spec.Without("internalTrafficPolicy")
	}
	if document.Same(spec, now) {
		return obj
	}
	return obj.With("spec", spec)
}

// retainAddress sets the cluster IPs of the live service if the update has none.
func retainAddress(spec, old document.Value) document.Value {
	if !hasAddress(spec) || !hasAddress(old) {
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

// syncClusterIPs sets clusterIPs from clusterIP if the update changes only the latter.
func syncClusterIPs(spec, old document.Value) document.Value {
	ip, was := spec.Get("clusterIP").Text(), old.Get("clusterIP").Text()
	if ip == was || !slices.Equal(texts(spec.Get("clusterIPs")), texts(old.Get("clusterIPs"))) {
		return spec
	}
	if ip == "" {
		return spec.Without("clusterIPs")
	}
	return spec.With("clusterIPs", document.NewList(document.NewString(ip)))
}

// retainNodePorts sets the node port of each port without one to that of the live port with the same name.
func retainNodePorts(spec, old document.Value) document.Value {
	if allocatesNodePorts(spec) && allocatesNodePorts(old) {
		var used []int64
		for _, port := range spec.Get("ports").Items() {
			used = append(used, number(port, "nodePort"))
		}
		spec = withPorts(spec, func(_ int, port document.Value) document.Value {
			had := portNamed(old, port.Get("name").Text())
			if number(port, "nodePort") != 0 || had == 0 || slices.Contains(used, had) {
				return port
			}
			return port.With("nodePort", document.NewInt(had))
		})
	}
	if had := number(old, "healthCheckNodePort"); had != 0 && number(spec, "healthCheckNodePort") == 0 && hasHealthCheck(spec) && hasHealthCheck(old) {
		spec = spec.With("healthCheckNodePort", document.NewInt(had))
	}
	return spec
}

// portNamed returns the node port of the last port of a name, 0 if there is none.
func portNamed(spec document.Value, name string) (found int64) {
	for _, port := range spec.Get("ports").Items() {
		if port.Get("name").Text() == name {
			found = number(port, "nodePort")
		}
	}
	return found
}

// withPorts returns the spec with changed ports.
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

// hasAddress reports whether the type of the service has cluster IPs.
func hasAddress(spec document.Value) bool {
	return !spec.IsAbsent() && spec.Get("type").Text() != "ExternalName"
}

func isHeadless(spec document.Value) bool { return first(spec.Get("clusterIPs")) == "None" }

// hasPorts reports whether the type of the service has node ports.
func hasPorts(spec document.Value) bool {
	t := spec.Get("type").Text()
	return t == "NodePort" || t == "LoadBalancer"
}

// allocatesNodePorts reports whether each port of the service gets a node port.
func allocatesNodePorts(spec document.Value) bool {
	if spec.Get("type").Text() != "LoadBalancer" {
		return hasPorts(spec)
	}
	allocate := spec.Get("allocateLoadBalancerNodePorts")
	return allocate.Kind() != document.Bool || allocate.Bool()
}

func hasHealthCheck(spec document.Value) bool {
	return spec.Get("type").Text() == "LoadBalancer" && spec.Get("externalTrafficPolicy").Text() == "Local"
}

func number(v document.Value, name string) int64 {
	n, _ := v.Get(name).Int64()
	return n
}

func texts(list document.Value) []string {
	var all []string
	for _, item := range list.Items() {
		all = append(all, item.Text())
	}
	return all
}

func first(list document.Value) string {
	if list.Kind() != document.List || list.Len() == 0 {
		return ""
	}
	return list.At(0).Text()
}
