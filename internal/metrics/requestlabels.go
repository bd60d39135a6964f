package metrics

// Request has the labels of a request. All values must come from closed sets and never from a client, since each combination
// takes memory. A path that is not a resource, such as /healthz, is the Subresource, and all other labels except Verb are empty,
// as in Kubernetes.
type Request struct {
	Group, Version, Resource, Subresource string
	Scope                                 Scope
	Verb                                  Verb
	DryRun                                DryRun
}

// Verb is the label verb: the HTTP method, or a verb that shares its method with others.
type Verb string

// The verbs. A deletecollection is DELETE, too; its Scope differs.
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

// VerbOf returns the label of an RBAC verb; Other for an unknown one. An apply has the RBAC verb patch: the caller sets [Apply].
func VerbOf(action string) Verb {
	switch action {
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

// Scope is the label scope.
type Scope string

// The scopes.
const (
	ResourceScope  Scope = "resource"  // one object, also a create
	NamespaceScope Scope = "namespace" // the objects of a namespace
	ClusterScope   Scope = "cluster"   // all objects
	NoScope        Scope = ""          // not about objects
)

// ScopeOf returns the scope of a request to a resource.
func ScopeOf(action, namespace, name string) Scope {
	switch {
	case name != "" || action == "create":
		return ResourceScope
	case namespace != "":
		return NamespaceScope
	}
	return ClusterScope
}

// DryRun is the label dry_run.
type DryRun string

// The values of dry_run. All is the only valid value of the query parameter.
const (
	NoDryRun      DryRun = ""
	DryRunAll     DryRun = "All"
	DryRunInvalid DryRun = "invalid" // the request is rejected
)

// hasSize reports whether response sizes are counted, as for reads.
func (v Verb) hasSize() bool { return v == Get || v == List || v == Watch }

// component returns the label component: "apiserver" for resources, "" for other paths, as in Kubernetes.
func (r Request) component() string {
	if r.Resource == "" {
		return ""
	}
	return "apiserver"
}
