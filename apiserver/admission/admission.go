package admission

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
)

// Plugin is an admission plugin, which changes or rejects writes. Servers call its methods concurrently.
type Plugin interface {
	// Name returns the plugin's name, which must be unique among the plugins of a server.
	Name() string
	// Handles returns the phases in which the server calls the plugin for an operation on a resource, 0 if it does not call
	// the plugin. The result must depend only on the arguments, because the server caches it.
	Handles(operation Operation, resource Resource) Phase
	// Admit changes the object of a write by assigning Attributes.Object, or returns an error to reject the write. The
	// server calls it before it validates the object, and calls it again if it repeats the write. An error that is not an
	// API status results in a 500.
	Admit(ctx context.Context, a *Attributes) error
	// Validate returns an error to reject a write. The server calls it after the object has passed the validation of its
	// resource. Validate must not change the object.
	Validate(ctx context.Context, a *Attributes) error
}

// Phase is a set of admission phases, as a bit mask.
type Phase uint8

// The phases.
const (
	// Mutating calls Admit.
	Mutating Phase = 1 << iota
	// Validating calls Validate.
	Validating
	// NoOps extends the other phases to writes that leave the stored object unchanged. Plugins that inspect only the
	// object do not need NoOps, because they have already admitted the stored object.
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

// Operation is the effect of a request on an object: Create, Update or Delete.
type Operation string

// The operations, spelled as in AdmissionReviews.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// Resource is the API endpoint of a write: a resource at a version, or one of its subresources.
type Resource struct {
	// Group, Version and Resource are the segments of the request path that name the resource. Kind is the kind of its
	// objects.
	Group, Version, Resource, Kind string
	// Subresource is the name of the subresource, "" for the resource itself.
	Subresource string
	// Namespaced reports whether the objects of the resource are in namespaces.
	Namespaced bool
	// Review reports whether the resource is an access review or a token review, whose objects are not stored.
	Review bool
	// Body is the type of request bodies at this endpoint if it is not the resource's kind at Version, such as
	// autoscaling/v1 Scale for the subresource scale. It is empty otherwise.
	Body schema.GroupVersionKind
	// Equivalents are the other API versions at which the server serves the same objects.
	Equivalents []VersionedResource
}

// VersionedResource is a resource and its kind at one API version.
type VersionedResource struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
}

// APIVersion returns the apiVersion of the resource's objects, such as apps/v1.
func (v VersionedResource) APIVersion() string { return v.Kind.GroupVersion().String() }

// GroupResource returns the resource without its version.
func (r Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Resource}
}

// Is reports whether the endpoint is the resource itself, not a subresource of it.
func (r Resource) Is(group, resource string) bool {
	return r.Subresource == "" && r.Group == group && r.Resource == resource
}

// IsNamespace reports whether the endpoint is the resource namespaces, or one of its subresources.
func (r Resource) IsNamespace() bool { return r.Group == "" && r.Resource == "namespaces" }

// Versioned returns the resource at the API version of the request. Its kind is the type of request bodies at this endpoint.
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

// Reader reads stored objects of any resource, at their storage version and without managedFields. It is safe for concurrent
// use. Its results are at least as recent as the state from which the server has loaded the object that is being written.
type Reader interface {
	// Get returns an object. If it does not exist, Get returns no error, and Object.Exists returns false.
	Get(ctx context.Context, resource schema.GroupResource, namespace, name string) (Object, error)
	// List returns the objects of a namespace, or of all namespaces if namespace is "", in the order of their names.
	List(ctx context.Context, resource schema.GroupResource, namespace string) ([]Object, error)
}

// Object is a stored object that a [Reader] returned.
type Object struct {
	Document document.Value
	// Key and Revision identify the object in the store and the revision at which it was read, for
	// [Attributes.RequireUnchanged].
	Key      string
	Revision int64
}

// Exists reports whether the object exists.
func (o Object) Exists() bool { return !o.Document.IsAbsent() }
