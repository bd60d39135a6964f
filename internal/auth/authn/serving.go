package authn

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// defaultHosts are the names and addresses under which clients reach the server on its own machine and in a cluster.
var defaultHosts = []string{"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}

// renewalRetry is the minimum time between two attempts to renew the serving certificate.
const renewalRetry = time.Hour

// serving is the serving certificate, which is renewed while the server runs. It is safe for concurrent use.
type serving struct {
	a       *Authority
	current atomic.Pointer[tls.Certificate]
	// configured is the certificate of Options.CertFile, as PEM; nil if the authority has signed the serving certificate.
	configured atomic.Pointer[[]byte]

	mu   sync.Mutex // mu is held during a renewal
	next time.Time  // next is the earliest time of the next renewal attempt; guarded by mu
}

func (a *Authority) openServing() (*serving, error) {
	s := &serving{a: a}
	if a.options.CertFile != "" || a.options.KeyFile != "" {
		return s, s.load(a.options.CertFile, a.options.KeyFile)
	}
	leaf, err := a.openLeaf(servingFile, a.servingTemplate, a.coversHosts)
	if err != nil {
		return nil, err
	}
	s.current.Store(leaf.tls())
	return s, nil
}

// load loads the serving certificate of Options.CertFile and its key.
func (s *serving) load(certFile, keyFile string) error {
	if certFile == "" || keyFile == "" {
		return fmt.Errorf("expected a certificate file and a key file, received certificate file %q and key file %q; set both or none", certFile, keyFile)
	}
	cert, certErr := os.ReadFile(certFile)
	key, keyErr := os.ReadFile(keyFile)
	if err := errors.Join(certErr, keyErr); err != nil {
		return fmt.Errorf("cannot use the certificate %s with the key %s: %w", certFile, keyFile, err)
	}
	return s.a.reloadServing(s, cert, key)
}

// ReloadServing replaces the serving certificate of Options.CertFile and its key, for connections from now on. If they do not belong
// together, nothing is changed.
func (a *Authority) ReloadServing(cert, key []byte) error {
	return a.reloadServing(a.serving, cert, key)
}

func (a *Authority) reloadServing(s *serving, cert, key []byte) error {
	configured, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("cannot use the certificate %s with the key %s: %w", a.options.CertFile, a.options.KeyFile, err)
	}
	s.configured.Store(&cert)
	s.current.Store(&configured)
	return nil
}

// certificate returns the current serving certificate, after renewing it if necessary. It is the tls.Config.GetCertificate
// of the server.
func (s *serving) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	current := s.current.Load()
	if s.configured.Load() == nil && s.needsRenewal(current) {
		s.renew()
		current = s.current.Load()
	}
	return current, nil
}

func (s *serving) needsRenewal(c *tls.Certificate) bool {
	whole := c.Leaf.NotAfter.Sub(c.Leaf.NotBefore)
	return c.Leaf.NotAfter.Sub(s.a.options.Now()) <= whole/3
}

// renew replaces the serving certificate. If the renewal fails, the old certificate remains in use, and the renewal is
// retried after renewalRetry. Handshakes during the renewal use the old certificate, which is valid for months.
func (s *serving) renew() {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	now := s.a.options.Now()
	if now.Before(s.next) || !s.needsRenewal(s.current.Load()) {
		return
	}
	s.next = now.Add(renewalRetry)
	if leaf, err := s.a.openLeaf(servingFile, s.a.servingTemplate, s.a.coversHosts); err == nil {
		s.current.Store(leaf.tls())
	}
}

func (a *Authority) servingTemplate() *x509.Certificate {
	names, addresses := a.hosts()
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: "cadastre"},
		DNSNames:    names,
		IPAddresses: addresses,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
}

// coversHosts reports whether a certificate contains exactly the current names and addresses of the server.
func (a *Authority) coversHosts(c *x509.Certificate) bool {
	names, addresses := a.hosts()
	return slices.Equal(names, c.DNSNames) && slices.EqualFunc(addresses, c.IPAddresses, net.IP.Equal)
}

// hosts returns the DNS names and IP addresses for the serving certificate, sorted and without duplicates.
func (a *Authority) hosts() (names []string, addresses []net.IP) {
	for _, host := range slices.Concat(defaultHosts, a.options.Hosts) {
		switch address := net.ParseIP(host); {
		case host == "":
		case address == nil:
			names = append(names, host)
		case address.IsUnspecified():
			names, addresses = appendLocalHosts(names, addresses)
		default:
			addresses = append(addresses, address)
		}
	}
	slices.Sort(names)
	slices.SortFunc(addresses, func(a, b net.IP) int { return slices.Compare(a.To16(), b.To16()) })
	return slices.Compact(names), slices.CompactFunc(addresses, net.IP.Equal)
}

// appendLocalHosts appends the host name of this machine to names, and its IP addresses to addresses. It omits the name or the
// addresses if the operating system does not report them.
func appendLocalHosts(names []string, addresses []net.IP) ([]string, []net.IP) {
	if name, err := os.Hostname(); err == nil && name != "" {
		names = append(names, name)
	}
	found, err := net.InterfaceAddrs()
	if err != nil {
		return names, addresses
	}
	for _, f := range found {
		if network, ok := f.(*net.IPNet); ok {
			addresses = append(addresses, network.IP)
		}
	}
	return names, addresses
}

// TLS returns the TLS configuration of the server. Client certificates are requested during the handshake and verified when a
// request is authenticated, so that an invalid certificate results in a 401 instead of a failed handshake.
//
// Clients that have several certificates choose one by the CA certificates that the server sends, which are those of the last reload.
func (a *Authority) TLS() *tls.Config {
	config := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		ClientAuth:     tls.RequestClientCert,
		ClientCAs:      a.clientCAs.Load().roots,
		GetCertificate: a.serving.certificate,
	}
	var current atomic.Pointer[tls.Config] // keeps session tickets of connections valid while the CA certificates are the same
	current.Store(config)
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		roots, now := a.clientCAs.Load().roots, current.Load()
		if now.ClientCAs == roots {
			return now, nil
		}
		changed := now.Clone()
		changed.ClientCAs, changed.GetConfigForClient = roots, nil
		current.Store(changed)
		return changed, nil
	}
	return config
}
