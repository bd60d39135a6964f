package serverbench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
)

// Client is an HTTP/2 client with one TLS connection. It is not safe for concurrent use.
type Client struct {
	server *Server
	http   *http.Client
	body   bytes.Buffer // the body of the last response
}

// NewClient returns a client with a separate connection. It requests uncompressed responses, so that gzip is not
// measured.
func (s *Server) NewClient() *Client {
	return &Client{server: s, http: &http.Client{Transport: &http.Transport{
		TLSClientConfig:    s.tls.Clone(),
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
	}}}
}

// Close closes the connection.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is an HTTP request to a server.
type Request struct {
	Method, Path string // Path includes the query
	ContentType  string // media type of Body
	Body         []byte
	Accept       string // accepted media types; "" means JSON
}

func write(method, path, contentType string, body []byte) Request {
	return Request{Method: method, Path: path, ContentType: contentType, Body: body}
}

// Do sends a request and returns the body of the response, which is valid until the next call. A status other than
// 2xx is a *StatusError.
func (c *Client) Do(ctx context.Context, r Request) ([]byte, error) {
	response, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	c.body.Reset()
	if _, err := c.body.ReadFrom(response.Body); err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	return c.body.Bytes(), nil
}

// send sends a request. A status other than 2xx is a *StatusError with the start of the body.
func (c *Client) send(ctx context.Context, r Request) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, c.server.URL+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", cmp.Or(r.Accept, jsonType))
	if r.ContentType != "" {
		request.Header.Set("Content-Type", r.ContentType)
	}
	if c.server.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.server.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		defer response.Body.Close()
		const enough = 500
		start, _ := io.ReadAll(io.LimitReader(response.Body, enough))
		return nil, &StatusError{Request: r.Method + " " + r.Path, Code: response.StatusCode, Body: string(start)}
	}
	return response, nil
}

// StatusError is a response with a status other than 2xx.
type StatusError struct {
	Request string
	Code    int
	Body    string // the start of the body
}

// Error implements error.
func (e *StatusError) Error() string { return fmt.Sprintf("%s: %d: %s", e.Request, e.Code, e.Body) }
