package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// target is the parsed path and method of a request: an object, a collection, or a path that is not a resource. It corresponds to
// RequestInfo of kube-apiserver.
type target struct {
	// verb is the verb of the authorizer: get, list, watch, create, update, patch, delete, deletecollection; for paths that
	// are not resources, the method in lower case.
	verb string
	// group, version and resource are "" for paths that are not resources.
	group, version, resource string
	// subresource is "" for the resource itself.
	subresource     string
	namespace, name string
	path            string
	// namespaced reports whether the path has a namespace segment, which may be empty.
	namespaced bool
}

// isResource reports whether the path refers to a resource.
func (t target) isResource() bool { return t.resource != "" }

// readTarget parses the path and the method of a request.
//
//	/api/VERSION/…  /apis/GROUP/VERSION/…           a group and version, followed by
//	  RESOURCE[/NAME[/SUBRESOURCE]]                 cluster-scoped objects, or all namespaces
//	  namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE]]
//	  namespaces//RESOURCE                          all namespaces
//	  namespaces[/NAME[/status|finalize]]           namespaces themselves
//	  watch/…                                       deprecated; watch=true replaces it
//
// Other paths are not resources. isNamespaceSubresource distinguishes the subresources of namespaces from resources in a
// namespace.
func readTarget(r *http.Request, query url.Values, isNamespaceSubresource func(name string) bool) target {
	t := target{verb: strings.ToLower(r.Method), path: r.URL.Path}
	if strings.HasPrefix(t.path, "//") {
		return t // the first segment is empty, and not api or apis
	}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		t.version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		t.group, t.version, parts = parts[1], parts[2], parts[3:]
	default:
		return t
	}
	if slices.Contains(parts, "") && !hasEmptyNamespace(parts) {
		// An empty name must not select the whole collection.
		return target{verb: t.verb, path: t.path}
	}
	isDeprecatedWatch := parts[0] == "watch" && len(parts) > 1
	if isDeprecatedWatch {
		parts = parts[1:]
	}
	t.readPath(parts, isNamespaceSubresource)
	if isDeprecatedWatch { // for any method; the handler rejects methods other than GET
		t.verb = "watch"
		return t
	}
	// As in Kubernetes the parameter watch applies to collections only; the deprecated path can watch one object.
	t.verb = t.resourceVerb(r.Method, t.name == "" && hasTrue(query, "watch"))
	return t
}

// hasEmptyNamespace reports whether the only empty segment is the namespace, as in namespaces//RESOURCE, which selects all
// namespaces.
func hasEmptyNamespace(parts []string) bool {
	if len(parts) > 1 && parts[0] == "watch" {
		parts = parts[1:]
	}
	return len(parts) > 2 && parts[0] == "namespaces" && parts[1] == "" && !slices.Contains(parts[2:], "")
}

// readPath parses the segments after the version.
func (t *target) readPath(parts []string, isNamespaceSubresource func(name string) bool) {
	if parts[0] == "namespaces" && len(parts) > 2 && !isNamespaceSubresource(parts[2]) {
		t.namespace, t.namespaced, parts = parts[1], true, parts[2:]
	}
	t.resource = parts[0]
	if len(parts) > 1 {
		t.name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = strings.Join(parts[2:], "/")
	}
	if t.resource == "namespaces" && t.group == "" {
		t.namespace = t.name // so that a Role in the namespace can permit reading the Namespace
	}
}

// resourceVerb returns the API verb of an HTTP method. watching reports whether the request has the query parameter watch=true.
func (t *target) resourceVerb(method string, watching bool) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case watching:
			return "watch"
		case t.name == "":
			return "list"
		}
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if t.name == "" {
			return "deletecollection"
		}
		return "delete"
	}
	return strings.ToLower(method)
}

// isTrue parses the value of a boolean query parameter as Kubernetes does: it returns true unless the value is "", "0" or
// "false".
func isTrue(value string) bool {
	return value != "" && value != "0" && !strings.EqualFold(value, "false")
}

// hasTrue reports whether a boolean query parameter is present and is true. An empty value means true.
func hasTrue(query url.Values, name string) bool {
	values, ok := query[name]
	return ok && (values[0] == "" || isTrue(values[0]))
}
