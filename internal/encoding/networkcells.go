package encoding

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
)

// maxShown is the maximum number of list items that a cell shows.
const maxShown = 3

func serviceClusterIP(r *row) string {
	if ips := itemsOf(r.get("spec", "clusterIPs")); len(ips) > 0 {
		return text(ips[0])
	}
	return none
}

func serviceExternalIP(r *row) string {
	external := stringItems(r.get("spec", "externalIPs"), "")
	switch text(r.get("spec", "type")) {
	case "ClusterIP", "NodePort":
		if len(external) == 0 {
			return none
		}
		return strings.Join(external, ",")
	case "LoadBalancer":
		if balancer := loadBalancer(r); balancer != "" {
			external = append([]string{balancer}, external...)
		}
		if len(external) == 0 {
			return "<pending>"
		}
		return strings.Join(external, ",")
	case "ExternalName":
		return text(r.get("spec", "externalName"))
	}
	return unknown
}

// servicePorts returns the ports of a service as port:nodePort/protocol, separated by commas.
func servicePorts(r *row) string {
	var ports []string
	for _, port := range itemsOf(r.get("spec", "ports")) {
		p := strconv.FormatInt(integer(port.Get("port")), 10)
		if node := integer(port.Get("nodePort")); node > 0 {
			p += ":" + strconv.FormatInt(node, 10)
		}
		ports = append(ports, p+"/"+text(port.Get("protocol")))
	}
	if len(ports) == 0 {
		return none
	}
	return strings.Join(ports, ",")
}

// loadBalancer returns the distinct addresses in the load balancer status of an object, sorted.
func loadBalancer(r *row) string {
	var addresses []string
	for _, ingress := range itemsOf(r.get("status", "loadBalancer", "ingress")) {
		if address := nonemptyText(ingress.Get("ip"), text(ingress.Get("hostname"))); address != "" {
			addresses = append(addresses, address)
		}
	}
	slices.Sort(addresses)
	return strings.Join(slices.Compact(addresses), ",")
}

// ingressHosts returns the first hosts of an Ingress. As in Kubernetes, rules without a host are included in the number of
// hosts that are not shown.
func ingressHosts(r *row) string {
	rules := itemsOf(r.get("spec", "rules"))
	var hosts []string
	more := false
	for _, rule := range rules {
		more = len(hosts) == maxShown
		if host := text(rule.Get("host")); host != "" && !more {
			hosts = append(hosts, host)
		}
	}
	switch {
	case len(hosts) == 0:
		return "*"
	case more:
		return joinFirst(hosts, ",", len(rules), maxShown)
	}
	return strings.Join(hosts, ",")
}

func ingressPorts(r *row) string {
	if itemCount(r.get("spec", "tls")) > 0 {
		return "80, 443"
	}
	return "80"
}

func ingressClassName(r *row) string {
	return nameWithDefault(r, "ingressclass.kubernetes.io/is-default-class")
}

// nameWithDefault returns the object's name, followed by " (default)" if one of the annotations has the value true.
func nameWithDefault(r *row, annotations ...string) string {
	name := text(r.get("metadata", "name"))
	for _, annotation := range annotations {
		if text(r.get("metadata", "annotations", annotation)) == "true" {
			return name + " (default)"
		}
	}
	return name
}

func ingressClassParameters(r *row) string {
	parameters := r.get("spec", "parameters")
	if parameters.Kind() != document.Map {
		return none
	}
	kind := text(parameters.Get("kind"))
	if group := parameters.Get("apiGroup"); group.Kind() == document.String {
		kind += "." + group.Text()
	}
	return kind + "/" + text(parameters.Get("name"))
}

// ipParent returns the parent reference of an IPAddress as resource.group/namespace/name.
func ipParent(r *row) string {
	parent := r.get("spec", "parentRef")
	if parent.Kind() != document.Map {
		return none
	}
	resource := schema.GroupResource{Group: text(parent.Get("group")), Resource: text(parent.Get("resource"))}
	parentText := strings.ToLower(resource.String())
	if namespace := text(parent.Get("namespace")); namespace != "" {
		parentText += "/" + namespace
	}
	return parentText + "/" + text(parent.Get("name"))
}

// endpoints returns the first addresses of an Endpoints object, each combined with every port of its subset.
func endpoints(r *row) string {
	subsets := itemsOf(r.get("subsets"))
	if len(subsets) == 0 {
		return none
	}
	var shown []string
	count := 0
	show := func(addresses []document.Value, port string) {
		count += len(addresses)
		for _, address := range addresses {
			if len(shown) == maxShown {
				return
			}
			ip := text(address.Get("ip"))
			if port != "" {
				ip = net.JoinHostPort(ip, port)
			}
			shown = append(shown, ip)
		}
	}
	for _, subset := range subsets {
		addresses, ports := itemsOf(subset.Get("addresses")), itemsOf(subset.Get("ports"))
		if len(ports) == 0 {
			show(addresses, "")
		}
		for _, port := range ports {
			show(addresses, strconv.FormatInt(integer(port.Get("port")), 10))
		}
	}
	return joinFirst(shown, ",", count, maxShown)
}

func slicePorts(r *row) string {
	var ports []string
	for _, port := range itemsOf(r.get("ports")) {
		number := "*"
		if i, ok := port.Get("port").Int64(); ok {
			number = strconv.FormatInt(i, 10)
		} else if name := port.Get("name"); name.Kind() == document.String {
			number = name.Text()
		}
		ports = append(ports, number)
	}
	return firstOrUnset(ports)
}

func sliceEndpoints(r *row) string {
	var addresses []string
	for _, endpoint := range itemsOf(r.get("endpoints")) {
		addresses = append(addresses, stringItems(endpoint.Get("addresses"), "")...)
	}
	return firstOrUnset(addresses)
}

// firstOrUnset joins the first items, at most maxShown; it returns <unset> if there are none.
func firstOrUnset(items []string) string {
	shown := joinFirst(items[:min(len(items), maxShown)], ",", len(items), maxShown)
	if shown == "" {
		return unset
	}
	return shown
}
