// Package podcertificatesigning implements the access check of kube-apiserver's registry for PodCertificateRequests
// (certificates.k8s.io) as an admission plugin: to change the status of a request, a user needs, in addition to the permission to
// update the status, the verb sign on the signer that the request names, or on all signers of its domain.
package podcertificatesigning

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
)

const (
	group, resource, subresource = "certificates.k8s.io", "podcertificaterequests", "status"
	kind                         = "PodCertificateRequest"
)

// Plugin is the admission plugin PodCertificateSigning.
type Plugin struct {
	admission.ValidatingOnly
	Authorizer authorizer.Authorizer
}

// Name implements admission.Plugin.
func (*Plugin) Name() string { return "PodCertificateSigning" }

// Handles implements admission.Plugin.
func (*Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Update && r.Group == group && r.Resource == resource && r.Subresource == subresource {
		return admission.Validating
	}
	return 0
}

// Validate implements admission.Plugin. As in kube-apiserver, the missing permission is a field error of the response 422,
// and is returned only if the status is valid and differs from the stored status.
func (p *Plugin) Validate(ctx context.Context, a *admission.Attributes) error {
	now, err := statusOf(a.Object)
	if err != nil {
		return err
	}
	old, err := statusOf(a.OldObject)
	if err != nil {
		return err
	}
	signer := a.OldObject.Lookup("spec", "signerName").Text()
	if equality.Semantic.DeepEqual(now, old) || rbac.AllowsSigner(ctx, p.Authorizer, a.User, "sign", signer) {
		return nil
	}
	detail := fmt.Sprintf("User %q is not permitted to \"sign\" for signer %q", a.User.GetName(), signer)
	return api.Invalid(schema.GroupKind{Group: group, Kind: kind}, a.Name, field.ErrorList{field.Forbidden(field.NewPath("spec", "signerName"), detail)})
}

// statusOf returns the status of a PodCertificateRequest; the zero status if it has none.
func statusOf(request document.Value) (status certificatesv1.PodCertificateRequestStatus, err error) {
	if v := request.Get("status"); v.Kind() == document.Map {
		err = json.Unmarshal([]byte(v.JSON()), &status)
	}
	return status, err
}
