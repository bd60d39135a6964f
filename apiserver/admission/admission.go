package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
)

// Plugin is an admission plugin: it changes or rejects writes. Its methods are called concurrently.
type Plugin interface {
	// Name is the plugin's name, unique among the plugins of a server.
	Name() string
	// Handles returns the phases in which the plugin is called for an operation on a resource; 0 means that it is not
	// called. The server caches the result: it must depend on nothing else.
	Handles(operation Operation, resource Resource) Phase
	// Admit changes the object of a write, by assigning Attributes.Object, or rejects the write. It runs before the
	// resource's own validation, and again if the write is repeated. An error that is not an API status becomes a 500.
	Admit(ctx context.Context, a *Attributes) error
	// Validate rejects a write that is valid by the rules of its resource. It must not change the object.
	Validate(ctx context.Context, a *Attributes) error
}

// Phase is a set of phases of admission.
type Phase uint8

// The phases.
const (
	// Mutating calls Admit.
	Mutating Phase = 1 << iota
	// Validating calls Validate.
	Validating
	// NoOps extends the other phases to writes that leave the stored object unchanged. Plugins whose verdict depends
	// only on the object do not need it: the stored object was admitted before.
	NoOps
)

// MutatingOnly is embedded in plugins that do not validate.
type MutatingOnly struct{}

// Validate implements Plugin.
func (MutatingOnly) Validate(context.Context, *Attributes) error { return nil }

// ValidatingOnly is embedded in plugins that do not mutate.
type ValidatingOnly struct{}

// Admit implements Plugin.
func (ValidatingOnly) Admit(context.Context, *Attributes) error { return nil }

// Operation is the effect of a request on an object.
type Operation string

// The operations, spelled as in AdmissionReviews.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// Resource is the endpoint of a write: a resource at a version, or a subresource of it.
type Resource struct {
	// Group, Version and Resource name the resource as in its path; Kind is the kind of its objects.
	Group, Version, Resource, Kind string
	// Subresource is "" for the resource itself.
	Subresource string
	// Namespaced reports whether the objects are in namespaces.
	Namespaced bool
	// Review reports whether the objects are answered and not stored: access reviews and token reviews.
	Review bool
	// Body is the type of the endpoint's bodies if it differs from the resource's, such as autoscaling/v1 Scale.
	Body schema.GroupVersionKind
	// Equivalents are the other versions at which the same objects are served.
	Equivalents []VersionedResource
}

// VersionedResource is a resource and its kind at one version.
type VersionedResource struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
}

// APIVersion returns the apiVersion of objects at the version.
func (v VersionedResource) APIVersion() string { return v.Kind.GroupVersion().String() }

// GroupResource returns the resource without its version.
func (r Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Resource}
}

// Is reports whether the endpoint is the resource itself, not a subresource of it.
func (r Resource) Is(group, resource string) bool {
	return r.Subresource == "" && r.Group == group && r.Resource == resource
}

// IsNamespace reports whether the endpoint is that of namespaces, or a subresource of them.
func (r Resource) IsNamespace() bool { return r.Group == "" && r.Resource == "namespaces" }

// Versioned returns the resource at the version of the request, with the type of the endpoint's bodies.
func (r Resource) Versioned() VersionedResource {
	v := VersionedResource{
		Resource: schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource},
		Kind:     schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind},
	}
	if !r.Body.Empty() {
		v.Kind = r.Body
	}
	return v
}

// Reader reads objects of any resource at their storage version, without managedFields. It is safe for concurrent use.
// Reads are at least as fresh as the object that is being written was when it was loaded.
type Reader interface {
	// Get returns an object. Object.Exists reports whether there is one.
	Get(ctx context.Context, resource schema.GroupResource, namespace, name string) (Object, error)
	// List returns the objects of a namespace, or of all namespaces if namespace is "", in the order of their names.
	List(ctx context.Context, resource schema.GroupResource, namespace string) ([]Object, error)
}

// Object is a stored object that a [Reader] returned.
type Object struct {
	Document document.Value
	// Key and Revision identify the stored state that was read, for [Attributes.RequireUnchanged].
	Key      string
	Revision int64
}

// Exists reports whether the object exists.
func (o Object) Exists() bool { return !o.Document.IsAbsent() }
