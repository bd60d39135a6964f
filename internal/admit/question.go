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
	// none. Those who are asked to may change Object.
	Object, Old document.Value
	// Objects knows how objects of the kind are read.
	Objects Reader
	// Warn tells the client something.
	Warn func(text string)
}

// A Reader knows how objects of a kind are read.
type Reader interface {
	// Convert returns an object at another apiVersion.
	Convert(doc document.Value, from, to string) (document.Value, error)
	// Read drops what the kind does not have at an apiVersion, and refuses what can't be an object of it.
	Read(doc document.Value, apiVersion string) (document.Value, error)
	// Default sets what is not said.
	Default(doc document.Value, apiVersion string) document.Value
}

// Namespaces returns namespaces by name, as the server knows them; absent if there is none.
type Namespaces func(ctx context.Context, name string) (document.Value, error)

// At returns the objects of a question in a form.
func (q *Question) At(form Form) (object, old document.Value, err error) {
	if object, err = q.in(q.Object, form); err != nil {
		return object, old, err
	}
	old, err = q.in(q.Old, form)
	return object, old, err
}

func (q *Question) in(doc document.Value, form Form) (document.Value, error) {
	own := q.Form().apiVersion()
	if doc.IsAbsent() || form.apiVersion() == own {
		return doc, nil
	}
	return q.Objects.Convert(doc, own, form.apiVersion())
}

// Put replaces the object by one in a form.
func (q *Question) Put(doc document.Value, form Form) (err error) {
	if own := q.Form().apiVersion(); own != form.apiVersion() {
		doc, err = q.Objects.Convert(doc, form.apiVersion(), own)
	}
	if err == nil {
		q.Object = doc
	}
	return err
}
