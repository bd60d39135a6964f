package admit

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/identity"
	"github.com/cadastre/cadastre/internal/kinds"
)

// An Operation is what a write does.
type Operation string

// The operations that there are here.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// A Subject is what is written: objects of a kind, or a part of them.
type Subject struct {
	Kind                 *kinds.Kind
	Version, Subresource string
}

// scale is the subresource whose objects are of another kind.
const scale = "scale"

// Form is how a request shows what it writes.
func (s Subject) Form() Form { return s.formAt(s.Kind.APIVersion(s.Version)) }

func (s Subject) formAt(apiVersion string) Form {
	group, version, hasGroup := strings.Cut(apiVersion, "/")
	if !hasGroup {
		group, version = "", apiVersion
	}
	form := Form{
		Resource: schema.GroupVersionResource{Group: group, Version: version, Resource: s.Kind.Resource},
		Kind:     schema.GroupVersionKind{Group: group, Version: version, Kind: s.Kind.Name},
	}
	if s.Subresource == scale {
		form.Kind = schema.FromAPIVersionAndKind(kinds.ScaleVersion, "Scale")
	}
	return form
}

// equivalents are the other forms that the same objects have.
func (s Subject) equivalents() (forms []Form) {
	own := s.Kind.APIVersion(s.Version)
	for _, version := range s.Kind.Versions {
		if apiVersion := s.Kind.APIVersion(version); apiVersion != own {
			forms = append(forms, s.formAt(apiVersion))
		}
	}
	if s.Kind.AlsoAt != "" && s.Kind.AlsoAt != own {
		forms = append(forms, s.formAt(s.Kind.AlsoAt))
	}
	return forms
}

// isExempt reports whether nobody is asked about something: what says who is asked can always be written, so that a
// mistake in it can be mended.
func (s Subject) isExempt() bool {
	if s.Kind.Group != "admissionregistration.k8s.io" {
		return false
	}
	switch s.Kind.Name {
	case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding":
		return true
	}
	return false
}

// A Form is a version of a kind, as paths and as objects name it.
type Form struct {
	Resource schema.GroupVersionResource
	Kind     schema.GroupVersionKind
}

func (f Form) apiVersion() string { return f.Kind.GroupVersion().String() }

// A Question is a write that somebody is asked about.
type Question struct {
	Subject
	Operation Operation
	// Namespace is "" for what has none, save that a namespace is in itself. Name is "" if it is not known yet.
	Namespace, Name string
	User            *identity.User
	DryRun          bool
	// Options are the parameters of the request, such as CreateOptions.
	Options runtime.Object
	// Object is as it shall be, Old as it is, at the version of the request and with managedFields; absent if there is
	// none. Those who are asked to may change Object: then it is as they left it, see Put.
	Object, Old document.Value
	// left is the apiVersion at which the object was shown to who changed it last; "" if nobody did.
	left string
	// Objects knows how objects of the kind are read.
	Objects Reader
	// Warn tells the client something.
	Warn func(text string)
}

// A Reader knows how objects of a kind are read.
type Reader interface {
	// Convert returns an object at another apiVersion, with all that it has: also with what the kind does not have there.
	Convert(doc document.Value, from, to string) (document.Value, error)
	// Read returns what somebody made of an object that was shown at an apiVersion, and refuses what can't be an object of
	// the kind. It may be at another version. What is no field of a built-in kind is dropped.
	Read(doc document.Value, apiVersion string) (document.Value, error)
	// Default sets what is not said, at the version that an object has.
	Default(doc document.Value) document.Value
}

// Namespaces returns namespaces by name, as the server knows them; absent if there is none.
type Namespaces func(ctx context.Context, name string) (document.Value, error)

// At returns the objects of a question in a form.
func (q *Question) At(form Form) (object, old document.Value, err error) {
	if object, err = q.objectAt(form); err != nil {
		return object, old, err
	}
	old, err = q.in(q.Old, form)
	return object, old, err
}

// objectAt returns the object in a form. Whoever is shown the form that was changed last sees just what was made of it,
// though that may say that it is at another version.
func (q *Question) objectAt(form Form) (document.Value, error) {
	if q.left == form.apiVersion() {
		return q.Object, nil
	}
	own, err := q.Made()
	if err != nil {
		return own, err
	}
	return q.in(own, form)
}

func (q *Question) in(doc document.Value, form Form) (document.Value, error) {
	own := q.Form().apiVersion()
	if doc.IsAbsent() || form.apiVersion() == own {
		return doc, nil
	}
	return q.Objects.Convert(doc, own, form.apiVersion())
}

// Put replaces the object by what somebody made of it in a form, at whatever version that is now.
func (q *Question) Put(doc document.Value, form Form) { q.Object, q.left = doc, form.apiVersion() }

// Made returns the object at the version of the request.
func (q *Question) Made() (document.Value, error) {
	own := q.Form().apiVersion()
	if q.left == "" {
		return q.Object, nil
	}
	return q.Objects.Convert(q.Object, q.Object.Get("apiVersion").Text(), own)
}
