package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

// Cluster is a client of a Kubernetes API server. It is safe for concurrent use.
type Cluster struct {
	url    string
	client *http.Client

	mu      sync.Mutex
	kinds   func(ctx context.Context) ([]Kind, error)
	openAPI map[string]openAPI // keyed by path

	warningMu sync.Mutex
	onWarning func(text string)
}

// SetWarningHandler sets the function that is called with the text of each API warning in a response. Calls are serialized.
func (c *Cluster) SetWarningHandler(f func(text string)) {
	c.warningMu.Lock()
	defer c.warningMu.Unlock()
	c.onWarning = f
}

// reportWarnings passes the API warnings (code 299) of a response to the handler. Malformed warnings are ignored.
func (c *Cluster) reportWarnings(header http.Header) {
	lines := header.Values("Warning")
	if len(lines) == 0 {
		return
	}
	found, _ := utilnet.ParseWarningHeaders(lines)
	c.warningMu.Lock()
	defer c.warningMu.Unlock()
	for _, w := range found {
		if c.onWarning != nil && w.Code == 299 && w.Text != "" {
			c.onWarning(w.Text)
		}
	}
}

// Open returns a client for a REST configuration. It sends no request.
func Open(config *rest.Config) (*Cluster, error) {
	config = rest.CopyConfig(config)
	if config.UserAgent == "" {
		config.UserAgent = "cadastre"
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	url, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	c := &Cluster{url: strings.TrimSuffix(url.String(), "/"), client: client, openAPI: map[string]openAPI{}}
	c.kinds = cacheSuccess(c.discover)
	return c, nil
}

// cacheSuccess returns a function that calls f until f succeeds once, and from then on returns the result of that call.
func cacheSuccess[T any](f func(context.Context) (T, error)) func(context.Context) (T, error) {
	var mu sync.Mutex
	var cached bool
	var value T
	return func(ctx context.Context) (T, error) {
		mu.Lock()
		defer mu.Unlock()
		if cached {
			return value, nil
		}
		v, err := f(ctx)
		if err == nil {
			value, cached = v, true
		}
		return v, err
	}
}

// request is an HTTP request to the API server.
type request struct {
	method, path string
	query        url.Values
	body         string
	// contentType is the media type of the body. accept is the requested media type of the response; "" means JSON.
	contentType, accept string
}

const jsonType = "application/json"

// maxAttempts is the maximum number of times that a request is sent while the server responds with 429.
const maxAttempts = 5

// send sends r and returns the body of the response. If the response has an error status, send returns it as an *Error.
// After 429 Too Many Requests, send waits for the delay in Retry-After and sends the request again; it sends a request at
// most maxAttempts times in total.
func (c *Cluster) send(ctx context.Context, r request) (string, error) {
	for try := 1; ; try++ {
		code, header, body, err := c.sendOnce(ctx, r)
		switch {
		case err != nil:
			return "", err
		case code < http.StatusBadRequest:
			return body, nil
		case code != http.StatusTooManyRequests || try == maxAttempts:
			return "", readError(r, code, body)
		}
		select {
		case <-time.After(retryDelay(header)):
		case <-ctx.Done():
			return "", &NoResponseError{Err: context.Cause(ctx)} // every attempt was rejected with 429
		}
	}
}

// retryDelay returns the delay in the header Retry-After. It returns one second if the header is absent, or if its delay is
// one minute or longer.
func retryDelay(header http.Header) time.Duration {
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds >= 0 && seconds < 60 {
		return time.Duration(seconds) * time.Second
	}
	return time.Second
}

func (c *Cluster) sendOnce(ctx context.Context, r request) (code int, header http.Header, body string, err error) {
	target := c.url + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, r.method, target, strings.NewReader(r.body))
	if err != nil {
		return 0, nil, "", err
	}
	if request.Header.Set("Accept", jsonType); r.accept != "" {
		request.Header.Set("Accept", r.accept)
	}
	if r.contentType != "" {
		request.Header.Set("Content-Type", r.contentType)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return 0, nil, "", cancellationOr(ctx, r, notSentError(r, fmt.Errorf("request to %s: %w", c.url, unwrapURL(err))))
	}
	defer func() { _ = response.Body.Close() }() // the body has been read, so a failed close has no effect
	var text strings.Builder
	if _, err = io.Copy(&text, response.Body); err != nil {
		return 0, nil, "", cancellationOr(ctx, r, noResponseError(r, fmt.Errorf("%s %s: the response ended early: %w", r.method, r.path, err)))
	}
	c.reportWarnings(response.Header)
	return response.StatusCode, response.Header, text.String(), nil
}
