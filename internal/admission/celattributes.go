package admission

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/cadastre/cadastre/document"
)

// CEL returns the attributes as the type that Kubernetes' CEL library requires, with the objects converted to the version v.
func (a *Record) CEL(v VersionedResource) (*admission.VersionedAttributes, error) {
	object, old, err := a.At(v)
	if err != nil {
		return nil, err
	}
	own := a.Versioned()
	now, before := Unstructured(object), Unstructured(old)
	return &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(now, before, own.Kind, a.Namespace, a.Name, own.Resource, a.Subresource,
			admission.Operation(a.Operation), a.Source.Options(), a.DryRun, a.User),
		VersionedObject: admission.NewLazyObject(now), VersionedOldObject: admission.NewLazyObject(before), VersionedKind: v.Kind,
	}, nil
}

// Unstructured returns a document as an *unstructured.Unstructured, or an untyped nil if the document is absent.
func Unstructured(doc document.Value) runtime.Object {
	if doc.IsAbsent() {
		return nil
	}
	content, _ := doc.ToGo().(map[string]any)
	return &unstructured.Unstructured{Object: content}
}
