package admission

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/document"
)

// Attributes describe one write to the plugins. One goroutine uses them at a time; a plugin must not retain them.
type Attributes struct {
	Resource
	Operation Operation
	// Verb is the RBAC verb of the request: create, update, patch, delete or deletecollection.
	// A patch that creates has Operation Create and Verb patch.
	Verb string
	// Namespace is "" for cluster-scoped objects, except that a Namespace is in the namespace of its own name. Name is
	// "" if the request does not name the object, or the server generates the name.
	Namespace, Name string
	User            user.Info
	DryRun          bool
	// Object is the object as it would be stored, at the version of the request and with defaults, without
	// managedFields and resourceVersion; absent for Delete. Mutating plugins assign it. OldObject is the stored object
	// in the same form; absent for Create.
	Object, OldObject document.Value
	// Reader reads other objects.
	Reader Reader
	// Warn adds a warning to the response.
	Warn func(text string)
	// Request is the request in progress. The server sets it; unit tests of plugins may leave it nil.
	Request Request
}

// Request is the request in progress, as far as few plugins need it.
type Request interface {
	// Options returns the CreateOptions, UpdateOptions or DeleteOptions of the request.
	Options() runtime.Object
	// At returns the object and the old object as clients see them at a version: with managedFields and, where they
	// have one, resourceVersion. The old object is absent for Create, the object for Delete.
	At(v VersionedResource) (object, old document.Value, err error)
	// RequireUnchanged implements [Attributes.RequireUnchanged], AddErrors [Attributes.AddErrors].
	RequireUnchanged(o Object)
	AddErrors(errs ...*field.Error)
}

// Forbidden returns the 403 with which a plugin rejects the request. It names the resource and the object, by its
// generateName if the object has no name yet.
func (a *Attributes) Forbidden(err error) *apierrors.StatusError {
	return apierrors.NewForbidden(a.GroupResource(), a.objectName(), err)
}

// objectName is the name of the object in errors: its name, or else its generateName.
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

// RequireUnchanged makes the commit of the write conditional on an object that the plugin has read: if the object
// changes before the commit, the write is repeated from the start, admission included. A request that stores nothing, such
// as a SubjectAccessReview, is repeated if the object has changed when admission ends.
func (a *Attributes) RequireUnchanged(o Object) {
	if a.Request != nil {
		a.Request.RequireUnchanged(o)
	}
}

// AddErrors adds field errors that are reported together with those of the resource's validation, before them. Only mutating
// plugins may call it.
func (a *Attributes) AddErrors(errs ...*field.Error) {
	if a.Request != nil {
		a.Request.AddErrors(errs...)
	}
}
