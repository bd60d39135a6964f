package authn

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// uidName is the name of the part of a subject that has a user's uid.
var uidName = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}

// mostVerified is how many certificates are remembered to be good.
const mostVerified = 4096

// Certificates finds out who has a client certificate. One that was found to be good is
// remembered: connections last for many requests, and to verify costs more than to serve most of
// them. The zero value knows nobody.
type Certificates struct {
	roots *x509.CertPool
	now   func() time.Time
	// verified has a *verified for each *x509.Certificate. As they are kept alive here, no
	// other one can come to be at the same place in memory.
	verified sync.Map
	count    atomic.Int64
}

// verified is who has a certificate, and when that is so.
type verified struct {
	user         *User
	since, until time.Time
}

// Certificates returns what verifies the client certificates that the authority, or who else it
// was told of, signed.
func (a *Authority) Certificates() *Certificates {
	return &Certificates{roots: a.clientCAs, now: a.options.Now}
}

// User returns who is at the other end of a connection: nil if there is no certificate, or one
// that names nobody; an error if it is not good.
func (c *Certificates) User(connection *tls.ConnectionState) (*User, error) {
	if c == nil || c.roots == nil || connection == nil || len(connection.PeerCertificates) == 0 {
		return nil, nil
	}
	leaf := connection.PeerCertificates[0]
	now := c.now()
	if known, ok := c.verified.Load(leaf); ok {
		if v := known.(*verified); now.After(v.since) && now.Before(v.until) {
			return v.user, nil
		}
	}
	v, err := c.verify(connection.PeerCertificates, now)
	if err != nil {
		return nil, fmt.Errorf("the client certificate with serial number %v: %w", leaf.SerialNumber, err)
	}
	c.remember(leaf, v)
	return v.user, nil
}

// remember forgets all when there are too many, which needs as many good certificates at once.
func (c *Certificates) remember(leaf *x509.Certificate, v *verified) {
	if c.count.Load() >= mostVerified {
		c.verified.Clear()
		c.count.Store(0)
	}
	if _, there := c.verified.Swap(leaf, v); !there {
		c.count.Add(1)
	}
}

func (c *Certificates) verify(peer []*x509.Certificate, now time.Time) (*verified, error) {
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
	user, err := userOf(peer[0])
	if err != nil {
		return nil, err
	}
	v := &verified{user: user, since: peer[0].NotBefore, until: peer[0].NotAfter}
	for _, c := range chains[0] {
		if c.NotAfter.Before(v.until) {
			v.until = c.NotAfter
		}
	}
	return v, nil
}

// userOf returns whom a certificate is for, nil if it does not say: the common name is the user's,
// the organisations are the groups.
func userOf(c *x509.Certificate) (*User, error) {
	if c.Subject.CommonName == "" {
		return nil, nil
	}
	uid, err := uidOf(c)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(c.Raw)
	user := &User{
		Name: c.Subject.CommonName, UID: uid, Groups: c.Subject.Organization,
		Extra: map[string][]string{credentialID: {"X509SHA256=" + hex.EncodeToString(hash[:])}},
	}
	return user.Complete(), nil
}

func uidOf(c *x509.Certificate) (string, error) {
	uid, found := "", false
	for _, name := range c.Subject.Names {
		if !name.Type.Equal(uidName) {
			continue
		}
		text, ok := name.Value.(string)
		if !ok || text == "" || found {
			return "", errors.New("expected one uid that is a text in the subject")
		}
		uid, found = text, true
	}
	return uid, nil
}
