// Package deviceaccess implements the access checks of kube-apiserver's registry for ResourceClaims (resource.k8s.io) as an
// admission plugin:
//
//   - adminAccess to devices in use requires a label on the namespace of the claim;
//   - changes of a claim's allocation, and changes of the status of a driver's devices, require specific permissions in
//     addition to the permission to update the status.
package deviceaccess

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

const group = "resource.k8s.io"

// Plugin is the admission plugin DeviceAccess.
type Plugin struct {
	admission.MutatingOnly
	// Authorizer checks the permissions that status updates require; if it is nil, all status updates are permitted.
	Authorizer authorizer.Authorizer
}

// Name implements admission.Plugin.
func (*Plugin) Name() string { return "DeviceAccess" }

// Handles implements admission.Plugin.
func (*Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	isNew, isStatus := operation == admission.Create, operation == admission.Update && r.Subresource == "status"
	if r.Group == group && (isNew || isStatus) {
		return admission.Mutating
	}
	return 0
}

// Admit implements admission.Plugin. The field errors that it adds are reported together with those of the claim's
// validation, as in kube-apiserver.
func (p *Plugin) Admit(ctx context.Context, a *admission.Attributes) error {
	errs, err := adminAccessErrors(ctx, a)
	if err != nil {
		return err
	}
	if a.Operation == admission.Update {
		errs = append(errs, p.statusErrors(ctx, a)...)
	}
	a.AddErrors(errs...)
	return nil
}

// adminAccessErrors returns an error for the first adminAccess in a write if the namespace lacks the label
// resource.kubernetes.io/admin-access: "true".
func adminAccessErrors(ctx context.Context, a *admission.Attributes) (field.ErrorList, error) {
	path := adminAccessPath(a)
	if path == nil {
		return nil, nil
	}
	namespace, err := a.Reader.Get(ctx, schema.GroupResource{Resource: "namespaces"}, "", a.Namespace)
	if err != nil || !namespace.Exists() {
		return nil, err
	}
	if namespace.Document.Lookup("metadata", "labels", resourcev1.DRAAdminNamespaceLabelKey).Text() == "true" {
		return nil, nil
	}
	detail := fmt.Sprintf("admin access to devices requires the `%s: true` label on the containing namespace", resourcev1.DRAAdminNamespaceLabelKey)
	return field.ErrorList{field.Forbidden(path, detail)}, nil
}

// adminAccessPath returns the path of the first adminAccess that a write requests or allocates; nil if there is none. A
// status update is not checked if the stored status already contains an allocation with adminAccess.
func adminAccessPath(a *admission.Attributes) *field.Path {
	requests := []string{"spec", "devices", "requests"}
	switch {
	case a.Operation == admission.Update:
		results := []string{"status", "allocation", "devices", "results"}
		if firstAdminAccess(a.OldObject.Lookup(results...), "") >= 0 {
			return nil
		}
		return pathOf(firstAdminAccess(a.Object.Lookup(results...), ""), results)
	case a.Kind == "ResourceClaim":
		return pathOf(firstAdminAccess(a.Object.Lookup(requests...), "exactly"), requests)
	case a.Kind == "ResourceClaimTemplate":
		return pathOf(firstAdminAccess(a.Object.Get("spec").Lookup(requests...), "exactly"), requests)
	}
	return nil
}

// firstAdminAccess returns the index of the first list item with adminAccess: true, in the item itself or, unless fieldName
// is "", in its field fieldName; -1 if there is none.
func firstAdminAccess(list document.Value, fieldName string) int {
	for i, item := range list.Items() {
		if fieldName != "" {
			item = item.Get(fieldName)
		}
		if item.Get("adminAccess").Bool() {
			return i
		}
	}
	return -1
}

func pathOf(i int, list []string) *field.Path {
	if i < 0 {
		return nil
	}
	return field.NewPath(list[0], list[1:]...).Index(i).Child("adminAccess")
}
