package authn

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// uidAttribute is the object identifier of the subject attribute that contains a user's UID, as in Kubernetes.
var uidAttribute = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

// maxVerified is the maximum number of verified certificates in the cache.
const maxVerified = 4096

// Certificates authenticates requests by client certificate. It caches verified certificates, because verification takes
// longer than most requests, and a connection carries many requests. The zero value and nil accept no certificate. It is safe
// for concurrent use.
type Certificates struct {
	trusted *atomic.Pointer[trust]
	now     func() time.Time
}

// trust is a set of CA certificates with the certificates that were verified by it. It is replaced as a whole when the CA certificates
// are reloaded, so that no verification by a removed CA remains.
type trust struct {
	roots *x509.CertPool
	// cache maps *x509.Certificate to *verification. The keys retain the certificates in memory, so no other certificate can be
	// allocated at the address of a cached certificate.
	cache sync.Map
	count atomic.Int64
}

// verification is the result of verifying a certificate chain, and the period in which the result is valid.
type verification struct {
	response     *authenticator.Response // nil for a certificate without a common name
	since, until time.Time
}

// Certificates returns an authenticator that accepts client certificates signed by the authority or by a CA of
// Options.ClientCAFile, also after ReloadClientCAs.
func (a *Authority) Certificates() *Certificates {
	return &Certificates{trusted: &a.clientCAs, now: a.options.Now}
}

// AuthenticateRequest implements authenticator.Request. It returns false and no error for a connection without a client
// certificate, or with a client certificate whose subject has no common name.
func (c *Certificates) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	response, err := c.authenticate(r.TLS)
	return response, response != nil && err == nil, err
}

func (c *Certificates) authenticate(connection *tls.ConnectionState) (*authenticator.Response, error) {
	if c == nil || c.trusted == nil || connection == nil || len(connection.PeerCertificates) == 0 {
		return nil, nil
	}
	leaf := connection.PeerCertificates[0]
	trusted, now := c.trusted.Load(), c.now()
	if cached, ok := trusted.cache.Load(leaf); ok {
		if v := cached.(*verification); now.After(v.since) && now.Before(v.until) {
			return v.response, nil
		}
	}
	v, err := trusted.verify(connection.PeerCertificates, now)
	if err != nil {
		return nil, fmt.Errorf("client certificate with serial number %v: %w", leaf.SerialNumber, err)
	}
	trusted.add(leaf, v)
	return v.response, nil
}

// add caches a verified certificate. A full cache is cleared, which is rare, because only valid certificates are cached.
func (c *trust) add(leaf *x509.Certificate, v *verification) {
	if c.count.Load() >= maxVerified {
		c.cache.Clear()
		c.count.Store(0)
	}
	if _, replaced := c.cache.Swap(leaf, v); !replaced {
		c.count.Add(1)
	}
}

// verify verifies the certificate chain that a client has sent, leaf first.
func (c *trust) verify(peer []*x509.Certificate, now time.Time) (*verification, error) {
	options := x509.VerifyOptions{Roots: c.roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if len(peer) > 1 {
		options.Intermediates = x509.NewCertPool()
		for _, p := range peer[1:] {
			options.Intermediates.AddCert(p)
		}
	}
	chains, err := peer[0].Verify(options)
	if err != nil {
		return nil, err
	}
	v := &verification{since: peer[0].NotBefore, until: peer[0].NotAfter}
	for _, c := range chains[0] {
		if c.NotAfter.Before(v.until) {
			v.until = c.NotAfter
		}
	}
	user, err := certificateUser(peer[0])
	if err != nil {
		return nil, err
	}
	if user != nil {
		v.response = &authenticator.Response{User: user}
	}
	return v, nil
}

// certificateUser returns the user of a client certificate: the common name is the user's name, the organizations are the
// groups. It returns nil for a certificate without a common name.
func certificateUser(c *x509.Certificate) (*User, error) {
	if c.Subject.CommonName == "" {
		return nil, nil
	}
	uid, err := certificateUID(c)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(c.Raw)
	return WithImpliedGroup(&User{
		Name: c.Subject.CommonName, UID: uid, Groups: c.Subject.Organization,
		Extra: map[string][]string{user.CredentialIDKey: {"X509SHA256=" + hex.EncodeToString(hash[:])}},
	}), nil
}

// certificateUID returns the user's UID in the subject of a certificate; "" if there is none. Several or empty UIDs are an
// error.
func certificateUID(c *x509.Certificate) (string, error) {
	uid, found := "", false
	for _, name := range c.Subject.Names {
		if !name.Type.Equal(uidAttribute) {
			continue
		}
		text, ok := name.Value.(string)
		if !ok || text == "" || found {
			return "", errors.New("subject: expected at most one uid, as a non-empty string, received another value or several")
		}
		uid, found = text, true
	}
	return uid, nil
}
