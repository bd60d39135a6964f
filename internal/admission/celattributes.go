package admit

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/cadastre/cadastre/document"
)

// Attributes returns a question as Kubernetes' CEL library takes it, in a form.
func (q *Question) Attributes(form Form) (*admission.VersionedAttributes, error) {
	object, old, err := q.At(form)
	if err != nil {
		return nil, err
	}
	own := q.Form()
	now, before := unstructuredOf(object), unstructuredOf(old)
	return &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(now, before, own.Kind, q.Namespace, q.Name, own.Resource, q.Subresource,
			admission.Operation(q.Operation), q.Options, q.DryRun, UserInfo(q.User)),
		VersionedObject: now, VersionedOldObject: before, VersionedKind: form.Kind,
	}, nil
}

// unstructuredOf returns a document as an object; nil, and not a pointer that is nil, if there is none.
func unstructuredOf(doc document.Value) runtime.Object {
	if doc.IsAbsent() {
		return nil
	}
	content, _ := doc.ToGo().(map[string]any)
	return &unstructured.Unstructured{Object: content}
}
