package builtin

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	netutils "k8s.io/utils/net"

	"github.com/cadastre/cadastre/document"
)

// checkNotBothResources rejects an RBAC rule with nonResourceURLs that also has apiGroups, resources or resourceNames.
func checkNotBothResources(c *checker, rule, _ document.Value) {
	if rule.Get("apiGroups").Len()+rule.Get("resources").Len()+rule.Get("resourceNames").Len() > 0 {
		c.invalid(errorValue(rule.Get("nonResourceURLs")), "rules cannot apply to both regular resources and non-resource URLs", "nonResourceURLs")
	}
}

func checkIngressClassAnnotation(c *checker, ingress, _ document.Value) {
	const name = "kubernetes.io/ingress.class"
	annotation, class := ingress.Lookup("metadata", "annotations", name), ingress.Lookup("spec", "ingressClassName")
	if !isAbsentOrNull(annotation) && !isAbsentOrNull(class) && annotation.Text() != class.Text() {
		c.invalid(annotation.Text(), "must match `ingressClassName` when both are specified", "annotations", name)
	}
}

func checkIngressPath(c *checker, p, _ document.Value) {
	path, kind := p.Get("path").Text(), p.Get("pathType").Text()
	switch kind {
	case "Exact", "Prefix":
		if !strings.HasPrefix(path, "/") {
			c.invalid(path, "must be an absolute path", "path")
		}
		for _, part := range []string{"//", "/./", "/../", "%2f", "%2F"} {
			if strings.Contains(path, part) {
				c.invalid(path, fmt.Sprintf("must not contain '%s'", part), "path")
			}
		}
		for _, end := range []string{"/..", "/."} {
			if strings.HasSuffix(path, end) {
				c.invalid(path, fmt.Sprintf("cannot end with '%s'", end), "path")
			}
		}
	case "ImplementationSpecific":
		if path != "" && !strings.HasPrefix(path, "/") {
			c.invalid(path, "must be an absolute path", "path")
		}
	default:
		c.unsupported(kind, []string{"Exact", "ImplementationSpecific", "Prefix"}, "pathType")
	}
}

func checkIngressBackend(c *checker, backend, _ document.Value) {
	resource, service := backend.Get("resource"), backend.Get("service")
	switch {
	case !isAbsentOrNull(resource) && !isAbsentOrNull(service):
		c.invalid("", "cannot set both resource and service backends")
	case !isAbsentOrNull(resource):
		c.checkTypedReference(resource, "resource")
	case !isAbsentOrNull(service):
		c.checkServiceBackend(service)
	default:
		c.invalid("", "resource or service backend is required")
	}
}

func (c *checker) checkTypedReference(ref document.Value, name string) {
	if group := ref.Get("apiGroup"); !isAbsentOrNull(group) {
		c.invalidAll(group.Text(), formats["dns-subdomain"].check(group.Text()), name, "apiGroup")
	}
	for _, field := range []string{"kind", "name"} {
		if text := ref.Get(field).Text(); text == "" {
			c.required("", name, field)
		} else {
			c.invalidAll(text, pathSegment.check(text), name, field)
		}
	}
}

func (c *checker) checkServiceBackend(service document.Value) {
	if name := service.Get("name").Text(); name == "" {
		c.required("", "service", "name")
	} else {
		c.invalidAll(name, formats["dns-label"].check(name), "service", "name")
	}
	name, n := service.Lookup("port", "name").Text(), intValue(service.Lookup("port", "number"))
	switch {
	case name != "" && n != 0:
		c.invalid("", "cannot set both port name & port number")
	case name != "":
		c.invalidAll(name, validation.IsValidPortName(name), "service", "port", "name")
	case n != 0:
		c.invalidAll(n, validation.IsValidPortNum(int(n)), "service", "port", "number")
	default:
		c.required("port name or number is required")
	}
}

