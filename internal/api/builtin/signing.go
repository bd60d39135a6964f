package builtin

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cadastre/cadastre/document"
)

// keyUsages are the key usages that a CertificateSigningRequest can contain.
var keyUsages = []string{
	"any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only",
	"digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement",
	"key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping",
}

// certificateChecks returns the checks of the kinds of certificates.k8s.io, by their names in rules.
func certificateChecks() map[string]func(c *checker, value, old document.Value) {
	return map[string]func(c *checker, value, old document.Value){
		"certificate-request": checkCertificateRequest, "signer-name": checkSignerName, "key-usage": checkKeyUsage,
		"any-signer-name": checkAnySignerName, "trust-bundle-meta": checkTrustBundleMeta, "trust-bundle": checkTrustBundle,
		"user-annotations": checkUserAnnotations, "referenced-uid": checkReferencedUID,
		"pod-certificate-lifetime": checkPodCertificateLifetime, "pod-certificate-request": checkPodCertificateRequest,

		"signing-conditions": checkSigningConditions, "certificate": checkCertificate, "kept-decisions": checkKeptDecisions,
		"frozen-decisions": checkFrozenDecisions, "certificate-frozen": checkCertificateFrozen,
		"pod-certificate-status": checkPodCertificateStatus,
	}
}

// checkCertificateRequest requires that spec.request of a CertificateSigningRequest is a PEM-encoded certificate request with a
// valid signature.
func checkCertificateRequest(c *checker, value, _ document.Value) {
	if err := readRequest(value.Text()); err != nil {
		c.invalid(value.Text(), err.Error())
	}
}

func readRequest(text string) error {
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	block, _ := pem.Decode(content)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

// The maximum lengths of a signer name, whose syntax is DOMAIN/PATH, in bytes.
const (
	// maxSignerDomain is the maximum length of the domain.
	maxSignerDomain = validation.DNS1123SubdomainMaxLength
	// maxSignerPath is the maximum length of the path.
	maxSignerPath = validation.DNS1123SubdomainMaxLength + 1 + validation.DNS1123LabelMaxLength
	// maxSignerName is the maximum length of the whole name.
	maxSignerName = maxSignerDomain + 1 + maxSignerPath
)

// checkSignerName requires a valid signer name that is not the name of the legacy signer.
func checkSignerName(c *checker, value, old document.Value) {
	if value.Text() == "kubernetes.io/legacy-unknown" {
		c.invalid(value.Text(), "the legacy signerName is not allowed via this API version")
		return
	}
	checkAnySignerName(c, value, old)
}

// checkAnySignerName requires a valid signer name: DOMAIN/PATH.
func checkAnySignerName(c *checker, value, _ document.Value) {
	name := value.Text()
	domain, path, ok := strings.Cut(name, "/")
	switch {
	case name == "":
		c.required("")
		return
	case !ok || strings.Contains(path, "/"):
		c.invalid(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")
		return
	}
	if len(domain) > maxSignerDomain {
		c.tooLong(maxSignerDomain)
	}
	c.checkSignerLabels(domain, formats["dns-label"])
	if !strings.Contains(domain, ".") {
		c.invalid(domain, "should be a domain with at least two segments separated by dots")
	}
	c.checkSignerLabels(path, formats["dns-subdomain"])
	if len(name) > maxSignerName {
		c.tooLong(maxSignerName)
	}
}

// checkSignerLabels adds the errors of the first invalid label of a signer's domain or path; labels are separated by dots.
func (c *checker) checkSignerLabels(text string, f format) {
	for label := range strings.SplitSeq(text, ".") {
		problems := f.check(label)
		for _, problem := range problems {
			c.invalid(text, fmt.Sprintf("validating label %q: %s", label, problem))
		}
		if len(problems) > 0 {
			return
		}
	}
}

func checkKeyUsage(c *checker, value, _ document.Value) {
	if !slices.Contains(keyUsages, value.Text()) {
		c.unsupported(value.Text(), keyUsages)
	}
}
