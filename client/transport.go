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

// transport asks for answers without managedFields, and takes them out of what comes all the same.
type transport struct {
	next    http.RoundTripper
	applies func(context.Context) bool
}

// WrappedRoundTripper is how client-go finds what is below.
func (t *transport) WrappedRoundTripper() http.RoundTripper { return t.next }

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !Enabled() || !t.applies(r.Context()) || isProxied(r.URL.Path) {
		return t.next.RoundTrip(r)
	}
	r = r.Clone(r.Context()) // a RoundTripper must not change its request
	r.Header.Set("Accept", withDrop(strings.Join(r.Header.Values("Accept"), ",")))
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return response, err
	}
	return stripped(response)
}

// A stripper takes managedFields out of an answer, or of the event of a watch. It returns the same bytes if there are none, and
// may change them.
type stripper func(answer []byte) ([]byte, error)

var strippers = map[string]stripper{
	"application/json":                    stripJSON,
	"application/yaml":                    stripYAML,
	"application/cbor":                    stripCBOR,
	"application/vnd.kubernetes.protobuf": stripProtobuf,
}

// stripped returns a response without managedFields. What is none of Kubernetes' media is left alone.
func stripped(response *http.Response) (*http.Response, error) {
	media, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || response.StatusCode >= http.StatusBadRequest || response.StatusCode == http.StatusSwitchingProtocols {
		return response, nil
	}
	if next := framesOf(media, parameters, response); next != nil {
		response.Body = &stream{body: response.Body, next: next}
		return response, nil
	}
	strip := strippers[media]
	if strip == nil {
		return response, nil
	}
	answer, err := readAll(response)
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		answer, err = strip(answer)
	}
	if err != nil {
		return nil, fmt.Errorf("client: leave managedFields out of an answer in %s: %w", media, err)
	}
	response.Body = io.NopCloser(bytes.NewReader(answer))
	response.ContentLength = int64(len(answer))
	if response.Header.Get("Content-Length") != "" {
		response.Header.Set("Content-Length", strconv.Itoa(len(answer)))
	}
	return response, nil
}

// mostAtOnce is how much memory is taken for a body because of its header alone.
const mostAtOnce = 64 << 20

// readAll reads a body, into memory of its size if that is known and can be believed.
func readAll(response *http.Response) ([]byte, error) {
	isHead := response.Request != nil && response.Request.Method == http.MethodHead // tells a length, and has no body
	if response.ContentLength <= 0 || response.ContentLength > mostAtOnce || isHead {
		return io.ReadAll(response.Body)
	}
	answer := make([]byte, response.ContentLength)
	n, err := io.ReadFull(response.Body, answer)
	return answer[:n], err
}
