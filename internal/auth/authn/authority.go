package authn

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Options say where an authority is kept, and what the server shows and accepts. The zero value
// is an authority in memory.
type Options struct {
	// Folder is where certificates and keys are kept; "" keeps them in memory only. The
	// caller sees to it that no other process uses the folder.
	Folder string
	// Hosts are names and addresses that clients reach the server by, beside those that all
	// servers have. An address that stands for all of the machine's means each of them.
	Hosts []string
	// CertFile and KeyFile are what the server shows instead of a certificate of its own.
	CertFile, KeyFile string
	// ClientCAFile has certificates that client certificates may be signed by, beside our own.
	ClientCAFile string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 365 * 24 * time.Hour
	// skew is how far the clocks of clients may be behind.
	skew = 5 * time.Minute

	caCertFile  = "ca.crt"
	caKeyFile   = "ca.key"
	servingFile = "server.pem"
	adminFile   = "admin.pem"

	// AdminUser is whom the administrator's certificate is for. The group says what it may.
	AdminUser = "cadastre-admin"
)

// Authority makes the certificates by which a server and its clients know each other.
type Authority struct {
	options   Options
	ca        *pair
	admin     *pair
	serving   *serving
	clientCAs *x509.CertPool
}

// Open loads an authority, and makes what is missing or about to expire.
func Open(options Options) (*Authority, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	a := &Authority{options: options}
	if options.Folder != "" {
		if err := os.MkdirAll(options.Folder, folderMode); err != nil {
			return nil, fmt.Errorf("cannot make the folder for certificates: %w", err)
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
	a.clientCAs, err = a.openClientCAs()
	return a, err
}

// CA returns the certificate that all others are signed by, as PEM.
func (a *Authority) CA() []byte { return a.ca.certPEM }

// Admin returns the administrator's certificate and key, as PEM.
func (a *Authority) Admin() (cert, key []byte) { return a.admin.certPEM, a.admin.keyPEM }

func (a *Authority) path(name string) string { return filepath.Join(a.options.Folder, name) }

// openCA reads the authority's own pair. The key is written first: if there is a key only, the
// certificate got lost and can be made again.
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
		return nil, fmt.Errorf("%s: missing, though there is %s: restore it, or delete %[2]s as well, and a new authority is made that clients have to be told of (by a new kubeconfig)",
			a.path(caKeyFile), a.path(caCertFile))
	}
	ca, err := parsePair(cert, key)
	if err != nil {
		return nil, a.damaged(err, caCertFile, caKeyFile)
	}
	return ca, a.checkCA(ca)
}

func (a *Authority) checkCA(ca *pair) error {
	switch now := a.options.Now(); {
	case !ca.certificate.IsCA:
		return fmt.Errorf("%s: expected the certificate of an authority, received one that may not sign others: restore it, or delete it and %s", a.path(caCertFile), a.path(caKeyFile))
	case now.After(ca.certificate.NotAfter):
		return fmt.Errorf("%s: expired at %s: delete it and start again, and give clients the new kubeconfig", a.path(caCertFile), ca.certificate.NotAfter.Format(time.RFC3339))
	}
	return nil
}

// damaged says that files are not what they were when they were written.
func (a *Authority) damaged(err error, names ...string) error {
	what := "delete it, and it is made anew at the next start"
	if len(names) > 1 {
		what = "restore both, or delete both, and a new authority is made that clients have to be told of (by a new kubeconfig)"
		return fmt.Errorf("%s and %s: damaged, or not a pair: %w: %s", a.path(names[0]), a.path(names[1]), err, what)
	}
	return fmt.Errorf("%s: damaged: %w: %s", a.path(names[0]), err, what)
}

// newCA makes an authority, with a key that is there already or a new one.
func (a *Authority) newCA(keyPEM []byte) (*pair, error) {
	key, err := newKey()
	if keyPEM != nil {
		key, err = parseKey(keyPEM)
	}
	if err != nil {
		return nil, a.damaged(err, caKeyFile)
	}
	now := a.options.Now()
	ca, err := sign(&x509.Certificate{
		Subject:   pkix.Name{CommonName: "cadastre-ca"},
		NotBefore: now.Add(-skew), NotAfter: now.Add(authorityLife),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IsCA:     true, BasicConstraintsValid: true,
	}, key, nil)
	if err != nil || a.options.Folder == "" {
		return ca, err
	}
	if keyPEM == nil {
		if err := writeFile(a.path(caKeyFile), ca.keyPEM); err != nil {
			return nil, fmt.Errorf("cannot keep the key of the certificate authority: %w", err)
		}
	}
	if err := writeFile(a.path(caCertFile), ca.certPEM); err != nil {
		return nil, fmt.Errorf("cannot keep the certificate authority: %w", err)
	}
	return ca, nil
}

// openLeaf reads a pair that the authority signed. If it is missing, about to expire or does not
// fit any more, a new one is made by the template.
func (a *Authority) openLeaf(name string, template func() *x509.Certificate, fits func(*x509.Certificate) bool) (*pair, error) {
	if a.options.Folder == "" {
		return a.newLeaf(template())
	}
	both, err := readFile(a.path(name))
	if err != nil {
		return nil, fmt.Errorf("cannot read a certificate: %w", err)
	}
	if both != nil {
		leaf, err := splitPair(both)
		if err != nil {
			return nil, a.damaged(err, name)
		}
		if leaf.isFromAndFresh(a.ca, a.options.Now()) && (fits == nil || fits(leaf.certificate)) {
			return leaf, nil
		}
	}
	leaf, err := a.newLeaf(template())
	if err != nil {
		return nil, err
	}
	if err := writeFile(a.path(name), leaf.joined()); err != nil {
		return nil, fmt.Errorf("cannot keep a certificate: %w", err)
	}
	return leaf, nil
}

// newLeaf makes a pair that lives for a year, but not longer than the authority.
func (a *Authority) newLeaf(template *x509.Certificate) (*pair, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	now := a.options.Now()
	template.NotBefore, template.NotAfter = now.Add(-skew), now.Add(leafLife)
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

// openClientCAs returns whom client certificates may be signed by.
func (a *Authority) openClientCAs() (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	pool.AddCert(a.ca.certificate)
	if a.options.ClientCAFile == "" {
		return pool, nil
	}
	content, err := os.ReadFile(a.options.ClientCAFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificates that clients are signed by: %w", err)
	}
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("%s: expected certificates as PEM (BEGIN CERTIFICATE), received none", a.options.ClientCAFile)
	}
	return pool, nil
}
