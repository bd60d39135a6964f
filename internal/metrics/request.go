package metrics

// A Request says what kind of request it is: the labels of its series. All of them must come from
// closed sets, never from what a client may choose freely, or the client chooses how much memory
// the series take. What is not about a resource, such as /healthz, has its path as Subresource and
// all else but Verb empty, as Kubernetes has it.
type Request struct {
	Group, Version, Resource, Subresource string
	Scope                                 Scope
	Verb                                  Verb
	DryRun                                DryRun
}

// A Verb is what a request does: the method, but for those that one method shares.
type Verb string

// The verbs. A delete of many is DELETE too; its Scope tells it from that of one.
const (
	Get    Verb = "GET"
	List   Verb = "LIST"
	Watch  Verb = "WATCH"
	Post   Verb = "POST"
	Put    Verb = "PUT"
	Patch  Verb = "PATCH"
	Apply  Verb = "APPLY" // a PATCH whose body is a configuration
	Delete Verb = "DELETE"
	// Connect is any method on a subresource that is a connection: exec, attach, portforward, log, proxy.
	Connect Verb = "CONNECT"
	// Other is every method that is none of these.
	Other Verb = "other"
)

// VerbOf is the verb of a request that does what RBAC calls get, list, watch, create, update, patch,
// delete or deletecollection; all else is [Other]. It cannot know an apply, which is a patch there.
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

// A Scope is how much a request is about.
type Scope string

// The scopes.
const (
	ResourceScope  Scope = "resource"  // one object; creating one counts too
	NamespaceScope Scope = "namespace" // the objects of a namespace
	ClusterScope   Scope = "cluster"   // all objects
	NoScope        Scope = ""          // not about objects
)

// ScopeOf is the scope of a request about a resource.
func ScopeOf(action, namespace, name string) Scope {
	switch {
	case name != "" || action == "create":
		return ResourceScope
	case namespace != "":
		return NamespaceScope
	}
	return ClusterScope
}

// DryRun is whether a request only tries.
type DryRun string

// The values of dryRun: Kubernetes knows no other than All.
const (
	NoDryRun      DryRun = ""
	DryRunAll     DryRun = "All"
	DryRunInvalid DryRun = "invalid" // refused for it
)

// hasSize says whether the sizes of answers are counted: those of reads.
func (v Verb) hasSize() bool { return v == Get || v == List || v == Watch }

// component is what serves requests about resources; in Kubernetes, others share the names of these
// metrics, and what is not about resources is served by nobody.
func (r Request) component() string {
	if r.Resource == "" {
		return ""
	}
	return "apiserver"
}
