package policy

import (
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserveradmission "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// request is a write during the evaluation of policies. It caches CEL variables for all policies.
type request struct {
	*admission.Record
	options *Options
	// views maps versions of the object to the attributes for CEL expressions.
	views map[admission.VersionedResource]*apiserveradmission.VersionedAttributes
	// namespace is the Namespace of the object for the CEL variable namespaceObject; nil if the object is cluster-scoped.
	namespace    *corev1.Namespace
	hasNamespace bool
}

func (p *Policies) newRequest(a *admission.Attributes) *request {
	return &request{
		Record: admission.RecordOf(a), options: &p.Options,
		views: map[admission.VersionedResource]*apiserveradmission.VersionedAttributes{},
	}
}

// view returns the attributes for CEL expressions, with the object at the version v.
func (r *request) view(v admission.VersionedResource) (*apiserveradmission.VersionedAttributes, error) {
	if view := r.views[v]; view != nil {
		return view, nil
	}
	view, err := r.CEL(v)
	if err != nil {
		return nil, err
	}
	r.views[v] = view
	return view, nil
}

// replace sets the object after a policy has changed it at the version v.
func (r *request) replace(v admission.VersionedResource, object document.Value) {
	r.Return(object, v)
	at := r.views[v]
	clear(r.views)
	if at != nil {
		at.UpdateObject(admission.Unstructured(object))
		r.views[v] = at
	}
}

// input contains the variables that the CEL expressions of a policy can use.
type input struct {
	at        *apiserveradmission.VersionedAttributes
	request   *admissionv1.AdmissionRequest
	params    runtime.Object // the parameter object; nil if the policy or its binding has none
	namespace *corev1.Namespace
	costs     *admission.CostBudget
}

// input returns the variables for the object at the version v and a parameter object.
func (r *request) input(at *apiserveradmission.VersionedAttributes, v admission.VersionedResource, params runtime.Object) *input {
	return &input{
		at: at, params: params, namespace: r.namespace, costs: r.Costs,
		request: cel.CreateAdmissionRequest(at.Attributes, metav1.GroupVersionResource(v.Resource), metav1.GroupVersionKind(at.VersionedKind)),
	}
}

// loadNamespace reads the Namespace of the object, once. It returns a 404 if the Namespace does not exist.
func (r *request) loadNamespace(ctx context.Context) error {
	if r.hasNamespace || r.Namespace == "" || r.IsNamespace() {
		return nil
	}
	namespaces := schema.GroupResource{Resource: "namespaces"}
	found, err := r.Reader.Get(ctx, namespaces, "", r.Namespace)
	if err != nil {
		return err
	}
	if !found.Exists() {
		return apierrors.NewNotFound(namespaces, r.Namespace)
	}
	namespace := &corev1.Namespace{}
	if err := json.Unmarshal(found.Document.AppendJSON(nil), namespace); err != nil {
		return apierrors.NewInternalError(err)
	}
	r.namespace, r.hasNamespace = cel.CreateNamespaceObject(namespace), true
	return nil
}
