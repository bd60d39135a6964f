package app

import (
	"cmp"
	"context"
	"crypto"
	"crypto/tls"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cadastre/cadastre/internal/controllers/certificates"
	"github.com/cadastre/cadastre/internal/lib/reload"
)

// defaultSigningDuration is the default lifetime of certificates for CertificateSigningRequests, as in Kubernetes.
const defaultSigningDuration = 365 * 24 * time.Hour

// Signing configures the signing of approved CertificateSigningRequests of clients of the server.
type Signing struct {
	// CertFile and KeyFile are the CA certificate that signs and its key. If they are "", the authority of the server signs.
	CertFile, KeyFile string
	// Duration is the maximum lifetime of certificates; 0 means a year. A negative value disables signing.
	Duration time.Duration
}

func (s Signing) duration() time.Duration { return cmp.Or(s.Duration, defaultSigningDuration) }

// openSigningCA sets the authority that signs requests, if there is one. It must be called after openAuthority.
func (s *Server) openSigningCA(ctx context.Context) error {
	o := s.config.Signing
	switch {
	case o.Duration < 0:
		return nil
	case o.CertFile == "" && s.Authority == nil:
		return nil
	case o.CertFile == "":
		certificate, key := s.Authority.Signer()
		ca := &certificates.CA{Certificate: certificate, Key: key}
		s.signingCA = func() *certificates.CA { return ca }
		return nil
	}
	var current atomic.Pointer[certificates.CA]
	s.signingCA = current.Load
	return s.files.Add(ctx, reload.Source{Name: "signing CA", Files: []string{o.CertFile, o.KeyFile}, Load: func(_ context.Context, contents [][]byte) error {
		ca, err := parseCA(contents[0], contents[1])
		if err != nil {
			return fmt.Errorf("%s, %s: %w", o.CertFile, o.KeyFile, err)
		}
		current.Store(ca)
		return nil
	}})
}

// parseCA parses a CA certificate and its key, as PEM.
func parseCA(cert, key []byte) (*certificates.CA, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, fmt.Errorf("expected the certificate of an authority, received one that may not sign others")
	}
	return &certificates.CA{Certificate: pair.Leaf, Key: signer}, nil
}
