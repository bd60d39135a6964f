// Package certificatesubjectrestriction implements kube-apiserver's admission plugin CertificateSubjectRestriction: a
// CertificateSigningRequest for the signer kubernetes.io/kube-apiserver-client must not contain the group system:masters, so that the
// permission to approve requests is not the permission to become an administrator.
package certificatesubjectrestriction

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/auth/authn"
)

const group, resource = "certificates.k8s.io", "certificatesigningrequests"

// Plugin is the admission plugin CertificateSubjectRestriction.
type Plugin struct{ admission.ValidatingOnly }

// Name implements admission.Plugin.
func (Plugin) Name() string { return "CertificateSubjectRestriction" }

// Handles implements admission.Plugin.
func (Plugin) Handles(operation admission.Operation, r admission.Resource) admission.Phase {
	if operation == admission.Create && r.Group == group && r.Resource == resource && r.Subresource == "" {
		return admission.Validating
	}
	return 0
}

// Validate implements admission.Plugin.
func (Plugin) Validate(_ context.Context, a *admission.Attributes) error {
	if a.Object.Lookup("spec", "signerName").Text() != certificatesv1.KubeAPIServerClientSignerName {
		return nil
	}
	request, err := parse(a.Object.Lookup("spec", "request").Text())
	if err != nil {
		return a.Forbidden(fmt.Errorf("failed to parse CSR: %w", err))
	}
	if slices.Contains(request.Subject.Organization, authn.MastersGroup) {
		return a.Forbidden(fmt.Errorf("use of %s signer with %s group is not allowed", certificatesv1.KubeAPIServerClientSignerName, authn.MastersGroup))
	}
	return nil
}

// parse parses the value of spec.request: PEM in base64.
func parse(text string) (*x509.CertificateRequest, error) {
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(decoded)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}
