package certificates

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
)

const (
	// backdate is the time by which certificates are valid before they are signed, for clients whose clock is slow. minDuration is the
	// minimum lifetime. From longDuration on, backdating shortens the rest of the lifetime.
	backdate     = 5 * time.Minute
	minDuration  = 10 * time.Minute
	longDuration = 8 * time.Hour
)

// CA is a certificate authority.
type CA struct {
	Certificate *x509.Certificate
	Key         crypto.Signer
}

// signers maps the names of the signers to the checks of their requests. The messages are those of Kubernetes.
var signers = map[string]func(*x509.CertificateRequest, []certificatesv1.KeyUsage) error{
	certificatesv1.KubeAPIServerClientSignerName:        checkClient,
	certificatesv1.KubeAPIServerClientKubeletSignerName: checkKubelet,
}

// keyUsages are the usages of certificates for clients.
var keyUsages = map[certificatesv1.KeyUsage]x509.KeyUsage{
	certificatesv1.UsageDigitalSignature: x509.KeyUsageDigitalSignature,
	certificatesv1.UsageKeyEncipherment:  x509.KeyUsageKeyEncipherment,
}

// nodePrefix is the prefix of the user names of kubelets.
const nodePrefix = "system:node:"

// unexpectedNames returns the error for alternative names of a kind.
func unexpectedNames(kind string) error {
	return fmt.Errorf("%s subjectAltNames are not allowed", kind)
}

// checkClient returns an error unless the usages are those of a client.
func checkClient(_ *x509.CertificateRequest, usages []certificatesv1.KeyUsage) error {
	for _, usage := range usages {
		if _, ok := keyUsages[usage]; !ok && usage != certificatesv1.UsageClientAuth {
			return fmt.Errorf("invalid usage for client certificate: %s", usage)
		}
	}
	if !slices.Contains(usages, certificatesv1.UsageClientAuth) {
		return fmt.Errorf("missing required usage for client certificate: %s", certificatesv1.UsageClientAuth)
	}
	return nil
}

// checkKubelet returns an error unless the request is for the certificate with which a kubelet authenticates.
func checkKubelet(r *x509.CertificateRequest, usages []certificatesv1.KeyUsage) error {
	switch {
	case !slices.Equal(r.Subject.Organization, []string{"system:nodes"}):
		return errors.New("subject organization is not system:nodes")
	case len(r.DNSNames) > 0:
		return unexpectedNames("DNS")
	case len(r.EmailAddresses) > 0:
		return unexpectedNames("Email")
	case len(r.IPAddresses) > 0:
		return unexpectedNames("IP")
	case len(r.URIs) > 0:
		return unexpectedNames("URI")
	case !strings.HasPrefix(r.Subject.CommonName, nodePrefix):
		return fmt.Errorf("subject common name does not begin with %s", nodePrefix)
	}
	required := []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth, certificatesv1.UsageDigitalSignature}
	received := slices.Compact(slices.Sorted(slices.Values(usages)))
	if with := append(slices.Clone(required), certificatesv1.UsageKeyEncipherment); !equalSets(received, required) && !equalSets(received, with) {
		slices.Sort(with)
		return fmt.Errorf("usages did not match %v", with)
	}
	return nil
}

// equalSets reports whether sorted, which has no duplicates, has the same elements as set.
func equalSets(sorted, set []certificatesv1.KeyUsage) bool {
	return slices.Equal(sorted, slices.Sorted(slices.Values(set)))
}

// parseRequest parses spec.request and verifies that its sender has the private key.
func parseRequest(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	r, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	return r, r.CheckSignature()
}

// duration returns the lifetime of a certificate: the requested one within minDuration and the maximum.
func duration(requestedSeconds *int32, maximum time.Duration) time.Duration {
	if requestedSeconds == nil {
		return maximum
	}
	requested := time.Duration(*requestedSeconds) * time.Second
	return min(max(requested, minDuration), maximum)
}

// sign returns the certificate for a request, as PEM.
func (ca *CA) sign(r *x509.CertificateRequest, usages []certificatesv1.KeyUsage, lifetime time.Duration, now time.Time) ([]byte, error) {
	if end := ca.Certificate.NotAfter; !now.Before(end) {
		return nil, fmt.Errorf("the CA certificate expired at %s; replace it", end.Format(time.RFC3339))
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	if lifetime >= longDuration {
		lifetime -= backdate
	}
	template := &x509.Certificate{
		SerialNumber: serial.Add(serial, big.NewInt(1)), Subject: r.Subject,
		DNSNames: r.DNSNames, IPAddresses: r.IPAddresses, EmailAddresses: r.EmailAddresses, URIs: r.URIs,
		NotBefore: now.Add(-backdate), NotAfter: now.Add(lifetime),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true,
	}
	if end := ca.Certificate.NotAfter; end.Before(template.NotAfter) {
		template.NotAfter = end
	}
	for _, usage := range usages {
		template.KeyUsage |= keyUsages[usage]
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.Certificate, r.PublicKey, ca.Key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
