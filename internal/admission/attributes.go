package admission

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/auth/authn"
	"github.com/cadastre/cadastre/internal/storage"
)

// Operation is the effect of a request on an object.
type Operation string

// The operations, spelled as in AdmissionReviews.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// operations lists every Operation; its order numbers them.
var operations = [...]Operation{Create, Update, Delete}

// Attributes describe one write to the plugins of the chain. One goroutine uses them at a time.
type Attributes struct {
	Resource
	Operation Operation
	// Verb is the RBAC verb of the request: create, update, patch, delete or deletecollection.
	// A patch that creates has Operation Create and Verb patch.
	Verb string
	// Namespace is "" for cluster-scoped objects, except that a Namespace is in the namespace of its own name. Name is
	// "" if the request does not name the object, or the server generates the name.
	Namespace, Name string
	User            *authn.User
	DryRun          bool
	// Object is the object as it would be stored, at the version of the request and with defaults, without
	// managedFields and resourceVersion; absent for Delete. Mutating plugins assign it. OldObject is the stored object
	// in the same form; absent for Create.
	Object, OldObject document.Value
	// Reader reads other objects.
	Reader Reader
	// Warn adds a warning to the response.
	Warn func(text string)
	// Source provides the parts that most plugins do not need.
	Source Source
	// Reinvocation tracks which mutating webhooks and policies run again.
	Reinvocation Reinvocation

	errs    field.ErrorList
	commits []storage.Write
	current versioned
}

// Source provides the parts of a request that only webhooks and policies need. They are computed on demand.
type Source interface {
	Converter
	// Options returns the CreateOptions, UpdateOptions or DeleteOptions of the request.
	Options() runtime.Object
	// Whole returns an object in the form of [Attributes.Object] as clients see it: with managedFields and, where it
	// has one, resourceVersion.
	Whole(obj document.Value) (document.Value, error)
	// OldWhole returns the stored object as clients see it; absent if there is none.
	OldWhole() (document.Value, error)
}

