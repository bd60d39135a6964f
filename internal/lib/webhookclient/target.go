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

// A Target is where a webhook is: a URL, or a Service.
type Target struct {
	URL     string
	Service *Service
	// CABundle is whose certificates the webhook may show, as PEM; empty means those that this machine trusts.
	CABundle []byte
}

// A Service is how a target names a webhook in a cluster.
type Service struct {
	Namespace, Name, Path string
	// Port 0 means 443.
	Port int32
}

// httpsPort is where webhooks are if nobody says so.
const httpsPort = 443

// key tells targets apart. Of two that have the same one, either can be called with the other's connections.
func (t *Target) key() string {
	if t.Service == nil {
		return "url\x00" + t.URL + "\x00" + string(t.CABundle)
	}
	s := t.Service
	return fmt.Sprintf("service\x00%s\x00%s\x00%s\x00%d\x00%s", s.Namespace, s.Name, s.Path, s.Port, t.CABundle)
}

// A place is where a target is found.
type place struct {
	host string // with the port, if there is one to say
	path string
	// serverName is what the certificate must be for; "" means the host.
	serverName string
	// isNear says that the connection does not leave the machine. Others use HTTP/1, so that a proxy between shares
	// calls among many servers.
	isNear bool
}

func (t *Target) place() (place, error) {
	if s := t.Service; s != nil {
		name := s.Name + "." + s.Namespace + ".svc"
		port := s.Port
		if port == 0 {
			port = httpsPort
		}
		return place{host: net.JoinHostPort(name, strconv.Itoa(int(port))), path: s.Path, serverName: name}, nil
	}
	if t.URL == "" {
		return place{}, errors.New("webhook configuration must have either service or URL")
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		//lint:ignore ST1005 as Kubernetes writes it
		return place{}, fmt.Errorf("Unparsable URL: %w", err)
	}
	if u.Scheme != "https" {
		return place{}, fmt.Errorf("expected a URL that begins with https://, received %q", t.URL)
	}
	return place{host: u.Host, path: u.Path, isNear: isLoopback(u.Hostname())}, nil
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
