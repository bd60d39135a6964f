package serverbench

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
)

// A Client has one connection, HTTP/2 over TLS, and does one thing at a time, but for watches.
type Client struct {
	server *Server
	http   *http.Client
	answer bytes.Buffer // of the last request
}

// NewClient returns a client with a connection of its own. Answers are not compressed: what is compared is
// the servers, not gzip.
func (s *Server) NewClient() *Client {
	return &Client{server: s, http: &http.Client{Transport: &http.Transport{
		TLSClientConfig:    s.tls.Clone(),
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
	}}}
}

// Close gives the connection up.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A Request is what a client sends.
type Request struct {
	Method, Path string // with the query
	ContentType  string // of the body
	Body         []byte
	Accept       string // JSON, if it is empty
}

func write(method, path, contentType string, body []byte) Request {
	return Request{Method: method, Path: path, ContentType: contentType, Body: body}
}

// Do sends a request and returns the answer, which is good until the next. All but a success is an error.
func (c *Client) Do(ctx context.Context, r Request) ([]byte, error) {
	response, err := c.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	c.answer.Reset()
	if _, err := c.answer.ReadFrom(response.Body); err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
	}
	return c.answer.Bytes(), nil
}

// send returns a success, or an error with the beginning of the answer.
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
		return nil, &StatusError{Request: r.Method + " " + r.Path, Code: response.StatusCode, Answer: string(start)}
	}
	return response, nil
}

// A StatusError is an answer that is no success.
type StatusError struct {
	Request string
	Code    int
	Answer  string // the beginning of it
}

// Error implements error.
func (e *StatusError) Error() string { return fmt.Sprintf("%s: %d: %s", e.Request, e.Code, e.Answer) }
