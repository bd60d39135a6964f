package webhookclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
)

// userAgent is whom webhooks know as the caller in Kubernetes. Some look for it.
const userAgent = "kube-apiserver-admission"

// A client calls one target.
type client struct {
	rest      *rest.RESTClient
	transport *http.Transport
}

func newClient(target *Target, content rest.ClientContentConfig, maxAnswer int64) (*client, error) {
	place, err := target.place()
	if err != nil {
		return nil, err
	}
	security, err := place.tls(target.CABundle)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        security,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    25,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      place.isNear,
	}
	asks := &http.Client{Transport: limited{transport, maxAnswer}, CheckRedirect: stay}
	made, err := rest.NewRESTClient(&url.URL{Scheme: "https", Host: place.host}, place.path, content, nil, asks)
	if err != nil {
		return nil, err
	}
	return &client{rest: made, transport: transport}, nil
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// tls is whom the place must prove to be.
func (p place) tls(bundle []byte) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: p.serverName}
	if !p.isNear {
		config.NextProtos = []string{"http/1.1"}
	}
	if len(bundle) == 0 {
		return config, nil
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(bundle) {
		return nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
	}
	return config, nil
}

// stay has an answer that names another place be the answer.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// limited reads no more of an answer than is wanted.
type limited struct {
	next http.RoundTripper
	max  int64
}

// RoundTrip implements http.RoundTripper.
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", userAgent)
	answer, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = &limitedBody{ReadCloser: answer.Body, left: l.max, max: l.max}
	return answer, nil
}

type limitedBody struct {
	io.ReadCloser
	left, max int64
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, fmt.Errorf("%w: limit is %d bytes", errTooLarge, b.max)
	}
	return n, err
}
