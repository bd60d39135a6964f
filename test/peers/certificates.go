package peers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Names of the files that writeCertificates creates.
const (
	caFile            = "ca.crt"
	serverCertificate = "server.crt"
	serverKey         = "server.key"
	serviceAccountKey = "service-account.key"
)

// writeCertificates creates a certificate authority, a serving certificate for the loopback address, and the key that
// signs service account tokens, and writes them to folder. It returns the CA certificate in PEM.
func writeCertificates(folder string) ([]byte, error) {
	caKey, err := newKey()
	if err != nil {
		return nil, err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "peers"},
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "kube-apiserver"},
		NotBefore:    ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	signing, err := newKey()
	if err != nil {
		return nil, err
	}
	caPEM, err := sign(ca, ca, caKey, caKey)
	if err != nil {
		return nil, err
	}
	serverPEM, err := sign(server, ca, key, caKey)
	if err != nil {
		return nil, err
	}
	return caPEM, writeSecrets(folder, map[string][]byte{
		caFile:            caPEM,
		serverCertificate: serverPEM,
		serverKey:         keyPEM(key),
		serviceAccountKey: keyPEM(signing),
	})
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func sign(certificate, authority *x509.Certificate, key, authorityKey *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, certificate, authority, key.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

func keyPEM(key *ecdsa.PrivateKey) []byte {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		panic(err) // cannot fail: P-256 is supported
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}

func writeSecrets(folder string, files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
