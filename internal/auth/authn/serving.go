package authn

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// usualHosts are what clients on the same machine, and in clusters, call the server.
var usualHosts = []string{"localhost", "127.0.0.1", "::1", "kubernetes", "kubernetes.default", "kubernetes.default.svc"}

// retryRenewal is how long a server waits before it tries again to renew its certificate.
const retryRenewal = time.Hour

// serving is the certificate that the server shows, which is renewed while it runs.
type serving struct {
	a       *Authority
	current atomic.Pointer[tls.Certificate]
	given   []byte // the user's own certificate, as PEM; nil if it is ours

	mu   sync.Mutex // held to renew
	next time.Time  // not before this
}

func (a *Authority) openServing() (*serving, error) {
	s := &serving{a: a}
	if a.options.CertFile != "" || a.options.KeyFile != "" {
		return s, s.load(a.options.CertFile, a.options.KeyFile)
	}
	leaf, err := a.openLeaf(servingFile, a.servingTemplate, a.hasHosts)
	if err != nil {
		return nil, err
	}
	s.current.Store(leaf.tls())
	return s, nil
}

// load takes the certificate that a user gave.
func (s *serving) load(certFile, keyFile string) error {
	if certFile == "" || keyFile == "" {
		return fmt.Errorf("expected a certificate and the key to it, received only one: certificate file %q, key file %q", certFile, keyFile)
	}
	given, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return fmt.Errorf("cannot use the certificate %s with the key %s: %w", certFile, keyFile, err)
	}
	if s.given, err = os.ReadFile(certFile); err != nil {
		return err
	}
	s.current.Store(&given)
	return nil
}

// certificate returns what the server shows now.
func (s *serving) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	current := s.current.Load()
	if s.given == nil && s.isOld(current) {
		s.renew()
		current = s.current.Load()
	}
	return current, nil
}

func (s *serving) isOld(c *tls.Certificate) bool {
	whole := c.Leaf.NotAfter.Sub(c.Leaf.NotBefore)
	return c.Leaf.NotAfter.Sub(s.a.options.Now()) <= whole/3
}

// renew replaces the certificate. If that fails the old one goes on, and it is tried again later.
// The others who ask meanwhile go on, too: the old certificate is good for months.
func (s *serving) renew() {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	now := s.a.options.Now()
	if now.Before(s.next) || !s.isOld(s.current.Load()) {
		return
	}
	s.next = now.Add(retryRenewal)
	if leaf, err := s.a.openLeaf(servingFile, s.a.servingTemplate, s.a.hasHosts); err == nil {
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

// hasHosts reports whether a certificate is for the names and addresses that there are now.
func (a *Authority) hasHosts(c *x509.Certificate) bool {
	names, addresses := a.hosts()
	return slices.Equal(names, c.DNSNames) && slices.EqualFunc(addresses, c.IPAddresses, net.IP.Equal)
}

// hosts returns what clients call the server, sorted and each once.
func (a *Authority) hosts() (names []string, addresses []net.IP) {
	for _, host := range slices.Concat(usualHosts, a.options.Hosts) {
		switch address := net.ParseIP(host); {
		case host == "":
		case address == nil:
			names = append(names, host)
		case address.IsUnspecified():
			names, addresses = appendMachine(names, addresses)
		default:
			addresses = append(addresses, address)
		}
	}
	slices.Sort(names)
	slices.SortFunc(addresses, func(a, b net.IP) int { return slices.Compare(a.To16(), b.To16()) })
	return slices.Compact(names), slices.CompactFunc(addresses, net.IP.Equal)
}

// appendMachine adds what this machine is called. What can't be found out is left out: clients
// then have to use another name.
func appendMachine(names []string, addresses []net.IP) ([]string, []net.IP) {
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

// TLS returns how the server talks. Clients are asked for a certificate, which is verified when
// they send a request: so one that is not good gets an answer that says so, and not a broken
// connection.
func (a *Authority) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		ClientAuth:     tls.RequestClientCert,
		ClientCAs:      a.clientCAs,
		GetCertificate: a.serving.certificate,
	}
}