// checkIngressClassNamespace requires that parameters of an IngressClass have a namespace if their scope is Namespace, and none
// if it is Cluster.
func checkIngressClassNamespace(c *checker, parameters, _ document.Value) {
	scope, namespace := parameters.Get("scope"), parameters.Get("namespace")
	if isAbsentOrNull(scope) {
		c.required("", "scope")
		return
	}
	switch scope.Text() {
	case "Namespace":
		if isAbsentOrNull(namespace) {
			c.required("`parameters.scope` is set to 'Namespace'", "namespace")
		} else {
			c.invalidAll(namespace.Text(), formats["dns-label"].check(namespace.Text()), "namespace")
		}
	case "Cluster":
		if !isAbsentOrNull(namespace) {
			c.forbidden("`parameters.scope` is set to 'Cluster'", "namespace")
		}
	default:
		c.unsupported(scope.Text(), []string{"Cluster", "Namespace"}, "scope")
	}
}

func checkPolicyTypes(c *checker, spec, _ document.Value) {
	types := spec.Get("policyTypes")
	if types.Len() > 2 {
		c.invalid(errorValue(types), "may not specify more than two policyTypes", "policyTypes")
		return
	}
	c.forEachText("policyTypes", types, func(text string) {
		if text != "Ingress" && text != "Egress" {
			c.unsupported(text, []string{"Ingress", "Egress"})
		}
	})
}

func checkPolicyPort(c *checker, p, _ document.Value) {
	first, end := p.Get("port"), p.Get("endPort")
	n, last := intValue(first), intValue(end)
	switch first.Kind() {
	case document.Absent, document.Null:
		if !isAbsentOrNull(end) {
			c.invalid(last, "may not be specified when `port` is not specified", "endPort")
		}
	case document.String:
		if !isAbsentOrNull(end) {
			c.invalid(last, "may not be specified when `port` is non-numeric", "endPort")
		}
		c.invalidAll(first.Text(), validation.IsValidPortName(first.Text()), "port")
	default:
		c.invalidAll(n, validation.IsValidPortNum(int(n)), "port")
		if isAbsentOrNull(end) {
			return
		}
		if last < n {
			c.invalid(n, "must be greater than or equal to `port`", "endPort")
		}
		c.invalidAll(last, validation.IsValidPortNum(int(last)), "endPort")
	}
}

func checkPolicyPeer(c *checker, peer, _ document.Value) {
	switch n := countPresent(peer, "podSelector", "namespaceSelector", "ipBlock"); {
	case n == 0:
		c.required("must specify a peer")
	case n > 1 && !isAbsentOrNull(peer.Get("ipBlock")):
		c.forbidden("may not specify both ipBlock and another peer")
	}
}

// checkIPBlockExcept requires that the CIDRs in except of an ipBlock are strict subsets of its cidr.
func checkIPBlockExcept(c *checker, block, _ document.Value) {
	_, whole, err := netutils.ParseCIDRSloppy(block.Get("cidr").Text())
	if err != nil {
		return
	}
	c.push("except")
	for i, except := range block.Get("except").Items() {
		c.pushItem(i)
		checkNewCIDR(c, except, document.Value{})
		if _, part, err := netutils.ParseCIDRSloppy(except.Text()); err == nil {
			size, _ := whole.Mask.Size()
			partSize, _ := part.Mask.Size()
			if !whole.Contains(part.IP) || size >= partSize {
				c.invalid(except.Text(), "must be a strict subset of `cidr`")
			}
		}
		c.pop()
	}
	c.pop()
}

// checkAccessReview requires that a SubjectAccessReview has exactly one of resourceAttributes and nonResourceAttributes, and a
// user or a group.
func checkAccessReview(c *checker, review, _ document.Value) {
	spec := review.Get("spec")
	c.push("spec")
	defer c.pop()
	switch countPresent(spec, "resourceAttributes", "nonResourceAttributes") {
	case 2:
		c.invalid(errorValue(spec.Get("nonResourceAttributes")), "cannot be specified in combination with resourceAttributes", "nonResourceAttributes")
	case 0:
		c.invalid(errorValue(spec.Get("resourceAttributes")), "exactly one of nonResourceAttributes or resourceAttributes must be specified", "resourceAttributes")
	}
	if spec.Get("user").Text() == "" && spec.Get("groups").Len() == 0 {
		c.invalid(spec.Get("user").Text(), "at least one of user or group must be specified", "user")
	}
}
