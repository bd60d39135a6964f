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

// pair is a certificate and the key to it.
type pair struct {
	certificate *x509.Certificate
	signer      crypto.Signer
	certPEM     []byte
	keyPEM      []byte
}

// newKey makes a key; P-256 since it is made in microseconds, and known everywhere.
func newKey() (crypto.Signer, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// sign makes a certificate by a template. The issuer is nil for one that signs itself.
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

// newSerial returns a number that nobody guesses and no other certificate has.
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

// parsePair reads what sign made, or what a user has.
func parsePair(certPEM, keyPEM []byte) (*pair, error) {
	both, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	return &pair{certificate: both.Leaf, signer: both.PrivateKey.(crypto.Signer), certPEM: certPEM, keyPEM: keyPEM}, nil
}

// tls returns the pair as connections use it.
func (p *pair) tls() *tls.Certificate {
	return &tls.Certificate{Certificate: [][]byte{p.certificate.Raw}, PrivateKey: p.signer, Leaf: p.certificate}
}

// isFromAndFresh reports whether an issuer signed the certificate, and more than a third of its
// time is left.
func (p *pair) isFromAndFresh(issuer *pair, now time.Time) bool {
	whole := p.certificate.NotAfter.Sub(p.certificate.NotBefore)
	return !now.Before(p.certificate.NotBefore) && p.certificate.NotAfter.Sub(now) > whole/3 &&
		p.certificate.CheckSignatureFrom(issuer.certificate) == nil
}

// joined returns certificate and key as one text, so that one file has both or neither.
func (p *pair) joined() []byte { return bytes.Join([][]byte{p.certPEM, p.keyPEM}, nil) }

// splitPair takes apart what joined made.
func splitPair(both []byte) (*pair, error) {
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

// parseKey reads a key alone, in the forms that there are.
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
