package admission

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/document"
)

// Attributes describes one write to the admission plugins. Only one goroutine uses it at a time; a plugin must not use it
// after Admit or Validate has returned.
type Attributes struct {
	Resource
	Operation Operation
	// Verb is the RBAC verb of the request: create, update, patch, delete or deletecollection.
	// A patch that creates an object has the Operation Create and the Verb patch.
	Verb string
	// Namespace is the namespace of the object. It is "" for cluster-scoped objects, except for a Namespace, where it is the
	// name of the Namespace. Name is the name of the object, "" if the request does not contain it or the server generates
	// it.
	Namespace, Name string
	User            user.Info
	DryRun          bool
	// Object is the object that the write would store, at the API version of the request, with defaults, and without
	// managedFields and resourceVersion. It is absent for Delete. Mutating plugins assign it. OldObject is the stored object
	// at the same version, also without managedFields and resourceVersion. It is absent for Create.
	Object, OldObject document.Value
	// Reader reads other objects.
	Reader Reader
	// Warn adds a Warning header to the response.
	Warn func(text string)
	// Request gives access to further properties of the request. The server sets it; unit tests of plugins may leave it nil.
	Request Request
}

// Request gives access to properties of a request that only a few plugins need.
type Request interface {
	// Options returns the CreateOptions, UpdateOptions or DeleteOptions of the request.
	Options() runtime.Object
	// At returns the object and the old object, converted to an API version, as clients would receive them: with
	// managedFields and, if the object is stored, resourceVersion. The old object is absent for Create; the object is
	// absent for Delete.
	At(v VersionedResource) (object, old document.Value, err error)
	// RequireUnchanged implements [Attributes.RequireUnchanged].
	RequireUnchanged(o Object)
	// AddErrors implements [Attributes.AddErrors].
	AddErrors(errs ...*field.Error)
}

// Forbidden returns the API status error 403 with which a plugin rejects the request for the reason err. The error names the
// resource and the object, or the object's generateName if it has no name yet.
func (a *Attributes) Forbidden(err error) *apierrors.StatusError {
	return apierrors.NewForbidden(a.GroupResource(), a.objectName(), err)
}

// objectName returns the name of the object in error messages: the name in the request or, if there is none, generateName or
// metadata.name of the object.
func (a *Attributes) objectName() string {
	if a.Name != "" {
		return a.Name
	}
	metadata := a.Object.Get("metadata")
	if generated := metadata.Get("generateName").Text(); generated != "" {
		return generated
	}
	return metadata.Get("name").Text()
}

// RequireUnchanged makes the commit of the write conditional on an object that the plugin has read: if that object changes
// before the commit, the server repeats the write from the start, including admission. If the request stores nothing, as a
// SubjectAccessReview does, the server repeats it if the object has changed by the end of admission.
func (a *Attributes) RequireUnchanged(o Object) {
	if a.Request != nil {
		a.Request.RequireUnchanged(o)
	}
}

// AddErrors adds field errors to the response. They precede the field errors of the resource's validation in the same Status.
// Plugins may call it only in Admit.
func (a *Attributes) AddErrors(errs ...*field.Error) {
	if a.Request != nil {
		a.Request.AddErrors(errs...)
	}
}