// Converter converts and decodes objects of one resource.
type Converter interface {
	// Convert returns an object at another apiVersion. Fields that the schema of that version does not have are kept.
	Convert(doc document.Value, from, to string) (document.Value, error)
	// Read decodes an object that a webhook returned after it was sent at apiVersion. The result may be at another
	// version of the resource. Unknown fields of built-in kinds are dropped; a document that is not of the kind is an
	// error.
	Read(doc document.Value, apiVersion string) (document.Value, error)
	// Default sets the defaults of the object's own version.
	Default(doc document.Value) document.Value
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

// AddErrors adds field errors that are reported together with those of the resource's validation, before them. Only mutating
// plugins may call it.
func (a *Attributes) AddErrors(errs ...*field.Error) { a.errs = append(a.errs, errs...) }

// Errors returns the field errors that the plugins have added.
func (a *Attributes) Errors() field.ErrorList {
	if a == nil {
		return nil
	}
	return a.errs
}

// RequireUnchanged makes the commit of the write conditional on an object that the plugin has read: if the object
// changes before the commit, the write is repeated from the start, admission included. A request that stores nothing, such
// as a SubjectAccessReview, is repeated if the object has changed when admission ends.
func (a *Attributes) RequireUnchanged(o Object) {
	a.CommitWith(storage.Write{Key: o.key, Expected: o.revision, Keep: true})
}

// CommitWith adds a write that is committed in the same transaction as the object, or not at all. Dry runs and no-ops ignore
// it; a request that stores nothing, such as a SubjectAccessReview, commits the write alone. A transaction has one write per
// key: a later write replaces an earlier one of the same key, and a condition never replaces a write. So plugins may run twice.
func (a *Attributes) CommitWith(w storage.Write) {
	for i, earlier := range a.commits {
		if earlier.Key == w.Key {
			if !w.Keep || earlier.Keep {
				a.commits[i] = w
			}
			return
		}
	}
	a.commits = append(a.commits, w)
}

// Commits returns the writes and conditions that the plugins have added to the commit of the object.
func (a *Attributes) Commits() []storage.Write {
	if a == nil {
		return nil
	}
	return a.commits
}

// versioned is the object as webhooks and policies exchange it. The zero value means that it was not computed.
type versioned struct {
	// whole is the object as clients see it, made of the Object that was current then.
	whole, of document.Value
	// returned is the apiVersion at which whole was sent to the webhook that returned it; "" if no webhook replaced
	// it. The webhook may have returned it at another version.
	returned string
	old      document.Value
	hasOld   bool
}

// At returns the object and the old object as clients see them at a version. A webhook that is sent the version at which
// another webhook returned the object receives exactly the returned object.
func (a *Attributes) At(v VersionedResource) (object, old document.Value, err error) {
	if object, err = a.objectAt(v); err != nil {
		return object, old, err
	}
	if old, err = a.oldWhole(); err != nil {
		return object, old, err
	}
	old, err = a.convert(old, v)
	return object, old, err
}

func (a *Attributes) objectAt(v VersionedResource) (document.Value, error) {
	if err := a.refresh(); err != nil {
		return document.Value{}, err
	}
	if a.current.returned == v.apiVersion() {
		return a.current.whole, nil
	}
	own, err := a.atRequestVersion()
	if err != nil {
		return own, err
	}
	return a.convert(own, v)
}

// refresh composes the whole object again if a plugin has assigned Object since. An object that a webhook has returned keeps
// the managedFields and the resourceVersion of that one.
func (a *Attributes) refresh() (err error) {
	if a.Object.IsAbsent() || !a.current.whole.IsAbsent() && document.Same(a.current.of, a.Object) {
		return nil
	}
	whole := document.Value{}
	if a.WasReturned() {
		returned, err := a.atRequestVersion()
		if err != nil {
			return err
		}
		whole, a.current.returned = withServerMetadata(a.Object, returned), a.Versioned().apiVersion()
	} else if whole, err = a.Source.Whole(a.Object); err != nil {
		return err
	}
	a.current.whole, a.current.of = whole, a.Object
	return nil
}

// serverMetadata are the metadata fields that Attributes.Object omits.
var serverMetadata = []string{"managedFields", "resourceVersion"}

// withServerMetadata returns obj with the server's metadata of another object.
func withServerMetadata(obj, from document.Value) document.Value {
	metadata := obj.Get("metadata")
	for _, name := range serverMetadata {
		if v := from.Lookup("metadata", name); !v.IsAbsent() {
			metadata = metadata.With(name, v)
		}
	}
	return obj.With("metadata", metadata)
}

func (a *Attributes) oldWhole() (document.Value, error) {
	if a.current.hasOld {
		return a.current.old, nil
	}
	old, err := a.Source.OldWhole()
	if err == nil {
		a.current.old, a.current.hasOld = old, true
	}
	return old, err
}

func (a *Attributes) convert(doc document.Value, v VersionedResource) (document.Value, error) {
	own := a.Versioned().apiVersion()
	if doc.IsAbsent() || v.apiVersion() == own {
		return doc, nil
	}
	return a.Source.Convert(doc, own, v.apiVersion())
}

// Return records the object that a webhook returned after it was sent at a version. Object is stale until Settle.
func (a *Attributes) Return(doc document.Value, v VersionedResource) {
	a.current.whole, a.current.of, a.current.returned = doc, a.Object, v.apiVersion()
}

// latest returns the object as the last webhook returned it, which may be at another version, or else Object.
func (a *Attributes) latest() document.Value {
	if a.WasReturned() {
		return a.current.whole
	}
	return a.Object
}

// WasReturned reports whether a webhook replaced the object, so that its managedFields may have changed, too.
func (a *Attributes) WasReturned() bool { return a.current.returned != "" }

// Returned returns the object as clients see it, at the version of the request, after webhooks have returned it and plugins
// have changed it.
func (a *Attributes) Returned() (document.Value, error) {
	if err := a.refresh(); err != nil {
		return document.Value{}, err
	}
	return a.atRequestVersion()
}

// atRequestVersion returns the whole object, which a webhook may have returned at another version.
func (a *Attributes) atRequestVersion() (document.Value, error) {
	if a.current.returned == "" {
		return a.current.whole, nil
	}
	return a.Source.Convert(a.current.whole, a.current.whole.Get("apiVersion").Text(), a.Versioned().apiVersion())
}

// Settle updates Object after webhooks have returned it.
func (a *Attributes) Settle() error {
	if !a.WasReturned() {
		return nil
	}
	doc, err := a.Returned()
	if err != nil {
		return err
	}
	metadata := doc.Get("metadata")
	for _, name := range serverMetadata {
		metadata = metadata.Without(name)
	}
	a.Object = doc.With("metadata", metadata)
	a.current.of = a.Object
	return nil
}

// Reader reads objects of any resource at their storage version, without managedFields. It is safe for concurrent use.
// Reads are at least as fresh as the object that is being written was when it was loaded.
type Reader interface {
	// Get returns an object. It does not exist if its Document is absent.
	Get(ctx context.Context, resource schema.GroupResource, namespace, name string) (Object, error)
	// List returns the objects of a namespace, or of all namespaces if namespace is "", in the order of their names.
	List(ctx context.Context, resource schema.GroupResource, namespace string) ([]Object, error)
}

// Object is a stored object that a [Reader] returned.
type Object struct {
	Document document.Value
	key      string
	revision storage.Revision
}

// NewObject returns an object as a [Reader] returns it: with its key and revision in the store, which
// [Attributes.RequireUnchanged] needs.
func NewObject(doc document.Value, key string, revision storage.Revision) Object {
	return Object{doc, key, revision}
}

// Exists reports whether the object exists.
func (o Object) Exists() bool { return !o.Document.IsAbsent() }

// String names the stored object.
func (o Object) String() string { return fmt.Sprintf("%s at revision %d", o.key, o.revision) }
