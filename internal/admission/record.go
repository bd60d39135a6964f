package admission

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/cadastre/cadastre/apiserver/admission"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/storage"
)

// The plugin interface is defined in the public package apiserver/admission. With these aliases, packages of the server
// import only this package.
type (
	Plugin            = admission.Plugin
	Phase             = admission.Phase
	MutatingOnly      = admission.MutatingOnly
	ValidatingOnly    = admission.ValidatingOnly
	Operation         = admission.Operation
	Resource          = admission.Resource
	VersionedResource = admission.VersionedResource
	Attributes        = admission.Attributes
	Reader            = admission.Reader
	Object            = admission.Object
)

// The operations and phases, as in the public package apiserver/admission.
const (
	Create = admission.Create
	Update = admission.Update
	Delete = admission.Delete

	Mutating   = admission.Mutating
	Validating = admission.Validating
	NoOps      = admission.NoOps
)

// operations lists every Operation; an Operation's index selects its slot in Endpoint.resolved.
var operations = [...]Operation{Create, Update, Delete}

// Record is one write in the admission chain: the Attributes that all plugins receive, and the state that only the chain,
// webhooks and policies use. It implements admission.Request. It must not be used by two goroutines at the same time.
type Record struct {
	Attributes
	// Source computes the parts of the request that only some plugins need.
	Source Source
	// Reinvocation tracks which mutating webhooks and policies are called again in the second run.
	Reinvocation Reinvocation
	// Costs limits the cost of CEL expressions. The records of the mutating and the validating half of a write share it.
	Costs *CostBudget

	errs    field.ErrorList
	commits []storage.Write
	current versioned
}

// NewRecord returns the record of a write. A write by the server itself may have a nil User; plugins receive a user without
// a name.
func NewRecord(a Attributes, source Source) *Record {
	r := &Record{Attributes: a, Source: source, Costs: &CostBudget{}}
	r.Request = r
	if r.User == nil {
		r.User = &user.DefaultInfo{}
	}
	return r
}

// RecordOf returns the Record behind the Attributes that a plugin received. It panics if the Attributes were not created by
// NewRecord.
func RecordOf(a *Attributes) *Record { return a.Request.(*Record) }

// Options implements admission.Request.
func (a *Record) Options() runtime.Object { return a.Source.Options() }

// AddErrors implements admission.Request.
func (a *Record) AddErrors(errs ...*field.Error) { a.errs = append(a.errs, errs...) }

// RequireUnchanged implements admission.Request.
func (a *Record) RequireUnchanged(o Object) {
	a.CommitWith(storage.Write{Key: o.Key, Expected: storage.Revision(o.Revision), Keep: true})
}

// Source computes, on demand, the parts of a request that only webhooks and policies need.
type Source interface {
	Converter
	// Options returns the CreateOptions, UpdateOptions or DeleteOptions of the request.
	Options() runtime.Object
	// Whole returns obj, an object like [Attributes.Object], with managedFields and, if it has one, resourceVersion.
	Whole(obj document.Value) (document.Value, error)
	// OldWhole returns the stored object with managedFields and resourceVersion; absent if there is no stored object.
	OldWhole() (document.Value, error)
}

// Converter converts and decodes objects of one resource.
type Converter interface {
	// Convert converts an object from one apiVersion to another. It retains fields that the schema of the target version does
	// not define.
	Convert(doc document.Value, from, to string) (document.Value, error)
	// Read decodes the object that a webhook or policy returned for an object at apiVersion. The result may be at another
	// version of the resource. Unknown fields of built-in kinds are dropped, and their paths are returned; a document of another
	// kind is an error.
	Read(doc document.Value, apiVersion string) (read document.Value, unknown []string, err error)
	// Merge merges an apply configuration of a policy into an object with managedFields, at the apiVersion of the object. Fields
	// that the configuration sets have no field manager. Unset markers remove fields from the object and from its managedFields.
	// Merge returns an API status error if the resource has no schema.
	Merge(doc, config document.Value) (document.Value, error)
	// Decode decodes an object that a plugin assigned to [Attributes.Object]: it drops fields that the schema does not
	// define and sets defaults. A document that is not of the endpoint's type is an error.
	Decode(doc document.Value) (document.Value, error)
	// Default returns the object with the defaults of its apiVersion.
	Default(doc document.Value) document.Value
}

// Errors returns the field errors that plugins have added with AddErrors. A nil Record has none.
func (a *Record) Errors() field.ErrorList {
	if a == nil {
		return nil
	}
	return a.errs
}

