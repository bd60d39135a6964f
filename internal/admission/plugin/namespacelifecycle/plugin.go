// Package namespacelifecycle implements the admission plugin NamespaceLifecycle: objects can be created only in namespaces
// that exist and are not being deleted, and the namespaces default, kube-system and kube-public cannot be deleted.
package namespacelifecycle

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/admission"
)

// Plugin is the admission plugin NamespaceLifecycle.
type Plugin struct{ admission.MutatingOnly }

// Name implements admission.Plugin.
func (Plugin) Name() string { return "NamespaceLifecycle" }

// Handles implements admission.Plugin. As in kube-apiserver, the check runs in the mutating phase, so that it precedes the
// validation of the object. The namespace of a LocalSubjectAccessReview need not exist.
func (Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	switch {
	case operation == admission.Create && r.Namespaced && r.Group != "authorization.k8s.io":
		return admission.Mutating
	case operation == admission.Delete && r.Is("", "namespaces"):
		return admission.Mutating
	}
	return 0
}

var namespaces = schema.GroupResource{Resource: "namespaces"}

// Admit implements admission.Plugin. It makes the commit of a new object conditional on its namespace: if the namespace were
// deleted between the check and the commit, the namespace controller would not find the object.
func (Plugin) Admit(ctx context.Context, a *admission.Attributes) error {
	if a.Operation == admission.Delete {
		return checkDeletion(a)
	}
	if a.Namespace == "" {
		return nil // the resource's validation requires a namespace
	}
	namespace, err := a.Reader.Get(ctx, namespaces, "", a.Namespace)
	if err != nil {
		return err
	}
	if !namespace.Exists() {
		return apierrors.NewNotFound(namespaces, a.Namespace)
	}
	if namespace.Document.Lookup("metadata", "deletionTimestamp").IsAbsent() {
		a.RequireUnchanged(namespace)
		return nil
	}
	forbidden := a.Forbidden(fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.Namespace))
	forbidden.ErrStatus.Details.Causes = append(forbidden.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: "NamespaceTerminating", Message: fmt.Sprintf("namespace %s is being terminated", a.Namespace), Field: "metadata.namespace",
	})
	return forbidden
}

// checkDeletion rejects the deletion of the namespaces default, kube-system and kube-public.
func checkDeletion(a *admission.Attributes) error {
	switch name := a.OldObject.Lookup("metadata", "name").Text(); name {
	case "default", "kube-system", "kube-public":
		return apierrors.NewForbidden(namespaces, name, errors.New("this namespace may not be deleted"))
	}
	return nil
}
