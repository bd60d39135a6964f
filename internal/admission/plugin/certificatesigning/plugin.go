// Package certificatesigning implements kube-apiserver's admission plugin CertificateSigning: to change the certificate or the
// conditions of a CertificateSigningRequest, a user needs, in addition to the permission to update its status, the verb sign on the
// signer that the request names, or on all signers of its domain.
package certificatesigning

import (
	"context"
	"encoding/json"
	"fmt"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
)

const group, resource, subresource = "certificates.k8s.io", "certificatesigningrequests", "status"

// Plugin is the admission plugin CertificateSigning.
type Plugin struct {
	admission.ValidatingOnly
	Authorizer authorizer.Authorizer
}

// Name implements admission.Plugin.
func (*Plugin) Name() string { return "CertificateSigning" }

// Handles implements admission.Plugin.
func (*Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Update && r.Group == group && r.Resource == resource && r.Subresource == subresource {
		return admission.Validating
	}
	return 0
}

// Validate implements admission.Plugin. The signerName is read from the stored CertificateSigningRequest, because an update of the
// status cannot change it.
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
	return a.Forbidden(fmt.Errorf("user not permitted to sign requests with signerName %q", signer))
}

// statusOf returns the status of a CertificateSigningRequest; the zero status if it has none.
func statusOf(request document.Value) (status certificatesv1.CertificateSigningRequestStatus, err error) {
	if v := request.Get("status"); v.Kind() == document.Map {
		err = json.Unmarshal([]byte(v.JSON()), &status)
	}
	return status, err
}
