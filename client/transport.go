package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// transport is a RoundTripper that requests responses without managedFields, and removes managedFields from responses
// if the server sends them nevertheless.
type transport struct {
	next http.RoundTripper
	// removes reports whether the transport removes managedFields from the response to a request with the given context.
	removes func(context.Context) bool
}

// WrappedRoundTripper returns the wrapped transport, as client-go expects.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !Enabled() || !t.removes(r.Context()) || isProxied(r.URL.Path) {
		return t.next.RoundTrip(r)
	}
	r = r.Clone(r.Context()) // a RoundTripper must not modify its request
	r.Header.Set("Accept", withDrop(strings.Join(r.Header.Values("Accept"), ",")))
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return response, err
	}
	return stripResponse(response)
}

// stripResponse removes managedFields from a response. It does not modify responses with an error status, and responses
// in media types that are not in encodings.
func stripResponse(response *http.Response) (*http.Response, error) {
	media, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || response.StatusCode >= http.StatusBadRequest || response.StatusCode == http.StatusSwitchingProtocols {
		return response, nil
	}
	e, isStream := findEncoding(media)
	if e == nil {
		return response, nil
	}
	isStream = isStream || parameters["stream"] == "watch" || response.Request != nil && isWatch(response.Request.URL)
	if isStream && e.frames != nil {
		response.Body = &stream{body: response.Body, next: e.frames(response.Body)}
		return response, nil
	}
	body, err := readAll(response)
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		body, err = e.strip(body)
	}
	if err != nil {
		return nil, fmt.Errorf("client: removing managedFields from a response in %s: %w", media, err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	if response.Header.Get("Content-Length") != "" {
		response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return response, nil
}

// maxPreallocated is the maximum Content-Length, in bytes, for which readAll allocates the whole buffer before it reads.
const maxPreallocated = 64 << 20

// readAll reads the body of a response. If the Content-Length is known and at most maxPreallocated, it allocates the buffer
// only once.
func readAll(response *http.Response) ([]byte, error) {
	isHead := response.Request != nil && response.Request.Method == http.MethodHead // responses to HEAD have a Content-Length and no body
	if response.ContentLength <= 0 || response.ContentLength > maxPreallocated || isHead {
		return io.ReadAll(response.Body)
	}
	body := make([]byte, response.ContentLength)
	n, err := io.ReadFull(response.Body, body)
	return body[:n], err
}
