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
	// CABundle contains the PEM certificates of the authorities that may sign the serving certificate; empty means the system's
	// root certificates.
	CABundle []byte
}

// Service is the Kubernetes Service of a webhook, with the path of the request.
type Service struct {
	Namespace, Name, Path string
	// Port is the port of the Service; 0 means 443.
	Port int32
}

// httpsPort is the port of a webhook's Service if the configuration does not set one.
const httpsPort = 443

// key returns a string that identifies the target. Calls to targets with the same key share connections.
func (t *Target) key() string {
	if t.Service == nil {
		return "url\x00" + t.URL + "\x00" + string(t.CABundle)
	}
	s := t.Service
	return fmt.Sprintf("service\x00%s\x00%s\x00%s\x00%d\x00%s", s.Namespace, s.Name, s.Path, s.Port, t.CABundle)
}

// address is the network address of a target.
type address struct {
	host string // HOST or HOST:PORT
	path string
	// serverName is the name that the serving certificate must contain; "" means the host of the URL.
	serverName string
	// isLoopback means that the connection does not leave the machine. All other connections use HTTP/1, so that a load balancer
	// can distribute the calls among several servers.
	isLoopback bool
}

// address returns the network address of the target, or an error if the target has neither a Service nor a valid https URL.
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
