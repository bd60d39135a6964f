// Package certificateapproval implements kube-apiserver's admission plugin CertificateApproval: to approve or deny a
// CertificateSigningRequest, a user needs, in addition to the permission to update the approval subresource, the verb
// approve on the signer that the request names, or on all signers of its domain.
package certificateapproval

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
)

const group, resource, subresource = "certificates.k8s.io", "certificatesigningrequests", "approval"

// Plugin is the admission plugin CertificateApproval.
type Plugin struct {
	admission.ValidatingOnly
	Authorizer authorizer.Authorizer
}

// Name implements admission.Plugin.
func (*Plugin) Name() string { return "CertificateApproval" }

// Handles implements admission.Plugin.
func (*Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Update && r.Group == group && r.Resource == resource && r.Subresource == subresource {
		return admission.Validating | admission.NoOps
	}
	return 0
}

// Validate implements admission.Plugin. The signerName is read from the stored CertificateSigningRequest, because an update
// of the approval subresource cannot change it.
func (p *Plugin) Validate(ctx context.Context, a *admission.Attributes) error {
	signer := a.OldObject.Lookup("spec", "signerName").Text()
	if rbac.AllowsSigner(ctx, p.Authorizer, a.User, "approve", signer) {
		return nil
	}
	return a.Forbidden(fmt.Errorf("user not permitted to approve requests with signerName %q", signer))
}