// CommitWith adds a write to the transaction that commits the object. Dry runs and no-ops discard the write; a request that
// stores no object, such as a SubjectAccessReview, commits the write alone. A transaction contains one write or condition per
// key: a later write replaces an earlier write, and a condition (Keep) never replaces a write. So a plugin may add the same
// write in both runs of the chain.
func (a *Record) CommitWith(w storage.Write) {
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

// Commits returns the writes and conditions that plugins have added to the transaction of the object. A nil Record has none.
func (a *Record) Commits() []storage.Write {
	if a == nil {
		return nil
	}
	return a.commits
}

// versioned is the object that webhooks and policies receive and return. In the zero value, whole was not computed yet.
type versioned struct {
	// whole is the object with managedFields and resourceVersion. base is the Record.Object from which whole was computed.
	whole, base document.Value
	// returned is the apiVersion of the object that the webhook which returned whole received; "" if no webhook has returned the
	// object. The version of whole may differ.
	returned string
	old      document.Value
	hasOld   bool
}

// At implements admission.Request. If v is the version of the object that the last changing webhook received, object is the
// unconverted object that this webhook returned.
func (a *Record) At(v VersionedResource) (object, old document.Value, err error) {
	if object, err = a.objectAt(v); err != nil {
		return object, old, err
	}
	if old, err = a.oldWhole(); err != nil {
		return object, old, err
	}
	old, err = a.convert(old, v)
	return object, old, err
}

func (a *Record) objectAt(v VersionedResource) (document.Value, error) {
	if err := a.refresh(); err != nil {
		return document.Value{}, err
	}
	if a.current.returned == v.APIVersion() {
		return a.current.whole, nil
	}
	own, err := a.atRequestVersion()
	if err != nil {
		return own, err
	}
	return a.convert(own, v)
}

// refresh computes a.current.whole again if a plugin has assigned a.Object since the last computation. If a webhook has
// returned the object, refresh retains the returned managedFields and resourceVersion.
func (a *Record) refresh() (err error) {
	if a.Object.IsAbsent() || !a.current.whole.IsAbsent() && document.Same(a.current.base, a.Object) {
		return nil
	}
	whole := document.Value{}
	if a.WasReturned() {
		returned, err := a.atRequestVersion()
		if err != nil {
			return err
		}
		whole, a.current.returned = withServerMetadata(a.Object, returned), a.Versioned().APIVersion()
	} else if whole, err = a.Source.Whole(a.Object); err != nil {
		return err
	}
	a.current.whole, a.current.base = whole, a.Object
	return nil
}

// serverMetadata are the names of the metadata fields that Attributes.Object omits.
var serverMetadata = []string{"managedFields", "resourceVersion"}

// withServerMetadata returns obj with managedFields and resourceVersion copied from source.
func withServerMetadata(obj, source document.Value) document.Value {
	metadata := obj.Get("metadata")
	for _, name := range serverMetadata {
		if v := source.Lookup("metadata", name); !v.IsAbsent() {
			metadata = metadata.With(name, v)
		}
	}
	return obj.With("metadata", metadata)
}

func (a *Record) oldWhole() (document.Value, error) {
	if a.current.hasOld {
		return a.current.old, nil
	}
	old, err := a.Source.OldWhole()
	if err == nil {
		a.current.old, a.current.hasOld = old, true
	}
	return old, err
}

func (a *Record) convert(doc document.Value, v VersionedResource) (document.Value, error) {
	own := a.Versioned().APIVersion()
	if doc.IsAbsent() || v.APIVersion() == own {
		return doc, nil
	}
	return a.Source.Convert(doc, own, v.APIVersion())
}

// Return records the object that a webhook or policy returned for the object at version v. Record.Object is stale until
// Settle is called.
func (a *Record) Return(doc document.Value, v VersionedResource) {
	a.current.whole, a.current.base, a.current.returned = doc, a.Object, v.APIVersion()
}

// latest returns the object that the last webhook returned, whose version may not be that of the request, or Object if no
// webhook returned an object.
func (a *Record) latest() document.Value {
	if a.WasReturned() {
		return a.current.whole
	}
	return a.Object
}

// WasReturned reports whether a webhook has returned a changed object, whose managedFields may have changed, too.
func (a *Record) WasReturned() bool { return a.current.returned != "" }

// Returned returns the object with managedFields, at the version of the request, including the changes of webhooks and of
// later plugins.
func (a *Record) Returned() (document.Value, error) {
	if err := a.refresh(); err != nil {
		return document.Value{}, err
	}
	return a.atRequestVersion()
}

// atRequestVersion returns the whole object at the version of the request, converted if a webhook returned it at another
// version.
func (a *Record) atRequestVersion() (document.Value, error) {
	if a.current.returned == "" {
		return a.current.whole, nil
	}
	return a.Source.Convert(a.current.whole, a.current.whole.Get("apiVersion").Text(), a.Versioned().APIVersion())
}

// Settle sets Record.Object to the object that webhooks have returned, without managedFields and resourceVersion. It does
// nothing if no webhook has returned the object.
func (a *Record) Settle() error {
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
	a.current.base = a.Object
	return nil
}
