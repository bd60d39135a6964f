package webhookclient

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Target is the address of a webhook: a URL or a Service.
type Target struct {
	URL     string
	Service *Service
	// CABundle has the PEM certificates of the authorities that may sign the serving certificate; empty means those of the system.
	CABundle []byte
}

// Service is the address of a webhook in a cluster.
type Service struct {
	Namespace, Name, Path string
	// Port 0 means 443.
	Port int32
}

// httpsPort is the default port of webhooks.
const httpsPort = 443

// key returns the identity of a target. Targets with the same key share connections.
func (t *Target) key() string {
	if t.Service == nil {
		return "url\x00" + t.URL + "\x00" + string(t.CABundle)
	}
	s := t.Service
	return fmt.Sprintf("service\x00%s\x00%s\x00%s\x00%d\x00%s", s.Namespace, s.Name, s.Path, s.Port, t.CABundle)
}

// address is the resolved address of a target.
type address struct {
	host string // HOST or HOST:PORT
	path string
	// serverName is the name in the serving certificate; "" means the host.
	serverName string
	// isLoopback reports whether the connection does not leave the machine. Other connections use HTTP/1, so that a load balancer
	// can distribute calls among several servers.
	isLoopback bool
}

// address returns the address of the target.
func (t *Target) address() (address, error) {
	if s := t.Service; s != nil {
		name := s.Name + "." + s.Namespace + ".svc"
		port := s.Port
		if port == 0 {
			port = httpsPort
		}
		return address{host: net.JoinHostPort(name, strconv.Itoa(int(port))), path: s.Path, serverName: name}, nil
	}
	if t.URL == "" {
		return address{}, errors.New("webhook configuration must have either service or URL")
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		//lint:ignore ST1005 as Kubernetes writes it
		return address{}, fmt.Errorf("Unparsable URL: %w", err)
	}
	if u.Scheme != "https" {
		return address{}, fmt.Errorf("expected a URL that begins with https://, received %q", t.URL)
	}
	return address{host: u.Host, path: u.Path, isLoopback: isLoopbackHost(u.Hostname())}, nil
}

// isLoopbackHost reports whether a host is localhost or a loopback address.
func isLoopbackHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
