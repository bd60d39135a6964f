package metrics

// Request holds the labels of request metrics. Their values must come from closed sets and never from a client, because each
// combination of values takes memory. For a path that is not a resource, such as /healthz, Subresource is the path, and all
// other labels except Verb are empty, as in Kubernetes.
type Request struct {
	Group, Version, Resource, Subresource string
	Scope                                 Scope
	Verb                                  Verb
	DryRun                                DryRun
}

// Verb is the value of the label verb: an HTTP method, or LIST, WATCH, APPLY and CONNECT, which share their methods with other
// verbs.
type Verb string

// The values of the label verb. The RBAC verbs delete and deletecollection are both DELETE; they have different scopes.
const (
	Get    Verb = "GET"
	List   Verb = "LIST"
	Watch  Verb = "WATCH"
	Post   Verb = "POST"
	Put    Verb = "PUT"
	Patch  Verb = "PATCH"
	Apply  Verb = "APPLY" // a PATCH that is a server-side apply
	Delete Verb = "DELETE"
	// Connect is any method of the subresources exec, attach, portforward, log and proxy.
	Connect Verb = "CONNECT"
	// Other is any other method.
	Other Verb = "other"
)

// VerbOf returns the label for rbacVerb; Other if that verb is unknown. It returns Patch for an apply, whose RBAC verb is
// patch; the caller replaces it with [Apply].
func VerbOf(rbacVerb string) Verb {
	switch rbacVerb {
	case "get":
		return Get
	case "list":
		return List
	case "watch":
		return Watch
	case "create":
		return Post
	case "update":
		return Put
	case "patch":
		return Patch
	case "delete", "deletecollection":
		return Delete
	}
	return Other
}

// Scope is the value of the label scope.
type Scope string

// The values of the label scope.
const (
	ResourceScope  Scope = "resource"  // the request reads or writes one object, or creates one
	NamespaceScope Scope = "namespace" // the request reads or deletes the objects of a namespace
	ClusterScope   Scope = "cluster"   // the request reads or deletes the objects of all namespaces, or cluster-scoped objects
	NoScope        Scope = ""          // the path of the request is not a resource
)

// ScopeOf returns the scope of a request to a resource with the given RBAC verb. namespace and name are those in the request
// path; "" if the path does not contain them.
func ScopeOf(rbacVerb, namespace, name string) Scope {
	switch {
	case name != "" || rbacVerb == "create":
		return ResourceScope
	case namespace != "":
		return NamespaceScope
	}
	return ClusterScope
}

// DryRun is the value of the label dry_run.
type DryRun string

// The values of the label dry_run. The only valid value of the query parameter dryRun is All.
const (
	NoDryRun      DryRun = ""
	DryRunAll     DryRun = "All"
	DryRunInvalid DryRun = "invalid" // the query parameter has any other value, and the request is rejected
)

// hasSize reports whether the sizes of responses are recorded for requests with the verb, which is the case for reads.
func (v Verb) hasSize() bool { return v == Get || v == List || v == Watch }

// component returns the value of the label component: "apiserver" for resources, "" for other paths, as in Kubernetes.
func (r Request) component() string {
	if r.Resource == "" {
		return ""
	}
	return "apiserver"
}
