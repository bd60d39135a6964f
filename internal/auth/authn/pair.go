package authn

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// pair is a certificate and its private key.
type pair struct {
	certificate *x509.Certificate
	signer      crypto.Signer
	certPEM     []byte
	keyPEM      []byte
}

// newKey generates a P-256 key, which takes microseconds and which all clients support.
func newKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// sign creates a certificate from a template, signed by the issuer, or self-signed if the issuer is nil. It sets the serial
// number of the template.
func sign(template *x509.Certificate, key crypto.Signer, issuer *pair) (*pair, error) {
	var err error
	if template.SerialNumber, err = newSerial(); err != nil {
		return nil, err
	}
	parent, parentKey := template, key
	if issuer != nil {
		parent, parentKey = issuer.certificate, issuer.signer
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), parentKey)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return nil, err
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &pair{certificate: certificate, signer: key, certPEM: certPEM, keyPEM: keyPEM}, nil
}

// newSerial returns a random positive serial number of at most 121 bits.
func newSerial() (*big.Int, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return serial.Add(serial, big.NewInt(1)), nil
}

func encodeKey(key crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// parsePair parses a certificate and its key. It returns an error if the key is not the key of the certificate.
func parsePair(certPEM, keyPEM []byte) (*pair, error) {
	both, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	return &pair{certificate: both.Leaf, signer: both.PrivateKey.(crypto.Signer), certPEM: certPEM, keyPEM: keyPEM}, nil
}

// tls returns the pair as a tls.Certificate, for tls.Config.
func (p *pair) tls() *tls.Certificate {
	return &tls.Certificate{Certificate: [][]byte{p.certificate.Raw}, PrivateKey: p.signer, Leaf: p.certificate}
}

// isCurrent reports whether the certificate is signed by the issuer, and is valid with more than a third of its lifetime
// left.
func (p *pair) isCurrent(issuer *pair, now time.Time) bool {
	whole := p.certificate.NotAfter.Sub(p.certificate.NotBefore)
	return !now.Before(p.certificate.NotBefore) && p.certificate.NotAfter.Sub(now) > whole/3 &&
		p.certificate.CheckSignatureFrom(issuer.certificate) == nil
}

// encode returns the certificate and the key as one PEM text, to be stored in one file.
func (p *pair) encode() []byte { return bytes.Join([][]byte{p.certPEM, p.keyPEM}, nil) }

// parseJoinedPair parses the PEM text that encode returns.
func parseJoinedPair(both []byte) (*pair, error) {
	p, err := parsePair(both, both)
	if err != nil {
		return nil, err
	}
	if p.keyPEM, err = encodeKey(p.signer); err != nil {
		return nil, err
	}
	p.certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate.Raw})
	return p, nil
}

// parseKey parses a private key as PEM in one of the formats SEC 1, PKCS #1 and PKCS #8.
func parseKey(keyPEM []byte) (crypto.Signer, error) {
	block, _ := pem.Decode(keyPEM)
	if block == nil {
		return nil, errors.New("expected a key as PEM (BEGIN PRIVATE KEY)")
	}
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("expected a key that can sign, received %T", key)
	}
	return signer, nil
}
