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

	"github.com/cadastre/cadastre/internal/lib/tracing"
)

// userAgent is the User-Agent of kube-apiserver, which some webhooks check.
const userAgent = "kube-apiserver-admission"

// client is the HTTP client of one target.
type client struct {
	rest      *rest.RESTClient
	transport *http.Transport
}

func newClient(target *Target, content rest.ClientContentConfig, maxResponse int64) (*client, error) {
	to, err := target.address()
	if err != nil {
		return nil, err
	}
	tlsConfig, err := to.tlsConfig(target.CABundle)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        tlsConfig,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxIdleConnsPerHost:    25,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      to.isLoopback,
	}
	httpClient := &http.Client{Transport: limitedTransport{transport, maxResponse}, CheckRedirect: noRedirect}
	restClient, err := rest.NewRESTClient(&url.URL{Scheme: "https", Host: to.host}, to.path, content, nil, httpClient)
	if err != nil {
		return nil, err
	}
	return &client{rest: restClient, transport: transport}, nil
}

// close closes the idle connections of the client.
func (c *client) close() { c.transport.CloseIdleConnections() }

// tlsConfig returns the TLS configuration that verifies the serving certificate of the webhook with the given CA bundle.
func (a address) tlsConfig(bundle []byte) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: a.serverName}
	if !a.isLoopback {
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

// noRedirect makes the client return redirects instead of following them.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// limitedTransport is an http.RoundTripper that limits the size of response bodies to max bytes and sets the User-Agent.
type limitedTransport struct {
	next http.RoundTripper
	max  int64
}

// RoundTrip implements http.RoundTripper.
func (l limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", userAgent)
	tracing.Inject(r.Context(), r.Header)
	response, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &limitedBody{ReadCloser: response.Body, remaining: l.max, max: l.max}
	return response, nil
}

// limitedBody is a response body whose Read returns errTooLarge if the body has more than max bytes.
type limitedBody struct {
	io.ReadCloser
	remaining, max int64
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.remaining+1 {
		p = p[:b.remaining+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.remaining -= int64(n); b.remaining < 0 {
		return n, fmt.Errorf("%w: limit is %d bytes", errTooLarge, b.max)
	}
	return n, err
}
