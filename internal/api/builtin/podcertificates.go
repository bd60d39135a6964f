package builtin

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

const (
	// maxStubRequest is the maximum length of spec.stubPKCS10Request of a PodCertificateRequest, in bytes.
	maxStubRequest = 10 << 10
	// The bounds of spec.maxExpirationSeconds. The signers of Kubernetes, whose domain is kubernetes.io, have a lower maximum.
	minLifetimeSeconds            = 60 * 60
	maxLifetimeSeconds            = 91 * 24 * 60 * 60
	maxKubernetesLifetimeSeconds  = 24 * 60 * 60
	kubernetesSigners             = "kubernetes.io"
	maxPodCertificateUID          = 128
	invalidCertificateRequestData = "must be a valid PKCS#10 CSR"
)

// checkUserAnnotations validates the parameters that a PodCertificateRequest passes to its signer: their keys have a domain, and
// their size is limited.
func checkUserAnnotations(c *checker, value, _ document.Value) {
	size := 0
	for key, v := range value.Fields() {
		c.addErrors(validation.IsDomainPrefixedKey(nil, strings.ToLower(key)))
		size += len(key) + len(v.Text())
	}
	if size > maxAnnotationBytes {
		c.tooLong(maxAnnotationBytes)
	}
}

// checkReferencedUID validates the uid of an object that a PodCertificateRequest refers to.
func checkReferencedUID(c *checker, value, _ document.Value) {
	if value.Text() == "" {
		c.invalid("", "must not be empty")
	}
	if len(value.Text()) > maxPodCertificateUID {
		c.tooLong(maxPodCertificateUID)
	}
}

// checkPodCertificateLifetime validates maxExpirationSeconds in the spec of a PodCertificateRequest.
func checkPodCertificateLifetime(c *checker, spec, _ document.Value) {
	maximum := int64(maxLifetimeSeconds)
	domain, _, _ := strings.Cut(spec.Get("signerName").Text(), "/")
	if domain == kubernetesSigners || strings.HasSuffix(domain, "."+kubernetesSigners) {
		maximum = maxKubernetesLifetimeSeconds
	}
	if n := intValue(spec.Get("maxExpirationSeconds")); n < minLifetimeSeconds || n > maximum {
		c.invalid(n, fmt.Sprintf("must be in the range [%d, %d]", minLifetimeSeconds, maximum), "maxExpirationSeconds")
	}
}

// checkPodCertificateRequest requires that stubPKCS10Request in the spec of a PodCertificateRequest is a certificate request that is
// signed with its own key, and that the key has an accepted type and size.
func checkPodCertificateRequest(c *checker, spec, _ document.Value) {
	const name = "stubPKCS10Request"
	text := spec.Get(name).Text()
	if text == "" {
		c.invalid(field.OmitValueType{}, "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")
		return
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if len(content) > maxStubRequest {
		c.tooLong(maxStubRequest, name)
		return
	}
	var request *x509.CertificateRequest
	if err == nil {
		request, err = x509.ParseCertificateRequest(content)
	}
	if err != nil {
		c.invalid(field.OmitValueType{}, invalidCertificateRequestData, name)
		return
	}
	if bad, problem := keyProblem(request.PublicKey); problem != "" {
		c.invalid(bad, problem, name)
	} else if request.CheckSignature() != nil {
		c.invalid(field.OmitValueType{}, "invalid signature", name)
	}
}

// keyProblem returns the reason why a public key cannot be certified, and the description of the key for the error; the reason
// is "" for a key that can be certified.
func keyProblem(key any) (bad any, problem string) {
	switch key := key.(type) {
	case ed25519.PublicKey:
		return nil, ""
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() && key.Curve != elliptic.P384() && key.Curve != elliptic.P521() {
			return "curve " + key.Curve.Params().Name, "elliptic public keys must use curve P256, P384, or P521"
		}
		return nil, ""
	case *rsa.PublicKey:
		if bits := key.Size() * 8; bits != 3072 && bits != 4096 {
			return fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096"
		}
		return nil, ""
	}
	return field.OmitValueType{}, "unknown public key type; supported types are Ed25519, ECDSA, and RSA"
}
