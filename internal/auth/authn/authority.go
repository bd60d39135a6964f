package authn

import (
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// Options configures an [Authority]. The zero value is an authority in memory.
type Options struct {
	// Folder is the directory of certificates and keys; "" keeps them in memory. The caller must ensure that no other
	// process uses the directory.
	Folder string
	// Hosts are the DNS names and IP addresses of the serving certificate, in addition to defaultHosts. An unspecified
	// address, such as 0.0.0.0, means all addresses of the machine.
	Hosts []string
	// CertFile and KeyFile name the files of a serving certificate and its key, which are used instead of a certificate of
	// the authority.
	CertFile, KeyFile string
	// ClientCAFile names a file with the CA certificates of further authorities whose client certificates are accepted.
	ClientCAFile string
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

const (
	caLifetime   = 10 * 365 * 24 * time.Hour
	leafLifetime = 365 * 24 * time.Hour
	// clockSkew is the maximum time by which the clock of a client may be slow; certificates are valid from that time before
	// their creation.
	clockSkew = 5 * time.Minute

	caCertFile  = "ca.crt"
	caKeyFile   = "ca.key"
	servingFile = "server.pem"
	adminFile   = "admin.pem"

	// AdminUser is the user name in the administrator's client certificate. The user is in the group system:masters, which
	// has all permissions.
	AdminUser = "cadastre-admin"
)

// Authority is a certificate authority. It also holds the serving certificate of the server and the client certificate of
// the administrator. It is safe for concurrent use.
type Authority struct {
	options   Options
	ca        *pair
	admin     *pair
	serving   *serving
	clientCAs atomic.Pointer[trust]
}

// Open loads an authority from its folder. It creates missing certificates and renews those that expire soon.
func Open(options Options) (*Authority, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	a := &Authority{options: options}
	if options.Folder != "" {
		if err := os.MkdirAll(options.Folder, dirMode); err != nil {
			return nil, fmt.Errorf("cannot create the directory for certificates: %w", err)
		}
	}
	var err error
	if a.ca, err = a.openCA(); err != nil {
		return nil, err
	}
	if a.admin, err = a.openLeaf(adminFile, a.adminTemplate, nil); err != nil {
		return nil, err
	}
	if a.serving, err = a.openServing(); err != nil {
		return nil, err
	}
	return a, a.openClientCAs()
}

// CA returns the CA certificate of the authority, as PEM.
func (a *Authority) CA() []byte { return a.ca.certPEM }

// Signer returns the CA certificate of the authority and its key, which sign certificates of clients.
func (a *Authority) Signer() (*x509.Certificate, crypto.Signer) { return a.ca.certificate, a.ca.signer }

// Admin returns the administrator's certificate and key, as PEM.
func (a *Authority) Admin() (cert, key []byte) { return a.admin.certPEM, a.admin.keyPEM }

func (a *Authority) path(name string) string { return filepath.Join(a.options.Folder, name) }

// openCA loads the CA certificate and its key, or creates them. The key is written before the certificate: after a crash only
// the key may exist, and openCA creates a certificate for the key.
func (a *Authority) openCA() (*pair, error) {
	if a.options.Folder == "" {
		return a.newCA(nil)
	}
	cert, certErr := readFile(a.path(caCertFile))
	key, keyErr := readFile(a.path(caKeyFile))
	switch err := errors.Join(certErr, keyErr); {
	case err != nil:
		return nil, fmt.Errorf("cannot read the certificate authority: %w", err)
	case cert == nil && key == nil:
		return a.newCA(nil)
	case cert == nil:
		return a.newCA(key)
	case key == nil:
		return nil, fmt.Errorf("%s: the key of %s is missing; restore it, or delete %[2]s to create a new authority, whose kubeconfig clients then need",
			a.path(caKeyFile), a.path(caCertFile))
	}
	ca, err := parsePair(cert, key)
	if err != nil {
		return nil, a.damagedError(err, caCertFile, caKeyFile)
	}
	return ca, a.checkCA(ca)
}

func (a *Authority) checkCA(ca *pair) error {
	switch now := a.options.Now(); {
	case !ca.certificate.IsCA:
		return fmt.Errorf("%s: expected the certificate of an authority, received one that may not sign others; restore it, or delete it and %s", a.path(caCertFile), a.path(caKeyFile))
	case now.After(ca.certificate.NotAfter):
		return fmt.Errorf("%s: expired at %s; delete it, start again, and give clients the new kubeconfig", a.path(caCertFile), ca.certificate.NotAfter.Format(time.RFC3339))
	}
	return nil
}

// damagedError returns the error for one file, or for a certificate and its key, that cannot be parsed. The error names the files
// and states how to repair them.
func (a *Authority) damagedError(err error, names ...string) error {
	if len(names) > 1 {
		return fmt.Errorf("%s and %s: expected a certificate and its key, received damaged or different ones: %w; restore both, or delete both to create a new authority, whose kubeconfig clients then need",
			a.path(names[0]), a.path(names[1]), err)
	}
	return fmt.Errorf("%s: damaged: %w; delete it, and the next start creates it", a.path(names[0]), err)
}

// newCA creates the CA certificate for an existing key or, if keyPEM is nil, for a new key.
func (a *Authority) newCA(keyPEM []byte) (*pair, error) {
	key, err := newKey()
	if keyPEM != nil {
		key, err = parseKey(keyPEM)
	}
	if err != nil {
		return nil, a.damagedError(err, caKeyFile)
	}
	now := a.options.Now()
	ca, err := sign(&x509.Certificate{
		Subject:   pkix.Name{CommonName: "cadastre-ca"},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(caLifetime),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IsCA:     true, BasicConstraintsValid: true,
	}, key, nil)
	if err != nil || a.options.Folder == "" {
		return ca, err
	}
	if keyPEM == nil {
		if err := writeFile(a.path(caKeyFile), ca.keyPEM); err != nil {
			return nil, fmt.Errorf("cannot write the key of the certificate authority: %w", err)
		}
	}
	if err := writeFile(a.path(caCertFile), ca.certPEM); err != nil {
		return nil, fmt.Errorf("cannot write the certificate of the certificate authority: %w", err)
	}
	return ca, nil
}

// openLeaf loads a certificate signed by the authority, and its key, from a file. It creates a new certificate from the
// template if the file is missing, the certificate expires soon, or fits returns false.
func (a *Authority) openLeaf(name string, template func() *x509.Certificate, fits func(*x509.Certificate) bool) (*pair, error) {
	if a.options.Folder == "" {
		return a.newLeaf(template())
	}
	both, err := readFile(a.path(name))
	if err != nil {
		return nil, fmt.Errorf("cannot read a certificate: %w", err)
	}
	if both != nil {
		leaf, err := parseJoinedPair(both)
		if err != nil {
			return nil, a.damagedError(err, name)
		}
		if leaf.isCurrent(a.ca, a.options.Now()) && (fits == nil || fits(leaf.certificate)) {
			return leaf, nil
		}
	}
	leaf, err := a.newLeaf(template())
	if err != nil {
		return nil, err
	}
	if err := writeFile(a.path(name), leaf.encode()); err != nil {
		return nil, fmt.Errorf("cannot write a certificate: %w", err)
	}
	return leaf, nil
}

// newLeaf creates a certificate that is valid for a year, but not longer than the CA certificate.
func (a *Authority) newLeaf(template *x509.Certificate) (*pair, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	now := a.options.Now()
	template.NotBefore, template.NotAfter = now.Add(-clockSkew), now.Add(leafLifetime)
	if end := a.ca.certificate.NotAfter; end.Before(template.NotAfter) {
		template.NotAfter = end
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.BasicConstraintsValid = true
	return sign(template, key, a.ca)
}

func (a *Authority) adminTemplate() *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: AdminUser, Organization: []string{MastersGroup}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

// openClientCAs sets the CA certificates that verify client certificates.
func (a *Authority) openClientCAs() error {
	if a.options.ClientCAFile == "" {
		return a.ReloadClientCAs(nil)
	}
	content, err := os.ReadFile(a.options.ClientCAFile)
	if err != nil {
		return fmt.Errorf("cannot read the client certificate authorities: %w", err)
	}
	return a.ReloadClientCAs(content)
}

// ReloadClientCAs replaces the CA certificates of Options.ClientCAFile by those of content. Connections whose client certificate is
// not verified by the new ones lose their authentication with the next request. The CA certificate of the authority stays. If content
// is not nil and contains no certificate, nothing is changed.
func (a *Authority) ReloadClientCAs(content []byte) error {
	pool := x509.NewCertPool()
	pool.AddCert(a.ca.certificate)
	if content != nil && !pool.AppendCertsFromPEM(content) {
		return fmt.Errorf("%s: the file must contain certificates as PEM (BEGIN CERTIFICATE)", a.options.ClientCAFile)
	}
	a.clientCAs.Store(&trust{roots: pool})
	return nil
}
