package admissiontest

import (
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/auth/authn"
)

// DefaultName and DefaultNamespace are the name and namespace of test objects that specify none.
const (
	DefaultName      = "x"
	DefaultNamespace = "ns"
)

// kinds returns the register of the built-in kinds, which is created once. It panics if a kind is invalid.
var kinds = sync.OnceValue(func() *api.Register {
	register, err := api.NewRegister(api.Builtin()...)
	if err != nil {
		panic(err)
	}
	return register
})

// Resource returns the admission.Resource for a text RESOURCE[.GROUP][/SUBRESOURCE], at the preferred version of the
// resource. An unknown resource is an error.
func Resource(text string) (admission.Resource, error) {
	name, subresource, _ := strings.Cut(text, "/")
	name, group, _ := strings.Cut(name, ".")
	kind, _ := kinds().Resource(group, "", name)
	if kind == nil {
		return admission.Resource{}, fmt.Errorf("resource: expected a built-in resource, received %q", text)
	}
	return admission.NewResource(kind, kind.Versions[0], subresource, schema.GroupVersionKind{}), nil
}

// Parse returns the document of a YAML text. It panics if the text is not YAML.
func Parse(text string) document.Value {
	doc, err := document.ParseYAML([]byte(text))
	if err != nil {
		panic(fmt.Errorf("%w in %s", err, text))
	}
	return doc
}

// New returns the Attributes of a write to RESOURCE[.GROUP][/SUBRESOURCE] by the user tester. object and old are the new and
// the stored object in YAML; "" means that there is none. New panics if the resource is unknown.
func New(operation admission.Operation, resource, object, old string, reader admission.Reader) *admission.Attributes {
	r, err := Resource(resource)
	if err != nil {
		panic(err)
	}
	return newAttributes(operation, r, Parse(object), Parse(old), reader)
}

func newAttributes(operation admission.Operation, r admission.Resource, object, old document.Value, reader admission.Reader) *admission.Attributes {
	kind, _ := kinds().Resource(r.Group, "", r.Resource)
	a := admission.Attributes{
		Resource: r, Operation: operation, Verb: strings.ToLower(string(operation)), User: &authn.User{Name: "tester"},
		Object: complete(object, kind), OldObject: complete(old, kind), Reader: reader, Warn: func(string) {},
	}
	metadata := a.Object.Get("metadata")
	if a.Object.IsAbsent() {
		metadata = a.OldObject.Get("metadata")
	}
	if metadata.Get("generateName").IsAbsent() {
		a.Name = metadata.Get("name").Text()
	}
	if a.Namespace = metadata.Get("namespace").Text(); r.IsNamespace() {
		a.Namespace = a.Name
	}
	return &admission.NewRecord(a, nil).Attributes
}

// complete returns a test object with its missing apiVersion, kind, name and, if the kind is namespaced, namespace; absent if
// doc is absent or null.
func complete(doc document.Value, kind *api.Kind) document.Value {
	if doc.IsAbsent() || doc.IsNull() {
		return document.Value{}
	}
	metadata := doc.Get("metadata")
	if metadata.Get("name").IsAbsent() && metadata.Get("generateName").IsAbsent() {
		metadata = metadata.With("name", document.NewString(DefaultName))
	}
	if kind.Namespaced && metadata.Get("namespace").IsAbsent() {
		metadata = metadata.With("namespace", document.NewString(DefaultNamespace))
	}
	if doc.Get("apiVersion").IsAbsent() {
		doc = doc.With("apiVersion", document.NewString(kind.APIVersion(kind.Versions[0])))
	}
	return doc.With("kind", document.NewString(kind.Name)).With("metadata", metadata)
}
