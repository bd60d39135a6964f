package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// target is what the path and method of a request are about: an object, a collection, or
// something that is not a resource.
type target struct {
	// verb is what is asked for, in the words of roles: get, list, watch, create, update,
	// patch, delete, deletecollection; for what is not a resource, the method in lower case.
	verb string
	// group, version and resource are empty for what is not a resource.
	group, version, resource string
	// subresource is "" for the main endpoint.
	subresource     string
	namespace, name string
	path            string
	// namespaced says that the path has a namespace in it, which it must for some kinds, and
	// must not for others.
	namespaced bool
}

func (t target) isResource() bool { return t.resource != "" }

// readTarget finds out what a request is about.
//
//	/api/VERSION/…  /apis/GROUP/VERSION/…           a group at a version, and in it
//	  RESOURCE[/NAME[/SUBRESOURCE]]                 what has no namespace, or all namespaces
//	  namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE]]
//	  namespaces//RESOURCE                          all namespaces
//	  namespaces[/NAME[/status|finalize]]           namespaces themselves
//	  watch/…                                       an old way to say watch=true
//
// All else is not a resource.
//
// isNamespaceSubresource tells subresources of a namespace from resources in it.
func readTarget(r *http.Request, query url.Values, isNamespaceSubresource func(name string) bool) target {
	t := target{verb: strings.ToLower(r.Method), path: r.URL.Path}
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
		// Were it let through, a name that is missing would mean all objects.
		return target{verb: t.verb, path: t.path}
	}
	isOldWatch := parts[0] == "watch" && len(parts) > 1
	if isOldWatch {
		parts = parts[1:]
	}
	t.readPlace(parts, isNamespaceSubresource)
	if isOldWatch { // by any method, of which only GET is served
		t.verb = "watch"
		return t
	}
	// As in Kubernetes, the parameter is for lists; only the old way watches one object by its path.
	t.verb = t.resourceVerb(r.Method, t.name == "" && hasTrue(query, "watch"))
	return t
}

// hasEmptyNamespace is for paths that say namespaces//RESOURCE, and nothing else is missing. They are about all
// namespaces.
func hasEmptyNamespace(parts []string) bool {
	if len(parts) > 1 && parts[0] == "watch" {
		parts = parts[1:]
	}
	return len(parts) > 2 && parts[0] == "namespaces" && parts[1] == "" && !slices.Contains(parts[2:], "")
}

// readPlace reads what follows the version.
func (t *target) readPlace(parts []string, isNamespaceSubresource func(name string) bool) {
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
		t.namespace = t.name // roles in a namespace may allow to read it
	}
}

// resourceVerb returns the verb that a method means.
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

// isTrue reads a boolean parameter as Kubernetes does: true unless it is absent, 0 or false.
func isTrue(value string) bool {
	return value != "" && value != "0" && !strings.EqualFold(value, "false")
}

// hasTrue reads a boolean parameter that may also be there without a value, which means true.
func hasTrue(query url.Values, name string) bool {
	values, ok := query[name]
	return ok && (values[0] == "" || isTrue(values[0]))
}
